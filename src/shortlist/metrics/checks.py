"""Checks that the measures share: labels with something to find, and how far down the list k reaches."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.lists import Groups
from shortlist.metrics.ties import Floats
from shortlist.validation import check_budget, check_groups, check_score, check_wanted

#: A measure of one list of checked rows; NaN where the list cannot tell.
ListMeasure = Callable[[NDArray[np.bool_], Floats], float]


def check_labelled(y: ArrayLike, score: ArrayLike) -> tuple[NDArray[np.bool_], Floats]:
    """Labels and scores of the same rows, at least one of them wanted."""
    wanted = check_wanted(y)
    score = check_score(score, wanted.size)
    if not wanted.any():
        raise NoWantedRowsError(
            f"y marks none of its {wanted.size} rows as wanted, so there is nothing to find. Measure on rows "
            "that hold at least one wanted row; when splitting, stratify by y."
        )
    return wanted, score


def check_k(k: float, n_rows: int) -> int:
    """How many rows k is: a whole number up to n_rows, or a share of the rows in (0, 1), rounded up.

    >>> check_k(0.05, 1_000)
    50
    """
    if isinstance(k, numbers.Integral):
        return check_budget(k, n_rows, name="k")
    return _rows_of_share(k, n_rows)


def check_list_k(k: float) -> Callable[[int], int]:
    """As ``check_k`` where there are lists: k rows of each, all rows of a list that is shorter than k."""
    if isinstance(k, numbers.Integral):
        whole = check_budget(k, name="k")
        return lambda n_rows: min(whole, n_rows)
    _rows_of_share(k, 1)
    return lambda n_rows: _rows_of_share(k, n_rows)


def _rows_of_share(share: float, n_rows: int) -> int:
    if not isinstance(share, numbers.Real) or not 0 < share < 1:
        raise InvalidInputError(
            f"k must be a whole number of at least 1, or a share of the rows in (0, 1); got {share!r}."
        )
    # 0.07 * 100 is 7.000000000000001 in binary; that must not become 8 rows.
    return max(1, math.ceil(float(share) * n_rows - 1e-9 * n_rows))


def over_lists(measure: ListMeasure, y: ArrayLike, score: ArrayLike, groups: Groups | None) -> float:
    """The measure of all rows, or with groups its mean over the lists that can tell."""
    wanted, score = check_labelled(y, score)
    if groups is None:
        return measure(wanted, score)
    values = np.array([measure(wanted[rows], score[rows]) for rows in check_groups(groups, wanted.size)])
    told = ~np.isnan(values)
    return float(values[told].mean()) if told.any() else math.nan
