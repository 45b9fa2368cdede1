"""Margins on a grid of narrow bins: rows' weights shared between the two bins around each, and curves read there.

A pass over all rows takes them block by block: first where each margin lies, which runs side by side; then what is
looked up there, row by row; so nothing but margins and results goes through memory. Nothing is rounded otherwise than
row by row.
"""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled
from shortlist.kernels.whole_sums import STEPS

#: Rows of a block: what is noted of them stays in the nearest cache.
BLOCK = 1024


@compiled(inline="always")
def _find_places(margin, low, per_unit, last, bins, parts):  # type: ignore[no-untyped-def]
    """The bin of each margin and how far it lies on the way to the next, in the precision of ``last``."""
    first = last - last
    for i in range(margin.size):
        place = min(max((margin[i] - low) * per_unit, first), last)
        whole = np.floor(
            place
        )  # a float still: a difference from an integer would be one of double precision
        bins[i] = np.int32(whole)
        parts[i] = place - whole


@compiled
def bin_rows(margin, weight, low, per_unit, lanes):  # type: ignore[no-untyped-def]
    """Share each row's weight between the two bins around it, in whole steps; rows outside go into the outermost.

    Rows take turns at the histograms in ``lanes`` (four): neighbours often share a bin, and would wait for each other.
    """
    last = lanes.shape[1] - 1.0001
    bins, parts = np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK)
    for first in range(0, margin.size, BLOCK):
        here = margin[first : first + BLOCK]
        _find_places(here, low, per_unit, last, bins, parts)
        for i in range(here.size):
            w = STEPS if weight.size == 0 else np.rint(STEPS * weight[first + i])
            upper = np.rint(w * parts[i])
            # Without a sign, so that no index is checked for counting from the end.
            k = np.uintp(bins[i])
            lanes[i & 3, k] += w - upper
            lanes[i & 3, k + np.uintp(1)] += upper


@compiled
def read_rows(margin, weight, low, per_unit, curve, out):  # type: ignore[no-untyped-def]
    """Each row's weight times the curve at its margin, in single precision."""
    low, per_unit, last = np.float32(low), np.float32(per_unit), np.float32(curve.size - 1.01)
    bins = np.empty(BLOCK, dtype=np.int32)
    parts, below = np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.float32)
    above = np.empty(BLOCK, dtype=np.float32)
    for first in range(0, margin.size, BLOCK):
        here, result = margin[first : first + BLOCK], out[first : first + BLOCK]
        _find_places(here, low, per_unit, last, bins, parts)
        for i in range(here.size):
            k = np.uintp(bins[i])
            below[i], above[i] = curve[k], curve[k + np.uintp(1)]
        for i in range(here.size):
            result[i] = below[i] + parts[i] * (above[i] - below[i])
        if weight.size:
            for i in range(here.size):
                result[i] *= weight[first + i]


@compiled
def read_grid(margin, low, per_unit, grid):  # type: ignore[no-untyped-def]
    """The curves on the grid (one per row of ``grid``) at each margin, by linear interpolation."""
    last = grid.shape[1] - 1.0001
    out = np.empty((grid.shape[0], margin.size))
    for i in range(margin.size):
        place = min(max((margin[i] - low) * per_unit, 0.0), last)
        k = int(place)
        for c in range(grid.shape[0]):
            out[c, i] = grid[c, k] + (place - k) * (grid[c, k + 1] - grid[c, k])
    return out


@compiled
def bin_weights(margin, weights, low, per_unit, histogram):  # type: ignore[no-untyped-def]
    """Share each column of ``weights`` between the two bins around its margin, a histogram per row, in whole steps."""
    last = histogram.shape[1] - 1.0001
    for i in range(margin.size):
        place = min(max((margin[i] - low) * per_unit, 0.0), last)
        k = int(place)
        for c in range(weights.shape[0]):
            w = np.rint(weights[c, i])
            upper = np.rint(w * (place - k))
            histogram[c, k] += w - upper
            histogram[c, k + 1] += upper
