"""Sums of gain x discount(rank) over lists: the shape that NDCG, cost saved and precision at k share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.sorting import descending_within, kth_largest
from shortlist.lists import Lists
from shortlist.metrics.ties import Floats, Ties, share_ties, tie_starts

#: What a unit of gain counts at ranks 1 to n, given n.
Discounts = Callable[[int], Floats]


def discounts_in_lists(discounts: Discounts, lists: Lists) -> Floats:
    """The discount of each place, list by list.

    >>> discounts_in_lists(lambda n: 1 / np.arange(1, n + 1), Lists.from_groups([1, 1, 2]))
    array([1. , 0.5, 1. ])
    """
    if len(lists) == 1:
        return discounts(lists.n_rows)
    return discounts(int(lists.sizes.max()))[lists.places]


def list_totals(
    gains: Floats, score: Floats, lists: Lists, discounts: Floats, *, ties: Ties = "average"
) -> Floats:
    """Sum gain x discount over each list, ranked by score; discounts as ``discounts_in_lists`` gives them.

    >>> gains, score = np.array([3.0, 1.0]), np.array([0.2, 0.7])
    >>> list_totals(gains, score, Lists.single(2), np.array([1.0, 0.5]))
    array([2.5])
    """
    if len(lists) == 1:
        return np.array([_total_of_one(gains, score, discounts, ties)])
    order, starts = _ranked(score, lists), lists.starts[:-1]
    shared = share_ties(discounts, tie_starts(score[order], starts), ties)
    return np.add.reduceat(gains[order] * shared, starts)


def _total_of_one(gains: Floats, score: Floats, discounts: Floats, ties: Ties) -> float:
    """The total of one list: a plain sort and a look-up of the rows that gain cost less than an argsort."""
    matter = np.flatnonzero(gains)
    matter = matter[np.argsort(score[matter])]  # look-ups in order stay in the cache
    ranked = np.sort(score)
    first, last = (score.size - np.searchsorted(ranked, score[matter], side) for side in ("right", "left"))
    shared = discounts[last - 1]
    tied = np.flatnonzero(last - first > 1)
    if ties == "average" and tied.size:
        running = np.concatenate([[0.0], np.cumsum(discounts)])
        shared[tied] = (running[last[tied]] - running[first[tied]]) / (last[tied] - first[tied])
    return float(gains[matter] @ shared)


def ideal_totals(gains: Floats, lists: Lists, discounts: Floats) -> Floats:
    """Sum gain x discount over each list in its best order: by gain, as discounts do not rise with rank."""
    best = np.sort(gains)[::-1] if len(lists) == 1 else gains[_ranked(gains, lists)]
    return np.add.reduceat(best * discounts, lists.starts[:-1])


def contenders(gains: Floats, score: Floats, k: int) -> NDArray[np.int64]:
    """Rows of one list that its first k, or its ideal first k, can hold: no other can change a measure at k.

    Finding them needs no sort, which is most of the time that a measure of a long table would take.

    >>> contenders(np.array([0.0, 0.0, 5.0, 0.0]), np.array([0.1, 0.9, 0.2, 0.4]), 1)
    array([1, 2])
    """
    if k >= score.size:
        return np.arange(score.size)
    matter = gains > 0
    if np.count_nonzero(matter) > k:
        matter = gains >= kth_largest(gains[matter], k)
    return np.flatnonzero(matter | (score >= kth_largest(score, k)))


def _ranked(score: Floats, lists: Lists) -> NDArray[np.int64]:
    """Rows list by list, each in ranked order; tied rows lie in any order, for they share their discounts."""
    return lists.order[descending_within(score[lists.order], lists.starts)]
