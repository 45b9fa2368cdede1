"""Objectives that count wanted rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shortlist import metrics
from shortlist.lists import Lists
from shortlist.objectives.base import Floats, Objective
from shortlist.objectives.discounted import Discounted, ranks_to
from shortlist.validation import check_budget, check_two_classes


def wanted_in(y: ArrayLike, lists: Lists) -> Floats:
    """1 for wanted rows, else 0; checks y, unless it is part of a larger table: all its rows may be of one kind."""
    if lists.place is not None:
        return np.asarray(y, dtype=np.float64)
    return check_two_classes(y, lists.n_rows).astype(np.float64)


@dataclass(frozen=True)
class AveragePrecision(Objective):
    """Mean precision at the ranks of the wanted rows.

    >>> AveragePrecision().value([1, 1, 0, 1, 0], [5, 4, 3, 2, 1])
    0.9166...
    """

    takes_impact = False

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return wanted_in(y, lists)

    def total(self, ranked: Floats) -> float:
        """Sum of the precisions at the wanted rows."""
        return float(np.sum(np.cumsum(ranked) / ranks_to(ranked.size) * ranked))

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """Tie-averaged AP times what the wanted rows are worth; a row worth 2 counts twice."""
        wanted = gains > 0
        if not wanted.any():
            return 0.0
        weight = None if np.all(gains[wanted] == 1) else np.where(wanted, gains, 1.0)
        return metrics.average_precision(wanted, score, sample_weight=weight) * gains.sum()

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """The precision at a rank less the sum of 1/rank over the wanted rows down to it.

        The row that moves up finds one more wanted row at its new rank than before unless one was there
        already; each wanted row in between gains or loses 1/rank, which the running sum provides.
        """
        ranks = ranks_to(ranked.size)
        base = np.cumsum(ranked) / ranks - np.cumsum(ranked / ranks)
        return base + (1 - ranked) / ranks, base + ranked / ranks


@dataclass(frozen=True)
class AUC(Objective):
    """Share of (wanted, not wanted) pairs in the right order.

    >>> AUC().value([0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    0.625
    """

    takes_impact = False
    fixed_bounds = True

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return wanted_in(y, lists)

    def total(self, ranked: Floats) -> float:
        """Number of pairs in the right order."""
        unwanted_below = np.cumsum((1 - ranked)[::-1])[::-1]
        return float(ranked @ unwanted_below)

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """A pair counts what its wanted row is worth, a tied pair one half of it."""
        wanted, others = gains > 0, np.sort(score[gains == 0])
        below = np.searchsorted(others, score[wanted]) + np.searchsorted(others, score[wanted], "right")
        return float(gains[wanted] @ below) / 2

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """A wanted row that climbs by d ranks puts d pairs in order."""
        return -ranks_to(ranked.size), -ranks_to(ranked.size)


@dataclass(frozen=True)
class PrecisionAtK(Discounted):
    """Wanted rows among the first k, as a share of what k rows can hold.

    >>> PrecisionAtK(k=2).value([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    k: int
    takes_impact = False

    def __post_init__(self) -> None:
        check_budget(self.k, name="k")

    @property
    def cutoff(self) -> int:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return wanted_in(y, lists)

    def discounts(self, n: int) -> Floats:
        """1 for the first k ranks, else 0."""
        return (ranks_to(n) <= self.k).astype(np.float64)
