"""Objectives: measures of the top of a ranking, as objects that any learner can optimise.

A learner never knows which objective it optimises. It asks for three things of one list: the *total* of a
ranking, the *ideal* total, and how the total changes when two rows swap; and for a *weight* of each list.
The value of a list is total / ideal, the value of many lists the weighted mean.

All objectives here share one form, which is what makes one swap kernel serve them all: with rows in ranked
order, swapping the rows at ranks a < b changes the total by ::

    (gain[b] - gain[a]) * (upper[a] - lower[b])

where ``gain`` is what a row is worth and ``upper``, ``lower`` come from one pass over the list. For
objectives that sum gain x discount, both are the discount; for average precision they hold the precision
gained and the precisions shifted in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist import metrics
from shortlist.lists import Lists
from shortlist.metrics.cost import row_costs
from shortlist.metrics.gain import check_gain, log_discounts, relative_gains
from shortlist.metrics.totals import list_totals
from shortlist.validation import check_budget, check_groups, check_impact, check_score, check_two_classes

Floats = NDArray[np.float64]


class Objective(ABC):
    """What a good top of the list is. Subclasses say what a row is worth and how a ranked list adds up."""

    #: Ranks beyond it cannot change the total; None: every rank counts.
    cutoff: int | None = None

    @abstractmethod
    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """What each row is worth, in row order; checks y."""

    @abstractmethod
    def total(self, ranked: Floats) -> float:
        """The total of one list whose gains are given in ranked order."""

    @abstractmethod
    def expected_total(self, gains: Floats, score: Floats) -> float:
        """The total of one list under these scores, averaged over all orders of tied rows."""

    @abstractmethod
    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """``upper`` and ``lower`` by rank: see the module for the swap formula."""

    def ideal(self, gains: Floats) -> float:
        """The best total that any order of one list reaches."""
        return self.total(-np.sort(-gains))

    def list_weights(self, ideals: Floats) -> Floats:
        """How much each list counts; sums to 1. Lists that no ranking can improve count nothing."""
        return _shares((ideals > 0).astype(np.float64))

    def swap_changes(self, ranked: Floats, a: ArrayLike, b: ArrayLike) -> Floats:
        """Change of the total for swapping the rows at ranks a and b (from 0; arrays broadcast).

        >>> AveragePrecision().swap_changes(np.array([0.0, 1.0]), 0, 1)  # from hit at rank 2 to rank 1
        array(0.5)
        """
        a, b = np.asarray(a), np.asarray(b)
        first, second = np.minimum(a, b), np.maximum(a, b)
        upper, lower = self.swap_bounds(ranked)
        return np.asarray((ranked[second] - ranked[first]) * (upper[first] - lower[second]))

    def bind(self, y: ArrayLike, groups: ArrayLike | None = None) -> Goal:
        """The objective on labelled rows, with what does not depend on scores computed once."""
        n_rows = np.shape(y)[0]
        lists = check_groups(groups, n_rows)
        return Goal(self, lists, self.gains(y, lists))

    def value(self, y: ArrayLike, score: ArrayLike, groups: ArrayLike | None = None) -> float:
        """The value of a ranking, between 0 and 1; ties count in expectation.

        >>> CostSaved(k=3).value([70, 50, 50, 50, 0, 0, 0], [9, 0, 0, 0, 8, 7, 0])
        0.583...
        """
        return self.bind(y, groups).value(check_score(score))


@dataclass(frozen=True, eq=False)
class Goal:
    """An objective bound to labelled lists: what a learner works with."""

    objective: Objective
    lists: Lists
    gains: Floats

    @cached_property
    def ideals(self) -> Floats:
        """The best total of each list."""
        return np.array([self.objective.ideal(self.gains[rows]) for rows in self.lists])

    @cached_property
    def weights(self) -> Floats:
        """How much each list counts; sums to 1."""
        return self.objective.list_weights(self.ideals)

    def list_values(self, score: Floats) -> Floats:
        """The value of each list under these scores; 0 where no ranking can gain anything."""
        totals = [self.objective.expected_total(self.gains[rows], score[rows]) for rows in self.lists]
        return np.divide(totals, self.ideals, out=np.zeros(len(self.lists)), where=self.ideals > 0)

    def value(self, score: Floats) -> float:
        """The weighted mean of the lists' values."""
        return float(self.weights @ self.list_values(score))


class AveragePrecision(Objective):
    """Mean precision at the ranks of the wanted rows.

    >>> AveragePrecision().value([1, 1, 0, 1, 0], [5, 4, 3, 2, 1])
    0.9166...
    """

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return check_two_classes(y, lists.n_rows).astype(np.float64)

    def total(self, ranked: Floats) -> float:
        """Sum of the precisions at the wanted rows."""
        return float(np.sum(np.cumsum(ranked) / _ranks(ranked.size) * ranked))

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """Tie-averaged AP times the number of wanted rows."""
        return metrics.average_precision(gains, score) * gains.sum() if gains.any() else 0.0

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """The precision at a rank less the sum of 1/rank over the wanted rows down to it.

        The row that moves up finds one more wanted row at its new rank than before unless one was there
        already; each wanted row in between gains or loses 1/rank, which the running sum provides.
        """
        ranks = _ranks(ranked.size)
        base = np.cumsum(ranked) / ranks - np.cumsum(ranked / ranks)
        return base + (1 - ranked) / ranks, base + ranked / ranks


class AUC(Objective):
    """Share of (wanted, not wanted) pairs in the right order.

    >>> AUC().value([0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    0.625
    """

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return check_two_classes(y, lists.n_rows).astype(np.float64)

    def total(self, ranked: Floats) -> float:
        """Number of pairs in the right order."""
        unwanted_below = np.cumsum((1 - ranked)[::-1])[::-1]
        return float(ranked @ unwanted_below)

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """A tied pair counts one half."""
        pairs = gains.sum() * (gains.size - gains.sum())
        return metrics.roc_auc(gains, score) * pairs if pairs else 0.0

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """A wanted row that climbs by d ranks puts d pairs in order."""
        return -_ranks(ranked.size), -_ranks(ranked.size)


class _Discounted(Objective):
    """Objectives that sum gain x discount(rank)."""

    @abstractmethod
    def discounts(self, n: int) -> Floats:
        """What a unit of gain counts at ranks 1 to n."""

    def total(self, ranked: Floats) -> float:
        """Sum of gain x discount."""
        return float(ranked @ self.discounts(ranked.size))

    def expected_total(self, gains: Floats, score: Floats) -> float:
        """Tied rows share the mean discount of their ranks."""
        return float(list_totals(gains, score, Lists.single(gains.size), self.discounts(gains.size))[0])

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """The discount, for both."""
        discounts = self.discounts(ranked.size)
        return discounts, discounts


@dataclass(frozen=True)
class PrecisionAtK(_Discounted):
    """Wanted rows among the first k, as a share of what k rows can hold.

    >>> PrecisionAtK(k=2).value([1, 0, 1, 0], [4, 3, 2, 1])
    0.5
    """

    k: int

    def __post_init__(self) -> None:
        check_budget(self.k, name="k")

    @property
    def cutoff(self) -> int:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """1 for wanted rows, else 0."""
        return check_two_classes(y, lists.n_rows).astype(np.float64)

    def discounts(self, n: int) -> Floats:
        """1 for the first k ranks, else 0."""
        return (_ranks(n) <= self.k).astype(np.float64)


@dataclass(frozen=True)
class NDCG(_Discounted):
    """Discounted gain of the first k, as a share of the best possible; each list counts alike.

    ``gain="exp2"`` is 2^y - 1, ``"linear"`` is y. Gains are kept relative to the largest of their list, so
    impacts of 10,000 do not overflow.

    >>> NDCG(k=2).value([10_000, 9_999, 0], [3, 2, 1])
    1.0
    """

    k: int | None = None
    gain: Literal["exp2", "linear"] = "exp2"

    def __post_init__(self) -> None:
        if self.k is not None:
            check_budget(self.k, name="k")
        check_gain(self.gain)

    @property
    def cutoff(self) -> int | None:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """Gains as a share of the largest of the list (before the constant 1 is taken off)."""
        return relative_gains(check_impact(y, lists.n_rows), lists, self.gain)

    def discounts(self, n: int) -> Floats:
        """1 / log2(rank + 1) for the first k ranks, else 0."""
        return log_discounts(self.k)(n)


@dataclass(frozen=True)
class CostSaved(_Discounted):
    """Cost saved by acting on the first k rows, as a share of what an ideal order saves (R_CS).

    A row at rank r <= k is acted on with probability ``act``: ``"linear"`` 1 - (r - 1)/k, ``"top-k"`` 1,
    ``"log"`` 1/log2(r + 1), or a function of the ranks; later rows never. ``cost`` turns impacts into costs:
    None takes them as they are, a function maps them, an array gives the cost of each row. Lists count in
    proportion to what could be saved in them.

    >>> storms, impact = [1, 1, 1, 2, 2, 2], [10_000, 100, 0, 100, 1, 0]
    >>> CostSaved(k=2).value(impact, score=[3, 2, 1, 1, 2, 3], groups=storms)
    0.9901...
    """

    k: int
    cost: Callable[[Floats], ArrayLike] | ArrayLike | None = None
    act: Literal["linear", "top-k", "log"] | Callable[[Floats], ArrayLike] = "linear"

    def __post_init__(self) -> None:
        check_budget(self.k, name="k")
        metrics.act_probability(np.ones(1), self.k, self.act)

    @property
    def cutoff(self) -> int:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """The cost of each row."""
        return row_costs(check_impact(y, lists.n_rows), self.cost)

    def discounts(self, n: int) -> Floats:
        """The probability of acting on ranks 1 to n."""
        return metrics.act_probability(_ranks(n), self.k, self.act)

    def list_weights(self, ideals: Floats) -> Floats:
        """Lists count in proportion to what an ideal order saves in them."""
        return _shares(ideals)


def _ranks(n: int) -> Floats:
    return np.arange(1, n + 1, dtype=np.float64)


def _shares(amounts: Floats) -> Floats:
    total = amounts.sum()
    return amounts / total if total > 0 else np.zeros_like(amounts)
