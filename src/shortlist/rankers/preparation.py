"""Columns made fit for models that need complete numbers of comparable size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

#: A category is frequent if it has so many rows.
_FREQUENT = 10
#: Numbers of the table that a model is fitted to, 1 GB of them: further categories share a column. Models copy it.
_MOST_NUMBERS = 2**27


def complete_numbers(categorical: NDArray[np.bool_], *, keep_missing: bool = False) -> ColumnTransformer:
    """Fill and standardise numbers; turn category codes into one column per frequent category.

    With ``keep_missing`` numbers stay as they are, for models that know what to do with a gap.

    A missing number becomes the median and a missing category a category of its own. Categories seen in
    fewer than 10 rows share a column, and so do those that first appear in new rows; so do the rarest of columns with
    thousands of categories, where the table would not fit into memory otherwise (``fit_columns``).

    >>> X = np.array([[1.0, 0.0], [np.nan, 1.0], [3.0, 1.0]])
    >>> complete_numbers(np.array([False, False])).fit_transform(X).round(2)
    array([[-1.22, -1.41],
           [ 0.  ,  0.71],
           [ 1.22,  0.71]])
    """
    filled = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    numbers = "passthrough" if keep_missing else filled
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-1),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=_FREQUENT, sparse_output=False),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, np.flatnonzero(~categorical)),
            ("categories", categories, np.flatnonzero(categorical)),
        ]
    )


def fit_columns(
    columns: ColumnTransformer, X: Any, weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Fit what ``complete_numbers`` gave, and prepare X: a row of weight w counts as w rows to medians and scales.

    How many rows a category is frequent by is counted without weights; rows of weight 0 are not there.

    >>> columns = complete_numbers(np.array([False]))
    >>> fit_columns(columns, np.array([[1.0], [np.nan], [4.0]]), np.array([1.0, 0.0, 2.0])).ravel().round(2)
    array([-1.41,  0.71,  0.71])
    """
    _, categories, where = columns.transformers[1]
    categories[-1].set_params(max_categories=_most_categories(X, where))
    if weight is None:
        return np.asarray(columns.fit_transform(X), dtype=np.float64)
    columns.fit(X[weight > 0])
    numbers = columns.named_transformers_["numbers"]
    where = columns.transformers[0][2]
    if where.size and hasattr(numbers, "steps"):
        fill, scale = numbers[0], numbers[1]
        fill.statistics_ = np.array([_weighted_median(X[:, column], weight) for column in where])
        scale.fit(fill.transform(X[:, where]), sample_weight=weight)
    return np.asarray(columns.transform(X), dtype=np.float64)


def _most_categories(X: Any, where: NDArray[np.int64]) -> int | None:
    """How many categories of a column get one of their own; None: all that are frequent.

    Trees of XGBoost would take the zeros of a sparse table for gaps, so it has to be a dense one.
    """
    if not where.size:
        return None
    room = _MOST_NUMBERS // X.shape[0] - (X.shape[1] - where.size)
    codes = [X[:, column] for column in where]
    if sum(np.nanmax(each, initial=0) + 2 for each in codes) <= room:
        return None
    frequent = [np.sum(np.unique(each, return_counts=True)[1] >= _FREQUENT) + 1 for each in codes]
    caps = np.arange(2, max(frequent) + 1)
    fits = np.minimum.outer(frequent, caps).sum(axis=0) <= room
    return None if fits[-1] else int(caps[fits].max(initial=2))


def _weighted_median(x: NDArray, weight: NDArray[np.float64]) -> float:
    """The median of values that are there ``weight`` times; 0 where none is known."""
    known = ~np.isnan(x) & (weight > 0)
    if not known.any():
        return 0.0
    order = np.argsort(x[known], kind="stable")
    values, below = x[known][order], np.cumsum(weight[known][order])
    middle = below[-1] / 2
    first, last = np.searchsorted(below, middle, side="left"), np.searchsorted(below, middle, side="right")
    return float((values[first] + values[last]) / 2)
