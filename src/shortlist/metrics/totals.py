"""Sums of gain x discount(rank) over lists: the shape that NDCG, cost saved and precision at k share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists
from shortlist.metrics.ties import Floats, Ties, share_ties, tie_starts

#: What a unit of gain counts at ranks 1 to n, given n.
Discounts = Callable[[int], Floats]


def list_totals(
    gains: Floats,
    score: Floats,
    lists: Lists,
    discounts: Discounts,
    *,
    cutoff: int | None = None,
    ties: Ties = "average",
) -> Floats:
    """The total of each list, ranked by score. ``cutoff``: discounts beyond it are 0.

    >>> gains, score = np.array([3.0, 1.0]), np.array([0.2, 0.7])
    >>> list_totals(gains, score, Lists.single(2), lambda n: 1 / np.arange(1, n + 1))
    array([2.5])
    """
    order, starts = _ranked(score, lists, cutoff)
    sizes = np.diff(starts, append=order.size)
    ranks = np.arange(order.size) - np.repeat(starts, sizes)
    by_rank = discounts(int(sizes.max()))[ranks]
    shared = share_ties(by_rank, tie_starts(score[order], starts), ties)
    return np.add.reduceat(gains[order] * shared, starts)


def ideal_totals(gains: Floats, lists: Lists, discounts: Discounts, *, cutoff: int | None = None) -> Floats:
    """The best total of each list: rows ranked by their gains, for discounts that do not rise with rank."""
    return list_totals(gains, gains, lists, discounts, cutoff=cutoff)


def top_candidates(score: Floats, k: int) -> NDArray[np.int64]:
    """Rows that can be among the first k: those that score no less than the k-th, in row order.

    Finding them needs no sort, which is most of the time that a measure of a long table would take.

    >>> top_candidates(np.array([0.1, 0.9, 0.4, 0.4]), 2)
    array([1, 2, 3])
    """
    kth = score.size - k
    return np.flatnonzero(score >= np.partition(score, kth)[kth])


def _ranked(score: Floats, lists: Lists, cutoff: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows list by list in ranked order, and where each list starts."""
    if len(lists) > 1:
        return np.lexsort((-score, lists.of_row)), lists.starts[:-1]
    short = cutoff is not None and cutoff < score.size
    rows = top_candidates(score, cutoff) if short and cutoff else np.arange(score.size)
    return rows[np.argsort(-score[rows], kind="stable")], lists.starts[:-1]
