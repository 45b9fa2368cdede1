"""The best threshold on one column, found from sums over bins."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled


@compiled
def best_stump(bins, rows, starts, usual, pull, n_bins, categorical):  # type: ignore[no-untyped-def]
    """The weak ranker h(x) in {0, 1} with the largest abs(Σ pull x h).

    Column c has ``bins[starts[c]:starts[c + 1]]``: 0 for a missing value, else 1 to ``n_bins[c]`` in rising order,
    of the rows in ``rows`` at the same places; other rows are in bin ``usual[c]``. Empty ``rows``: all rows in order.
    A ranker says 1 for bins above a threshold (of a categorical column: for one bin), and either 0 or 1
    where the value is missing. Returns column, bin, what missing values get, and the sum; of rankers that are equal
    up to rounding, the first.
    """
    column, cut, missing_gets, best = 0, 0, 0, 0.0
    sums = np.empty(256)
    total = pull.sum()
    for c in range(n_bins.size):
        sums[:] = 0.0
        if rows.size == 0:
            for i in range(pull.size):
                sums[bins[starts[c] + i]] += pull[i]
        else:
            for place in range(starts[c], starts[c + 1]):
                sums[bins[place]] += pull[rows[place]]
            sums[usual[c]] += total - sums.sum()
        above = 0.0
        for b in range(n_bins[c], 0, -1):
            above = sums[b] if categorical[c] else above + sums[b]
            for gets in range(2):
                value = above + gets * sums[0]
                if abs(value) > abs(best) + 1e-6:
                    column, cut, missing_gets, best = c, b, gets, value
    return column, cut, missing_gets, best
