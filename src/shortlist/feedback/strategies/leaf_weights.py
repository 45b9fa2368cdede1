"""Feedback rankers whose scores are linear in weights per leaf, and those scores, kept up to date as weights change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.base import FeedbackRanker, State
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.kernels.feedback.leaf_scores import add_up
from shortlist.kernels.feedback.trees import BLOCK
from shortlist.kernels.row_ranges import over_ranges

#: Above this share of the cells, one sequential pass over all rows is faster than visiting rows by leaf.
DENSE_SHARE = 0.15
#: Contributions may grow by so many bits over the ensemble's own, and then by steps of so many, before sums need
#: another unit, and with it a pass over all rows.
HEADROOM, EXPONENT_STEP = 20, 16
#: Threads take turns at so many cells, some milliseconds of work.
CELLS_AT_ONCE = 8_000_000
#: Squares of weights stay below the largest float64 as long as weights have no more bits than this.
MOST_BITS = 400


class LeafScores:
    """Sums over leaves, in whole numbers.

    Contributions per leaf are rounded to multiples of a power of two, chosen from the largest of them so that no sum of
    m overflows: the ensemble's own scores keep 41 bits, 12 decimal digits. Whole numbers
    add up to the same bits in any order: changing the rows of a few leaves through the index, re-scoring all
    rows, or replaying another history that ends in the same weights give exactly the same ``sums``.
    """

    def __init__(self, space: ScoreSpace) -> None:
        self.space = space
        self.sums: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.exponent = 0
        self._table = np.zeros(space.n_leaves, dtype=np.int64)
        self._own_bits = _bits(space.values, space)

    def update(self, contribution: Floats) -> None:
        """Score every row of the space, arrivals too, under these contributions of leaves."""
        exponent = self._exponent(contribution)
        table = np.rint(np.ldexp(contribution, exponent)).astype(np.int64)
        changed = np.flatnonzero(table != self._table)
        known = self.sums.size
        self._extend()
        if exponent != self.exponent or not self._change(changed, table, known):
            self._add_up(table, 0)
        elif known < self.space.n_rows:
            self._add_up(table, known)
        self.exponent, self._table = exponent, table

    @property
    def unit(self) -> float:
        """What 1 stands for in the sums."""
        return float(np.ldexp(1.0, -self.exponent))

    def floats(self) -> Floats:
        """The sums as contributions were given."""
        return np.multiply(self.sums, self.unit, dtype=np.float64)

    def _change(self, leaves: NDArray[np.int64], table: NDArray[np.int64], known: int) -> bool:
        """Bring the known rows up to date through the index; False where a pass over all rows is faster."""
        index, cells = self.space.index, known * self.space.n_members
        if leaves.size == 0:
            return True
        if index is None or index.cells(leaves) > DENSE_SHARE * cells:
            return False
        if index.n_rows > known:  # the index knows rows that are not scored yet: they are added up after this
            return False
        index.add_changes(leaves, table[leaves] - self._table[leaves], self.sums)
        if index.n_rows < known:
            self._add_up(table, index.n_rows)
        return True

    def _extend(self) -> None:
        if self.sums.size < self.space.n_rows:
            self.sums = np.concatenate(
                [self.sums, np.zeros(self.space.n_rows - self.sums.size, dtype=np.int64)]
            )

    def _add_up(self, table: NDArray[np.int64], first: int) -> None:
        ids, starts = self.space.leaf_ids, self.space.forest.leaf_starts

        def add_rows(low: int, high: int) -> None:
            add_up(ids, low, high, table, starts, self.sums[low:high])

        # Whole blocks of leaf numbers, so that no two threads share one.
        blocks = max(1, CELLS_AT_ONCE // self.space.n_members // BLOCK)
        over_ranges(add_rows, first, self.space.n_rows, size=blocks * BLOCK)

    def _exponent(self, contribution: Floats) -> int:
        """A function of the contributions alone: the same ones give the same sums, whatever came before."""
        beyond = _bits(contribution, self.space) - self._own_bits - HEADROOM
        return 61 - HEADROOM - self._own_bits - EXPONENT_STEP * max(0, -(-beyond // EXPONENT_STEP))


class LeafWeightRanker(FeedbackRanker):
    """Scores rows by what their leaves contribute; subclasses say what that is in ``_contribution``."""

    def __init__(self, space: ScoreSpace, *, random_state: int | None = 0) -> None:
        self._leaf_scores = LeafScores(space)
        super().__init__(space, random_state=random_state)

    def _rescore(self) -> None:
        self._leaf_scores.update(self._contribution())

    def _ranking_keys(self) -> NDArray:
        return self._leaf_scores.sums

    def _score_floats(self) -> Floats:
        return self._leaf_scores.floats()


class UnitWeightRanker(LeafWeightRanker):
    """Keeps unit weights up to a common factor.

    A verdict moves a few leaves and normalising then moves all; without the common factor only the few change, so
    only their rows are scored again. The factor is never multiplied up: it is 1 / length of what is kept.
    """

    def _restart(self) -> None:
        self._weight = np.ones(self.space.n_leaves)

    def _value_of_leaves(self) -> Floats:
        return self.space.values

    def _contribution(self) -> Floats:
        return self._weight * self._value_of_leaves()

    def _score_floats(self) -> Floats:
        return super()._score_floats() / length(self._weight)

    def _state(self) -> State:
        return {"weight": self._weight.copy()}

    def _restore(self, state: State) -> None:
        self._weight = state["weight"].copy()

    def _rebase(self) -> None:
        """Keep the common factor far from overflow, by a power of two: it changes no digit of any weight."""
        bits = int(np.frexp(length(self._weight))[1])
        if abs(bits) > MOST_BITS:
            self._weight = np.ldexp(self._weight, -bits)


def length(weight: Floats) -> float:
    """The Euclidean norm, added up in an order that does not depend on threads."""
    return float(np.sqrt(np.sum(weight * weight)))


def _bits(contribution: Floats, space: ScoreSpace) -> int:
    """Bits before the point of the largest sum that m contributions can have."""
    return int(np.frexp(float(np.abs(contribution).max()) * space.n_members)[1])
