"""Rows in bins, as the tree engine wants them.

Where a column is cut is decided by a sample of rows, drawn by a hash of their numbers: more rows would cost time and
move no cut by much, and the cuts do not depend on how rows are spread over files or machines.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from shortlist.kernels.machines import Sums
from shortlist.lists import Lists
from shortlist.rankers.boosting.trees.draws import NO_KEYS, drawn_rows

#: About so many rows decide where columns are cut; of fewer rows, all.
CUT_ROWS = 200_000


def training_matrix(
    X: Any,
    *,
    categorical: NDArray[np.bool_],
    max_bin: int = 256,
    n_jobs: int | None = None,
    ref: Any = None,
    lists: Lists | None = None,
) -> xgb.QuantileDMatrix:
    """X in bins, ready to train on; a validation matrix shares the bins of its training matrix ``ref``.

    Where the ``lists`` of the rows lie on several machines, so do the rows: all of them decide where columns are cut.
    """
    bins = {
        "feature_types": feature_types(categorical),
        "enable_categorical": True,
        "max_bin": max_bin,
        "nthread": n_jobs,
    }
    if ref is None and lists is not None and lists.place is not None:
        sample = spread_sample(X, lists, categorical)
        # The engine would mix the cuts of this thread with those of the other machines.
        with ThreadPoolExecutor(1) as apart:
            ref = apart.submit(xgb.QuantileDMatrix, sample, **bins).result()
    elif ref is None and X.shape[0] > CUT_ROWS:
        keys = NO_KEYS if lists is None else lists.row_keys
        ref = xgb.QuantileDMatrix(cut_sample([X], X.shape[0], categorical, keys), **bins)
    return xgb.QuantileDMatrix(X, ref=ref, **bins)


def spread_sample(X: NDArray, lists: Lists, categorical: NDArray[np.bool_]) -> NDArray:
    """What one machine with all rows would cut columns by: all of them, or those that ``cut_sample`` draws."""
    sums, place = lists.sums, lists.place
    assert place is not None
    n_rows = int(sums.sum(np.array([X.shape[0]], dtype=np.float64))[0])
    if n_rows <= CUT_ROWS:
        return lists.of_all_rows(X)
    drawn = drawn_rows(X.shape[0], CUT_ROWS / n_rows, seed=0, keys=lists.row_keys)
    order = np.argsort(sums.gather(place.rows[drawn]), kind="stable")
    return np.concatenate([sums.gather(X[drawn])[order], _largest(X, categorical, sums)[None]])


def _largest(X: NDArray, categorical: NDArray[np.bool_], sums: Sums) -> NDArray[np.float32]:
    """The largest code of each category on any machine; NaN elsewhere."""
    codes = np.fmax.reduce(X[:, categorical], axis=0, initial=-np.inf).astype(np.float64)
    largest = np.full(categorical.size, np.nan, dtype=np.float32)
    codes = sums.max(codes)
    largest[categorical] = np.where(np.isinf(codes), np.nan, codes)
    return largest


def feature_types(categorical: NDArray[np.bool_]) -> list[str]:
    """XGBoost's name for each column's kind."""
    return ["c" if is_category else "q" for is_category in categorical]


def cut_sample(
    blocks: Iterable[Any], n_rows: int, categorical: NDArray[np.bool_], keys: NDArray[np.uint64] = NO_KEYS
) -> Any:
    """The rows, out of ``n_rows`` that come in blocks, that decide where columns are cut; drawn by these keys.

    A last row has the largest code of each category: one that the sample lacks would be taken for another.
    """
    drawn = drawn_rows(n_rows, CUT_ROWS / n_rows, seed=0, keys=keys)
    sample: Any = None  # of wide tables the largest thing of all, so there is never more than one
    sparse, first = [], 0
    largest = np.full(categorical.size, np.nan, dtype=np.float32)
    for block in blocks:
        begin, end = np.searchsorted(drawn, [first, first + block.shape[0]])
        some = block[drawn[begin:end] - first]
        if issparse(some):
            sparse.append(some)
        else:
            sample = np.empty((drawn.size + 1, categorical.size), some.dtype) if sample is None else sample
            sample[begin:end] = some
        for column in np.flatnonzero(categorical):
            largest[column] = np.fmax(largest[column], np.fmax.reduce(block[:, column]))
        first += block.shape[0]
    if sparse:
        return vstack(sparse, format="csr")
    sample[-1] = largest
    return sample
