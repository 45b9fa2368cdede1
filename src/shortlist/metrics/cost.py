"""Cost saved by acting on the first rows of each list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.lists import Groups, Lists
from shortlist.metrics.ties import Floats, Ties, check_ties
from shortlist.metrics.totals import contenders, discounts_in_lists, ideal_totals, list_totals
from shortlist.validation import check_budget, check_groups, check_impact, check_score, check_vector

Act = Literal["linear", "top-k", "log"] | Callable[[Floats], ArrayLike]
Cost = Callable[[Floats], ArrayLike] | ArrayLike | None
Aggregate = Literal["cost", "mean"] | Callable[[Floats, Floats], float]


def cost_saved_at_k(
    y: ArrayLike,
    score: ArrayLike,
    k: int,
    *,
    groups: Groups | None = None,
    cost: Cost = None,
    act: Act = "linear",
    aggregate: Aggregate = "cost",
    ties: Ties = "average",
) -> float:
    """Cost saved by acting on the first k rows, as a share of what an ideal order saves.

    For one list, R@k = Σ over ranks <= k of Cost x Pr(rank) / ideal (Eq. 4). ``cost`` is the impact y itself
    (None), a function of it, or one number per row; ``act`` is Pr, see ``act_probability``. Over lists,
    ``aggregate`` is ``"cost"``: savings over ideal savings, each summed over lists (R_CS, Eq. 5); ``"mean"``:
    the mean of the lists' R@k; or a function ``measure(y, score)`` of one list: its mean, each list weighing
    what could be saved in it (R_CR, Eq. 6). Lists in which nothing can be saved are left out.

    References
    ----------
    The cost-sensitive ranking paper, Eq. 4-6. It prints 98.5 % for the example below (its Example 4);
    its formula gives 99.0 %.

    Examples
    --------
    >>> storms, impact = [1, 1, 1, 2, 2, 2], [10_000, 100, 0, 100, 1, 0]
    >>> cost_saved_at_k(impact, [3, 2, 1, 1, 2, 3], k=2, groups=storms)
    0.9901...
    """
    check_ties(ties)
    _check_aggregate(aggregate)
    impact = check_impact(y)
    score = check_score(score, impact.size)
    check_budget(k, impact.size if groups is None else None, name="k")
    lists, costs = check_groups(groups, impact.size), row_costs(impact, cost)
    check_savable(costs)
    if groups is None and not callable(aggregate):
        rows = contenders(costs, score, k)
        costs, score, lists = costs[rows], score[rows], Lists.single(rows.size)
    discounts = discounts_in_lists(lambda n: act_probability(np.arange(1, n + 1), k, act), lists)
    ideals = ideal_totals(costs, lists, discounts)
    if callable(aggregate):
        return _reweighted(aggregate, impact, score, lists, ideals)
    totals = list_totals(costs, score, lists, discounts, ties=ties)
    if aggregate == "cost":
        return float(totals.sum() / ideals.sum())
    return float(np.mean(totals[ideals > 0] / ideals[ideals > 0]))


def act_probability(ranks: ArrayLike, k: int, act: Act = "linear") -> Floats:
    """The probability of acting on a row at each rank (from 1); 0 beyond rank k.

    ``"linear"``: 1 - (rank - 1)/k; ``"top-k"``: 1; ``"log"``: 1/log2(rank + 1); or a function of an array
    of ranks, whose values lie between 0 and 1 and do not rise from rank to rank.

    >>> act_probability([1, 2, 3, 4], k=4)
    array([1.  , 0.75, 0.5 , 0.25])
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    if callable(act):
        probability = _check_probability(act(ranks), ranks)
    elif act == "linear":
        probability = 1 - (ranks - 1) / k
    elif act == "top-k":
        probability = np.ones_like(ranks)
    elif act == "log":
        probability = 1 / np.log2(ranks + 1)
    else:
        raise InvalidInputError(f"act must be 'linear', 'top-k', 'log' or a function of ranks; got {act!r}.")
    return np.where(ranks <= k, probability, 0.0)


def row_costs(impact: Floats, cost: Cost) -> Floats:
    """The cost of each row: its impact, a function of it, or given."""
    if cost is None:
        return impact
    return check_impact(cost(impact) if callable(cost) else cost, impact.size, name="cost")


def _check_probability(values: ArrayLike, ranks: Floats) -> Floats:
    probability = check_vector(values, "act(ranks)", ranks.size).astype(np.float64)
    if not np.all((probability >= 0) & (probability <= 1)):
        raise InvalidInputError(
            "act(ranks) must give probabilities between 0 and 1; divide by their largest."
        )
    if np.any(np.diff(probability[np.argsort(ranks, kind="stable")]) > 0):
        raise InvalidInputError(
            "act(ranks) must not rise from one rank to the next: else the ideal order is not by cost."
        )
    return probability


def _check_aggregate(aggregate: Aggregate) -> None:
    if not callable(aggregate) and aggregate not in ("cost", "mean"):
        raise InvalidInputError(
            f"aggregate must be 'cost', 'mean' or a function measure(y, score); got {aggregate!r}."
        )


def check_savable(costs: Floats) -> None:
    """Refuse rows or lists of which none has anything to save."""
    if not costs.any():
        raise NoWantedRowsError(
            "no row has a cost above 0, so nothing can be saved. Measure on rows that hold at least one."
        )


def _reweighted(
    measure: Callable[[Floats, Floats], float], impact: Floats, score: Floats, lists: Lists, ideals: Floats
) -> float:
    savable = [(ideal, rows) for ideal, rows in zip(ideals, lists, strict=True) if ideal > 0]
    total = sum(ideal * measure(impact[rows], score[rows]) for ideal, rows in savable)
    return float(total / ideals.sum())
