"""An objective on labelled rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists

if TYPE_CHECKING:
    from shortlist.objectives.base import Objective

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Goal:
    """An objective bound to labelled lists: what a learner works with."""

    objective: Objective
    lists: Lists
    gains: Floats
    given_weights: Floats | None = None

    @cached_property
    def totals(self) -> Callable[[Floats, Floats], Floats]:
        """(gains, scores) of all rows -> the expected total of each list."""
        return self.objective.expected_totals(self.lists)

    @cached_property
    def ideals(self) -> Floats:
        """The best total of each list."""
        return self.totals(self.gains, self.gains)

    @cached_property
    def weights(self) -> Floats:
        """How much each list counts; sums to 1. Lists that no ranking can improve count nothing."""
        if self.given_weights is None:
            return self.objective.list_weights(self.ideals)
        return shares(np.where(self.ideals > 0, self.given_weights, 0.0))

    def list_values(self, score: Floats) -> Floats:
        """The value of each list under these scores; 0 where no ranking can gain anything."""
        totals = self.totals(self.gains, score)
        return np.divide(totals, self.ideals, out=np.zeros_like(totals), where=self.ideals > 0)

    def value(self, score: Floats) -> float:
        """The weighted mean of the lists' values."""
        return float(self.scale @ self.totals(self.gains, score))

    @cached_property
    def scale(self) -> Floats:
        """What a unit of each list's total adds to the value: weight / ideal."""
        return np.divide(self.weights, self.ideals, out=np.zeros(len(self.lists)), where=self.ideals > 0)

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """``upper`` and ``lower`` of all lists; ``ranked`` are the gains by rank, list after list."""
        if self.objective.fixed_bounds:
            return self._fixed_bounds
        lists = np.split(ranked, self.lists.starts[1:-1])
        upper, lower = zip(*map(self.objective.swap_bounds, lists), strict=True)
        return np.concatenate(upper), np.concatenate(lower)

    @cached_property
    def _fixed_bounds(self) -> tuple[Floats, Floats]:
        upper, lower = self.objective.swap_bounds(np.zeros(self.lists.sizes.max()))
        return upper[self.lists.places], lower[self.lists.places]

    def take(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Goal]:
        """Some of the lists: their rows, list after list, and the goal on those rows alone."""
        rows, lists = self.lists.take(numbers)
        given = None if self.given_weights is None else self.given_weights[numbers]
        return rows, Goal(self.objective, lists, self.gains[rows], given)


def shares(amounts: Floats) -> Floats:
    """Amounts that sum to 1; all 0 where there is nothing to share."""
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros_like(amounts)
