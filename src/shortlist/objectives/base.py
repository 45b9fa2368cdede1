"""The contract of objectives: what learners may ask of one, and the goal that it makes of labelled rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups, Lists, together
from shortlist.validation import check_finite, check_groups, check_score, check_vector

Floats = NDArray[np.float64]
#: (gains, scores) of all rows -> a total for each list.
Totals = Callable[[Floats, Floats], Floats]
#: How much a list weighs: an objective's own weights, a function of its impacts, or a number for each list.
ListWeight: TypeAlias = "Objective | Callable[[Floats], float] | ArrayLike | None"


class Objective(ABC):
    """What a good top of the list is. Subclasses say what a row is worth and how a ranked list adds up."""

    #: Ranks beyond it cannot change the total; None: every rank counts.
    cutoff: int | None = None
    #: False: y marks wanted rows instead of giving an impact.
    takes_impact: ClassVar[bool] = True
    #: True: it holds numbers of certain rows, so it can measure those, and no ranker can learn by it.
    of_certain_rows: bool = False
    #: True: the swap bounds depend on ranks and not on gains, so they are computed once.
    fixed_bounds: ClassVar[bool] = False

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
        return shares((ideals > 0).astype(np.float64))

    def expected_totals(self, lists: Lists) -> Totals:
        """A function of gains and scores: the expected total of each list. What needs neither is computed once."""
        return lambda gains, score: np.array(
            [self.expected_total(gains[rows], score[rows]) for rows in lists]
        )

    def swap_changes(self, ranked: Floats, a: ArrayLike, b: ArrayLike) -> Floats:
        """Change of the total for swapping the rows at ranks a and b (from 0; arrays broadcast).

        >>> from shortlist.objectives import AveragePrecision
        >>> AveragePrecision().swap_changes(np.array([0.0, 1.0]), 0, 1)  # from hit at rank 2 to rank 1
        array(0.5)
        """
        a, b = np.asarray(a), np.asarray(b)
        first, second = np.minimum(a, b), np.maximum(a, b)
        upper, lower = self.swap_bounds(ranked)
        return np.asarray((ranked[second] - ranked[first]) * (upper[first] - lower[second]))

    def bind(
        self,
        y: ArrayLike,
        groups: Groups | None = None,
        *,
        list_weight: ListWeight = None,
        sample_weight: Floats | None = None,
    ) -> Goal:
        """The objective on labelled rows, with what does not depend on scores computed once.

        Parameters
        ----------
        list_weight : how much each list counts, in place of this objective's own weights: another objective
            (lists count as they do there), one number per list in order of first appearance, or a function
            of the y of one list
        sample_weight : factors on what each row is worth
        """
        y = check_vector(y, "y")
        lists = check_groups(groups, y.size)
        gains = self.gains(y, lists) if lists.n_rows else np.empty(0)  # a machine may have no rows
        worth = gains if sample_weight is None else gains * sample_weight
        return Goal(self, lists, worth, given_weights(list_weight, y, lists))

    def value(self, y: ArrayLike, score: ArrayLike, groups: Groups | None = None) -> float:
        """The value of a ranking, between 0 and 1; ties count in expectation.

        >>> from shortlist.objectives import CostSaved
        >>> CostSaved(k=3).value([70, 50, 50, 50, 0, 0, 0], [9, 0, 0, 0, 8, 7, 0])
        0.583...
        """
        goal = self.bind(y, groups)
        return goal.value(check_score(score, goal.lists.n_rows))


def gives_numbers(list_weight: ListWeight) -> bool:
    """Whether weights of lists are given as numbers, which hold for certain lists only.

    >>> gives_numbers((1, 2)), gives_numbers(np.sum), gives_numbers(None)
    (True, False, False)
    """
    return not (list_weight is None or isinstance(list_weight, Objective) or callable(list_weight))


def given_weights(list_weight: ListWeight, y: ArrayLike, lists: Lists) -> Floats | None:
    """A weight per list from any of the ways to give one; None: the objective decides."""
    if list_weight is None:
        return None
    if isinstance(list_weight, Objective):
        return list_weight.bind(y, lists).weights
    if callable(list_weight):
        array = np.asarray(y, dtype=np.float64)
        list_weight = [list_weight(array[rows]) for rows in lists]
        list_weight = lists.of_all(np.array(list_weight, dtype=np.float64))
    weights = check_finite(list_weight, "list_weight")
    n_lists = lists.n_in_all
    if weights.size != n_lists:
        raise InvalidInputError(
            f"list_weight has {weights.size} values for {n_lists} lists; give one per list."
        )
    if weights.min() < 0 or weights.max() == 0:
        raise InvalidInputError("list_weight must not be negative, and at least one list must count.")
    return lists.own(weights)


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

    @together
    def all_ideals(self) -> Floats:
        """The best total of each list, of those on other machines too."""
        return self.lists.of_all(self.ideals)

    @together
    def all_weights(self) -> Floats:
        """How much each list counts, wherever it lies; sums to 1."""
        if self.given_weights is None:
            return self.objective.list_weights(self.all_ideals)
        return shares(np.where(self.all_ideals > 0, self.lists.of_all(self.given_weights), 0.0))

    @property
    def weights(self) -> Floats:
        """How much each list here counts. Lists that no ranking can improve count nothing."""
        return self.lists.own(self.all_weights)

    def list_values(self, score: Floats) -> Floats:
        """The value of each list under these scores; 0 where no ranking can gain anything."""
        totals = self.totals(self.gains, score)
        return np.divide(totals, self.ideals, out=np.zeros_like(totals), where=self.ideals > 0)

    def value(self, score: Floats) -> float:
        """The weighted mean of the lists' values."""
        return float(self.all_scales @ self.lists.of_all(self.totals(self.gains, score)))

    @together
    def all_scales(self) -> Floats:
        """What a unit of each list's total adds to the value, wherever it lies: weight / ideal."""
        ideals = self.all_ideals
        return np.divide(self.all_weights, ideals, out=np.zeros(ideals.size), where=ideals > 0)

    @property
    def scale(self) -> Floats:
        """The same of the lists here."""
        return self.lists.own(self.all_scales)

    def swap_bounds(self, ranked: Floats) -> tuple[Floats, Floats]:
        """``upper`` and ``lower`` of all lists; ``ranked`` are the gains by rank, list after list."""
        if self.objective.fixed_bounds:
            return self._fixed_bounds
        lists = np.split(ranked, self.lists.starts[1:-1])
        upper, lower = zip(*map(self.objective.swap_bounds, lists), strict=True)
        return np.concatenate(upper), np.concatenate(lower)

    @cached_property
    def _fixed_bounds(self) -> tuple[Floats, Floats]:
        upper, lower = self.objective.swap_bounds(np.zeros(self.lists.sizes.max(initial=0)))
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
