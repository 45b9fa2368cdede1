"""Objectives that add up what rows are worth, less the further down they are."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from shortlist.kernels.top_totals import top_totals
from shortlist.lists import Lists
from shortlist.metrics.totals import discounts_in_lists, list_totals
from shortlist.objectives.base import Floats, Objective, Totals


class Discounted(Objective):
    """Objectives that sum gain x discount(rank)."""

    fixed_bounds = True

    @abstractmethod
    def discounts(self, n: int) -> Floats:
        """What a unit of gain counts at ranks 1 to n."""

    def total(self, ranked: Floats) -> float:
        """Sum of gain x discount."""
        return float(ranked @ self.discounts(ranked.size))

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """Tied rows share the mean discount of their ranks."""
        return float(list_totals(gains, score, Lists.single(gains.size), self.discounts(gains.size))[0])

    def expected_totals(self, lists: Lists) -> Totals:
        """The expected total of each list; with a cut-off only the first ranks are put in order."""
        if self.cutoff is None:
            by_rank = discounts_in_lists(self.discounts, lists)
            return lambda gains, score: list_totals(gains, score, lists, by_rank)
        discounts = self.discounts(self.cutoff)
        return lambda gains, score: top_totals(score, gains, lists.order, lists.starts, discounts)

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """The discount, for both."""
        discounts = self.discounts(ranked.size)
        return discounts, discounts


def ranks_to(n: int) -> Floats:
    """The ranks 1 to n."""
    return np.arange(1, n + 1, dtype=np.float64)
