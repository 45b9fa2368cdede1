"""Scores of linear models over columns that are clipped and filled on the way."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


# Sums may be reordered, so that several columns are added at once; missing values stay what they are.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def clipped_sums(
    X: NDArray,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    fill: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Row by row Σ_j weights[j] · clip(X[i, j], low[j], high[j]), a missing value counting as fill[j].

    >>> clipped_sums(np.array([[9.0, np.nan]]), np.zeros(2), np.ones(2), np.full(2, 0.5), np.array([2.0, 4.0]))
    array([4.])
    """
    rows, columns = X.shape
    sums = np.zeros(rows)
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            value = np.float64(X[i, j])
            value = fill[j] if np.isnan(value) else min(max(value, low[j]), high[j])
            total += weights[j] * value
        sums[i] = total
    return sums
