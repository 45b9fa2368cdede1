"""Columns brought to one scale, clipped and filled, and linear scores over them without making them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


# Sums may be reordered, so that several columns are added at once; missing values stay what they are.
@compiled(fastmath={"reassoc", "contract", "nsz"})
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
    sums = np.empty(rows)
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            value = np.float64(X[i, j])
            # Written so that a missing value passes both comparisons and makes the sum missing.
            value = low[j] if value < low[j] else value
            value = high[j] if value > high[j] else value
            total += weights[j] * value
        sums[i] = _filled_sum(X[i], low, high, fill, weights) if np.isnan(total) else total
    return sums


@compiled
def _filled_sum(
    row: NDArray,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    fill: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    total = 0.0
    for j in range(row.size):
        value = np.float64(row[j])
        total += weights[j] * (fill[j] if np.isnan(value) else min(max(value, low[j]), high[j]))
    return total


@compiled
def clipped_columns(
    X: NDArray, center: NDArray[np.float64], scale: NDArray[np.float64], clip: float, out: NDArray
) -> None:
    """Write clip((X − center) / scale, −clip, clip) to the first columns of ``out``, 0 where X is missing.

    >>> out = np.empty((1, 2))
    >>> clipped_columns(np.array([[9.0, np.nan]]), np.ones(2), np.full(2, 2.0), 3.0, out)
    >>> out
    array([[3., 0.]])
    """
    rows, columns = X.shape
    for i in range(rows):
        for j in range(columns):
            value = (np.float64(X[i, j]) - center[j]) / scale[j]
            value = 0.0 if np.isnan(value) else value
            out[i, j] = min(max(value, -clip), clip)
