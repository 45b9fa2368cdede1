"""Feedback rankers whose scores are linear in weights per leaf, and how such weights become scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.base import FeedbackRanker, State
from shortlist.feedback.rows.all_rows import AllRows
from shortlist.feedback.rows.part import Blend
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace

#: Contributions may grow by so many bits over the ensemble's own, and then by steps of so many, before sums need
#: another unit, and with it a pass over all rows.
HEADROOM, EXPONENT_STEP = 20, 16
#: Squares of weights stay below the largest float64 as long as weights have no more bits than this.
MOST_BITS = 400


class LeafScores:
    """Sums over leaves, in whole numbers.

    Contributions per leaf are rounded to multiples of a power of two, chosen from the largest of them so that no sum of
    m overflows: the ensemble's own scores keep 41 bits, 12 decimal digits. Whole numbers
    add up to the same bits in any order: changing the rows of a few leaves through the index, re-scoring all
    rows, replaying another history that ends in the same weights, or adding up on several machines give exactly the
    same sums.
    """

    def __init__(self, space: ScoreSpace, rows: AllRows) -> None:
        self.space = space
        self.exponent = 0
        self._rows = rows
        self._table = np.zeros(space.n_leaves, dtype=np.int64)
        self._own_bits = _bits(space.values, space)

    def update(self, contribution: Floats, blend: Callable[[float], Blend] | None = None) -> None:
        """Rank every row of the space, arrivals too, under these contributions of leaves.

        blend : how the sums, in a unit, become keys; None: they are the keys
        """
        exponent = self._exponent(contribution)
        table = np.rint(np.ldexp(contribution, exponent)).astype(np.int64)
        changed, made = (
            np.flatnonzero(table != self._table),
            None if blend is None else blend(_unit(exponent)),
        )
        self._rows.score(changed, table[changed], anew=exponent != self.exponent, blend=made)
        self.exponent, self._table = exponent, table

    @property
    def unit(self) -> float:
        """What 1 stands for in the sums."""
        return _unit(self.exponent)

    def floats(self, sums: NDArray) -> Floats:
        """Sums as contributions were given."""
        return np.multiply(sums, self.unit, dtype=np.float64)

    def _exponent(self, contribution: Floats) -> int:
        """A function of the contributions alone: the same ones give the same sums, whatever came before."""
        beyond = _bits(contribution, self.space) - self._own_bits - HEADROOM
        return 61 - HEADROOM - self._own_bits - EXPONENT_STEP * max(0, -(-beyond // EXPONENT_STEP))


class LeafWeightRanker(FeedbackRanker):
    """Scores rows by what their leaves contribute; subclasses say what that is in ``_contribution``."""

    def __init__(self, space: ScoreSpace, *, random_state: int | None = 0) -> None:
        super().__init__(space, random_state=random_state)
        self._leaf_scores = LeafScores(space, self._rows)

    def _rescore(self) -> None:
        self._leaf_scores.update(self._contribution())

    def _scores_of(self, keys: NDArray) -> Floats:
        return self._leaf_scores.floats(keys)


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

    def _scores_of(self, keys: NDArray) -> Floats:
        return super()._scores_of(keys) / length(self._weight)

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


def _unit(exponent: int) -> float:
    return float(np.ldexp(1.0, -exponent))


def _bits(contribution: Floats, space: ScoreSpace) -> int:
    """Bits before the point of the largest sum that m contributions can have."""
    return int(np.frexp(float(np.abs(contribution).max()) * space.n_members)[1])
