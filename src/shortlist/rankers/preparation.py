"""Columns made fit for models that need complete numbers of comparable size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def complete_numbers(categorical: NDArray[np.bool_], *, keep_missing: bool = False) -> ColumnTransformer:
    """Fill and standardise numbers; turn category codes into one column per frequent category.

    With ``keep_missing`` numbers stay as they are, for models that know what to do with a gap.

    A missing number becomes the median and a missing category a category of its own. Categories seen in
    fewer than 10 rows share a column, and so do those that first appear in new rows.

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
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10, sparse_output=False),
    )
    return ColumnTransformer(
        [
            ("numbers", numbers, np.flatnonzero(~categorical)),
            ("categories", categories, np.flatnonzero(categorical)),
        ]
    )
