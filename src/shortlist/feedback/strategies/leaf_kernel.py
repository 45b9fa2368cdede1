"""How alike two rows are in a score space, and scores that are sums of such likenesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from shortlist.feedback.rows.all_rows import AllRows
from shortlist.feedback.rows.part import Blend
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_weights import LeafScores


class Prior:
    """The ensemble's score, 0 at its median and 1 at its largest over the rows the space was made with."""

    def __init__(self, space: ScoreSpace, rows: AllRows) -> None:
        self._space = space
        self.middle, top = rows.middle_and_top()
        self.slope = 1 / (top - self.middle or 1.0)

    def of(self, row: int) -> float:
        """The prior of one row."""
        return (self._space.own_score(row) - self.middle) * self.slope

    def blend(self, unit: float, weight: float) -> Blend:
        """What makes scores of sums in a unit: the prior with a weight is added."""
        return Blend(unit, weight * self.slope, -weight * self.slope * self.middle)


class Terms(NamedTuple):
    """What scores are the sum of: the prior with a weight, kernels with the kept rows, and with one settled row."""

    prior_weight: float
    weight: Floats  # of each kept row
    pulling: int | None = None  # a settled row that pulls beyond the weight it was settled with,
    pull: float = 0.0  # by this


class Similarity(Protocol):
    """A kernel between rows, and scores made of it.

    Reviewed rows are kept, in their order, to sum over with weights that change; or settled, with weights that stay.
    These are pairs, for the weight of the prior goes on changing: the mean of a row x is ::

        mean(x) = level(x) + prior_weight · prior(x),   level(x) = Σ a_i·k(x, i),   prior(x) = pr(x) + Σ b_i·k(x, i)
    """

    prior: Prior

    def add(self, row: int) -> None:
        """Keep one more reviewed row."""

    def truncate(self, n: int) -> None:
        """Forget all kept rows but the first n."""

    def settle(self, weights: Floats) -> None:
        """Settle the first kept rows with these weights: a line for the level and one for the prior."""

    def reset(self, rows: list[int], weights: Floats, sums: Floats | None = None) -> None:
        """Keep no row, and let these be settled; ``sums`` is what they add up to, None where it is not known."""

    @property
    def sums(self) -> Floats:
        """What the settled rows add up to, level and prior; never changed in place."""

    def mean(self, row: int) -> tuple[float, float]:
        """Level and prior of a row."""

    def between(self, row: int) -> Floats:
        """The kernel of a row with the kept rows."""

    def own(self, row: int) -> float:
        """The kernel of a row with itself."""

    def score(self, terms: Terms) -> None:
        """Rank all rows by their mean and the weighted kernels."""

    def contribution(self, terms: Terms) -> Floats:
        """What each leaf adds to the scores of its rows, exactly or nearly."""


class LeafKernel:
    """k(x, u) = Σ over members with the same leaf of abs(value) / mean k(x, x): linear in weights of leaves.

    Scores are the prior and sums over the leaves of reviewed rows, so memory does not grow with the rows times the
    reviews, and as long as those leaves hold few rows, an index spares scoring all of them anew.
    """

    def __init__(self, space: ScoreSpace, rows: AllRows) -> None:
        self.space = space
        self.prior = Prior(space, rows)
        self._share = np.abs(space.values)
        self._share /= rows.mean_sum(self._share) or 1.0
        self._leaf_scores = LeafScores(space, rows)
        # The leaves of the kept rows, side by side: the leaf numbers of all rows lie far apart, perhaps on disk.
        self._leaves = np.zeros((0, space.n_members), dtype=np.int64)
        self._n_kept = 0
        self.sums: Floats
        self.reset([], np.zeros((2, 0)))

    def add(self, row: int) -> None:
        """Keep the leaves of one more reviewed row."""
        if self._n_kept == self._leaves.shape[0]:
            room = np.zeros((max(32, self._n_kept // 2), self.space.n_members), dtype=np.int64)
            self._leaves = np.concatenate([self._leaves, room])
        self._leaves[self._n_kept] = self.space.leaves([row])[0]
        self._n_kept += 1

    def truncate(self, n: int) -> None:
        """Forget all kept rows but the first n."""
        self._n_kept = min(n, self._n_kept)

    def settle(self, weights: Floats) -> None:
        """Add the weights up in the leaves of the first kept rows."""
        n = weights.shape[1]
        self.sums = _added(self.sums, self._leaves[:n], weights)
        self._leaves = self._leaves[n:].copy()
        self._n_kept -= n

    def reset(self, rows: list[int], weights: Floats, sums: Floats | None = None) -> None:
        """Keep no row."""
        self._n_kept = 0
        nothing = np.zeros((2, self.space.n_leaves))
        self.sums = _added(nothing, self.space.leaves(rows), weights) if sums is None else sums

    def mean(self, row: int) -> tuple[float, float]:
        """Sums over the row's leaves."""
        leaves = self.space.leaves([row])[0]
        level, shift = np.sum(self.sums[:, leaves] * self._share[leaves], axis=1).tolist()
        return level, self.prior.of(row) + shift

    def between(self, row: int) -> Floats:
        """Sums over the leaves shared with each kept row."""
        mine = self.space.leaves([row])[0]
        return np.sum((self._leaves[: self._n_kept] == mine) * self._share[mine], axis=1)

    def own(self, row: int) -> float:
        """Sum over the row's leaves."""
        return float(np.sum(self._share[self.space.leaves([row])[0]]))

    def score(self, terms: Terms) -> None:
        """Sum over the leaves of reviewed rows, and add the prior."""
        self._leaf_scores.update(
            self._likeness(terms), lambda unit: self.prior.blend(unit, terms.prior_weight)
        )

    def contribution(self, terms: Terms) -> Floats:
        """The prior's part, and the weights of the reviewed rows in each leaf."""
        likeness = self._likeness(terms, _summed)
        return terms.prior_weight * self.prior.slope * self.space.values + likeness

    def _likeness(
        self, terms: Terms, add: Callable[[Floats, Integers, Floats], Floats] | None = None
    ) -> Floats:
        settled = self.sums[:1] + terms.prior_weight * self.sums[1:]
        in_leaf = (add or _added)(settled, self._leaves[: self._n_kept], terms.weight[None])[0]
        if terms.pulling is not None:
            in_leaf[self.space.leaves([terms.pulling])[0]] += terms.pull
        return in_leaf * self._share


def _summed(in_leaf: Floats, leaves: Integers, weights: Floats) -> Floats:
    """What ``_added`` gives but for the last bits, ten times as fast: for what is told of a row, not for its score."""
    each = (np.repeat(weight, leaves.shape[1]) for weight in weights)
    return in_leaf + [np.bincount(leaves.ravel(), weight, in_leaf.shape[1]) for weight in each]


def _added(in_leaf: Floats, leaves: Integers, weights: Floats) -> Floats:
    """Lines of numbers per leaf, plus the weight of each row in its leaves, one row after the other."""
    out = in_leaf.copy()
    for line, weight in zip(out, weights, strict=True):
        np.add.at(line, leaves.ravel(), np.repeat(weight, leaves.shape[1]))  # flat: eight times as fast
    return out
