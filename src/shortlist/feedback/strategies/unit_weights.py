"""Feedback rankers whose weights of leaves are a vector of length 1."""

from __future__ import annotations

import numpy as np

from shortlist.feedback.base import State
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.strategies.leaf_weights import LeafWeightRanker

#: Squares of weights stay below the largest float64 as long as weights have no more bits than this.
MOST_BITS = 400


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
