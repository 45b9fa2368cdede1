"""Rows dealt into folds: wanted rows evenly, lists kept whole."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists
from shortlist.rankers.batch import Batch

#: Beside the seed, what the lots of a deal are drawn by; those of the rounds of boosting are numbered from 0.
DEAL = 2**32 - 1


def deal_folds(y: NDArray, lists: Lists, n_folds: int, seed: int) -> NDArray[np.int64]:
    """A fold number for each row; each fold gets its share of the wanted rows.

    Wanted rows, and then the others, are dealt in turn, in the order of a hash of the seed and what names the row: its
    id, or its place in the table. So rows fall into the same folds wherever they lie, and with ids in whatever order.
    With several lists, whole lists are dealt.

    >>> y = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    >>> fold = deal_folds(y, Lists.single(6), 2, seed=0)
    >>> np.bincount(fold), np.bincount(fold, y)
    (array([3, 3]), array([1., 1.]))
    """
    from shortlist.kernels.whole_sums import hash_rows  # noqa: PLC0415  whoever scores does not wait for kernels

    lot = hash_rows(
        y.size, lists.row_keys, np.random.SeedSequence([seed, DEAL]).generate_state(1, np.uint64)[0]
    )
    if not lists.is_one:
        return _deal_lists(y, lists, n_folds, lot)
    lot, wanted = lists.of_all_rows(lot), lists.of_all_rows(y > 0)
    fold = np.empty(wanted.size, dtype=np.int64)
    fold[np.lexsort((lot, ~wanted))] = np.arange(wanted.size) % n_folds
    return lists.own_rows(fold)


def _deal_lists(y: NDArray, lists: Lists, n_folds: int, lot: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Lists rich in wanted rows first, each to the fold with the fewest wanted rows so far, then the fewest rows.

    Lists with as many wanted rows come in the order of the least hash of their rows.
    """
    wanted = lists.of_all(np.bincount(lists.of_row, y > 0, minlength=len(lists)))
    sizes = lists.of_all(lists.sizes)
    least = lists.of_all(np.minimum.reduceat(lot[lists.order], lists.starts[:-1]) if len(lists) else lot)
    piles = [(0.0, 0, fold) for fold in range(n_folds)]
    fold_of_list = np.empty(sizes.size, dtype=np.int64)
    for number in np.lexsort((least, -wanted)):
        n_wanted, n_rows, fold = heapq.heappop(piles)
        fold_of_list[number] = fold
        heapq.heappush(piles, (n_wanted + wanted[number], n_rows + sizes[number], fold))
    return lists.own(fold_of_list)[lists.of_row]


def divisible(y: NDArray, lists: Lists) -> int:
    """Into how many folds the rows can be dealt so that each has a wanted row."""
    if lists.is_one:
        return int(lists.sums.sum(np.array([np.count_nonzero(y)], dtype=np.float64))[0])
    return int(np.count_nonzero(lists.of_all(np.bincount(lists.of_row, y > 0, minlength=len(lists)))))


def take(batch: Batch, rows: NDArray) -> Batch:
    """Some rows of a batch, given as positions or as a mask."""
    rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    return Batch(
        X=batch.X[rows],
        y=batch.y[rows],
        lists=batch.lists.part(rows),
        sample_weight=None if batch.sample_weight is None else batch.sample_weight[rows],
        categorical=batch.categorical,
    )


def without(batch: Batch, rows: NDArray[np.bool_]) -> Batch:
    """The batch with no weight on some rows: nothing is copied, and their margins can be watched while it trains."""
    if batch.sample_weight is None:  # 0 and 1 are exact in half the memory
        return replace(batch, sample_weight=(~rows).astype(np.float32))
    return replace(batch, sample_weight=np.where(rows, 0.0, batch.sample_weight))
