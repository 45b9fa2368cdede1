"""The gradient of any objective by pairs of rows, as the boosting engine wants it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.lambdas import pair_lambdas, sampled_lambdas, top_first
from shortlist.objectives import Goal

#: Up to this many pairs are cheaper to visit than to choose from.
FEW_PAIRS = 2_000_000
#: When no swap can change the objective the hessian is exactly zero, and a leaf value would divide by it.
HESSIAN_FLOOR = 1e-6


class PairGradient:
    """Margins -> (gradient, hessian) of a goal, summed over pairs of rows (lambdas).

    Tied rows are ordered at random, anew in each call: were they averaged, the first round, where all rows tie,
    would have no gradient at all. With a cut-off k only pairs with a row in the top k count: O(k n). Without
    one all pairs count, and beyond FEW_PAIRS a top-heavy sample of them is drawn: O(pairs_per_row n).
    """

    def __init__(
        self, goal: Goal, sample_weight: NDArray | None, *, pairs_per_row: int, rng: np.random.Generator
    ) -> None:
        self.goal = goal
        self.rng = rng
        self.pairs_per_row = pairs_per_row
        n_rows, longest = goal.lists.n_rows, int(goal.lists.sizes.max())
        self.root_weight = np.ones(n_rows) if sample_weight is None else np.sqrt(sample_weight)
        self.depth = min(goal.objective.cutoff or longest, longest)
        self.samples = goal.objective.cutoff is None and self._count_pairs() > max(
            FEW_PAIRS, pairs_per_row * n_rows
        )

    def __call__(self, margin: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The gradient in the engine's sign: against the direction that helps."""
        ranked = self._ranked(margin)
        grad, hess = np.zeros(margin.size), np.zeros(margin.size)
        grad[ranked], hess[ranked] = self._by_rank(ranked, margin[ranked].astype(np.float64))
        return _for_engine(grad, hess)

    def _ranked(self, margin: NDArray) -> NDArray[np.int64]:
        lists = self.goal.lists
        if self.goal.objective.cutoff is None:
            shuffled = self.rng.permutation(margin.size)
            ranked = shuffled[np.argsort(-margin[shuffled], kind="stable")]
            return ranked if len(lists) == 1 else ranked[np.argsort(lists.of_row[ranked], kind="stable")]
        return top_first(margin, self.rng.random(margin.size), lists.order, lists.starts, self.depth)

    def _by_rank(self, ranked: NDArray, score: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        gain = self.goal.gains[ranked]
        upper, lower = self.goal.swap_bounds(gain)
        lists = score, gain, upper, lower, self.root_weight[ranked], self.goal.lists.starts, self.goal.scale
        if self.samples:
            return sampled_lambdas(*lists, self.pairs_per_row, self.rng.random(score.size))
        return pair_lambdas(*lists, self.depth)

    def _count_pairs(self) -> int:
        """Pairs of rows that are worth different amounts, at most: two rows of least worth form none."""
        lists = self.goal.lists
        by_list = self.goal.gains[lists.order]
        least = np.minimum.reduceat(by_list, lists.starts[:-1])
        worth_more = np.add.reduceat(by_list > np.repeat(least, lists.sizes), lists.starts[:-1])
        return int(worth_more @ lists.sizes)


def _for_engine(grad: NDArray, hess: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Both divided by the mean hessian of the rows that have one.

    Lambdas carry 1 / ideal and span orders of magnitude, so without this the engine's regularisation would
    decide the model. One number divides all lists: dividing each by its own would undo their weights.
    """
    active = hess > 0
    mean = hess[active].mean() if active.any() else 1.0
    return (grad / mean).astype(np.float32), np.maximum(hess / mean, HESSIAN_FLOOR).astype(np.float32)
