"""The gradient of any objective by pairs of rows, as the boosting engine wants it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.lambdas import pair_lambdas, sampled_lambdas, top_first
from shortlist.kernels.machines import ALONE, Sums
from shortlist.kernels.whole_sums import add_whole
from shortlist.objectives import Goal
from shortlist.rankers.boosting.trees.draws import Draw

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

    def __init__(self, goal: Goal, sample_weight: NDArray | None, *, pairs_per_row: int, seed: int) -> None:
        self.goal = goal
        self.draw, self.round = Draw(seed=seed, keys=goal.lists.row_keys), 0
        self.pairs_per_row = pairs_per_row
        n_rows, longest = goal.lists.n_rows, int(goal.lists.sizes.max(initial=0))
        self.root_weight = np.ones(n_rows) if sample_weight is None else np.sqrt(sample_weight)
        self.depth = min(goal.objective.cutoff or longest, longest)
        n_pairs, n_rows = goal.lists.sums.sum(np.array([self._count_pairs(), n_rows], dtype=np.float64))
        self.samples = goal.objective.cutoff is None and n_pairs > max(FEW_PAIRS, pairs_per_row * n_rows)

    def __call__(self, margin: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The gradient in the engine's sign: against the direction that helps."""
        lot = self.draw.lot(margin.size, self.round)
        self.round += 1
        grad, hess = np.zeros(margin.size), np.zeros(margin.size)
        if margin.size:
            ranked = self._ranked(margin, lot)
            grad[ranked], hess[ranked] = self._by_rank(ranked, margin[ranked].astype(np.float64), lot)
        return _for_engine(grad, hess, self.goal.lists.sums)

    def _ranked(self, margin: NDArray, lot: NDArray[np.uint64]) -> NDArray[np.int64]:
        lists = self.goal.lists
        if self.goal.objective.cutoff is None:
            ranked = np.argsort(_falling(margin, lot))
            return ranked if len(lists) == 1 else ranked[np.argsort(lists.of_row[ranked], kind="stable")]
        return top_first(margin, lot * 2.0**-64, lists.order, lists.starts, self.depth)

    def _by_rank(
        self, ranked: NDArray, score: NDArray, lot: NDArray[np.uint64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        gain = self.goal.gains[ranked]
        upper, lower = self.goal.swap_bounds(gain)
        lists = score, gain, upper, lower, self.root_weight[ranked], self.goal.lists.starts, self.goal.scale
        if self.samples:
            # Ties used the lower half of the bits.
            return sampled_lambdas(*lists, self.pairs_per_row, (lot[ranked] >> np.uint64(32)) * 2.0**-32)
        return pair_lambdas(*lists, self.depth)

    def _count_pairs(self) -> int:
        """Pairs of rows that are worth different amounts, at most: two rows of least worth form none."""
        lists = self.goal.lists
        if not len(lists):
            return 0
        by_list = self.goal.gains[lists.order]
        least = np.minimum.reduceat(by_list, lists.starts[:-1])
        worth_more = np.add.reduceat(by_list > np.repeat(least, lists.sizes), lists.starts[:-1])
        return int(worth_more @ lists.sizes)


def _falling(margin: NDArray, lot: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that rise as margins fall, ties by lot: the bits of the float, turned, above those of the lot."""
    bits = (margin.astype(np.float32) + np.float32(0)).view(np.uint32)  # + 0 makes one zero of two
    rising = np.where(bits >> np.uint32(31), ~bits, bits | np.uint32(1 << 31))
    return (~rising).astype(np.uint64) << np.uint64(32) | lot & np.uint64(0xFFFFFFFF)


def _for_engine(
    grad: NDArray, hess: NDArray, sums: Sums = ALONE
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Both divided by the mean hessian of the rows that have one.

    Lambdas carry 1 / ideal and span orders of magnitude, so without this the engine's regularisation would
    decide the model. One number divides all lists: dividing each by its own would undo their weights.
    """
    mean = _mean_of_positive(hess, sums)
    return (grad / mean).astype(np.float32), np.maximum(hess / mean, HESSIAN_FLOOR).astype(np.float32)


def _mean_of_positive(hess: NDArray[np.float64], sums: Sums) -> float:
    """The mean of what is above 0, from whole steps: the same however rows are spread; 1 where nothing is."""
    active = np.count_nonzero(hess > 0)
    top, n = (
        float(sums.max(np.array([hess.max(initial=0.0)]))[0]),
        float(sums.sum(np.array([float(active)]))[0]),
    )
    if n == 0:
        return 1.0
    steps = 2.0 ** (52 - np.ceil(np.log2(top * n)))  # the finest on which the sum is exact
    return float(sums.sum(np.array([add_whole(hess, steps)]))[0]) / steps / n
