"""Feedback rankers whose weights of leaves are a vector of length 1."""

from __future__ import annotations

import numpy as np

from shortlist.feedback.base import State
from shortlist.feedback.forest import Floats
from shortlist.feedback.leaf_scores import EXPONENT_STEP
from shortlist.feedback.leaf_weights import LeafWeightRanker


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
        self._scored = False

    def _rebase(self) -> None:
        """Keep the common factor near 1 by a power of two, which changes no digit of any weight."""
        bits = int(np.frexp(length(self._weight) / np.sqrt(self._weight.size))[1])
        if abs(bits) > EXPONENT_STEP:
            self._weight = np.ldexp(self._weight, -EXPONENT_STEP * int(np.sign(bits)))


def length(weight: Floats) -> float:
    """The Euclidean norm, added up in an order that does not depend on threads."""
    return float(np.sqrt(np.sum(weight * weight)))
