"""What reviews bring, less what they cost: for every budget, and up to which budget they pay for themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups, Lists
from shortlist.validation import check_groups, check_impact, check_score

Floats = NDArray[np.float64]


def net_value_curve(y: ArrayLike, score: ArrayLike, *, cost: float, groups: Groups | None = None) -> Floats:
    """Net value of looking at the first 1, 2, ... rows of each list: Σ over rows looked at of (y - cost).

    ``y`` is what a row is worth to whoever looks at it, 0 where it is not wanted; ``cost`` is that of one look. Rows
    with equal scores count as what a random order of them brings on average.

    >>> net_value_curve([100, 0, 40], [3, 2, 1], cost=30)
    array([70., 40., 50.])
    """
    worth = check_impact(y)
    lists = check_groups(groups, worth.size)
    _, place, gain = gains_by_place(worth, check_score(score, worth.size), lists)
    return np.cumsum(np.bincount(place, gain - check_cost(cost)).astype(np.float64))


def paying_budget(y: ArrayLike, score: ArrayLike, *, cost: float, groups: Groups | None = None) -> int:
    """The budget at which the net value is largest: up to it reviews pay for themselves. 0: none does.

    Where every wanted row is worth the same v, the net value there, over the number of rows, is the maximum profit that
    other libraries measure, with v - cost for a wanted row that is looked at and -cost for another.

    >>> paying_budget([100, 0, 40], [3, 2, 1], cost=30), paying_budget([100, 0, 40], [3, 2, 1], cost=101)
    (1, 0)
    """
    return best_budget(net_value_curve(y, score, cost=cost, groups=groups))


def best_budget(net: Floats) -> int:
    """The smallest budget with the largest net value; 0 where no budget has one above 0.

    >>> best_budget(np.array([70.0, 40.0, 70.0]))
    1
    """
    # Sums of the same amounts in another order differ in their last digits, which must not decide.
    highest = max(0.0, float(net.max(initial=0.0)))
    reached = np.append(0.0, net) >= highest - 1e-9 * max(1.0, highest)
    return int(np.argmax(reached))


def gains_by_place(worth: Floats, score: Floats, lists: Lists) -> tuple[NDArray, NDArray, Floats]:
    """The rows list by list and best first, their places from 0, and what is found there; ties share their mean."""
    order = np.lexsort((-score, lists.of_row))
    starts = np.concatenate([[0], np.cumsum(np.bincount(lists.of_row))])
    list_of = lists.of_row[order]
    place = np.arange(order.size) - starts[list_of]
    is_new = np.append(True, (np.diff(score[order]) != 0) | (np.diff(list_of) != 0))[: order.size]
    run = np.cumsum(is_new) - 1
    mean = np.bincount(run, worth[order]) / np.bincount(run)
    return order, place, mean[run]


def check_cost(cost: float) -> float:
    """A review costs a number of at least 0."""
    if not (np.isfinite(cost) and cost >= 0):
        raise InvalidInputError(f"the cost of a review must be a number of at least 0; got {cost!r}.")
    return float(cost)
