"""The best threshold on one column, found from sums over bins."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_stump(bins, pull, n_bins, categorical):  # type: ignore[no-untyped-def]
    """The weak ranker h(x) in {0, 1} with the largest abs(Σ pull x h).

    ``bins`` (columns x rows, uint8) holds 0 for a missing value, else 1 to ``n_bins[column]`` in rising order.
    A ranker says 1 for bins above a threshold (of a categorical column: for one bin), and either 0 or 1
    where the value is missing. Returns column, bin, what missing values get, and the sum; of rankers that are equal
    up to rounding, the first.
    """
    column, cut, missing_gets, best = 0, 0, 0, 0.0
    sums = np.empty(256)
    for c in range(bins.shape[0]):
        sums[:] = 0.0
        for i in range(bins.shape[1]):
            sums[bins[c, i]] += pull[i]
        above = 0.0
        for b in range(n_bins[c], 0, -1):
            above = sums[b] if categorical[c] else above + sums[b]
            for gets in range(2):
                value = above + gets * sums[0]
                if abs(value) > abs(best) + 1e-6:
                    column, cut, missing_gets, best = c, b, gets, value
    return column, cut, missing_gets, best
