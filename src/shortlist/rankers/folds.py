"""Rows dealt into folds: wanted rows evenly, lists kept whole."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists
from shortlist.rankers.batch import Batch


def deal_folds(y: NDArray, lists: Lists, n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold number for each row, chosen at random; each fold gets its share of the wanted rows.

    With several lists, whole lists are dealt.

    >>> y = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    >>> fold = deal_folds(y, Lists.single(6), 2, np.random.default_rng(0))
    >>> np.bincount(fold), np.bincount(fold, y)
    (array([3, 3]), array([1., 1.]))
    """
    if not lists.is_one:
        return _deal_lists(y, lists, n_folds, rng)
    fold = np.empty(y.size, dtype=np.int64)
    dealt = 0
    for rows in (np.flatnonzero(y > 0), np.flatnonzero(~(y > 0))):
        fold[rng.permutation(rows)] = (dealt + np.arange(rows.size)) % n_folds
        dealt += rows.size
    return fold


def _deal_lists(y: NDArray, lists: Lists, n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Lists rich in wanted rows first, each to the fold with the fewest wanted rows so far, then the fewest rows."""
    wanted = lists.of_all(np.bincount(lists.of_row, y > 0, minlength=len(lists)))
    sizes = lists.of_all(lists.sizes)
    order = rng.permutation(sizes.size)
    order = order[np.argsort(-wanted[order], kind="stable")]
    piles = [(0.0, 0, fold) for fold in range(n_folds)]
    fold_of_list = np.empty(sizes.size, dtype=np.int64)
    for number in order:
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
