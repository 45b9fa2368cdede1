"""Rows shared between bins and curves read at margins, against the same row by row."""

import numpy as np
import pytest

from shortlist.kernels.margin_bins import BLOCK, bin_rows, read_grid, read_rows
from shortlist.kernels.whole_sums import STEPS

NO_WEIGHT = np.empty(0, np.float32)
LOW, PER_UNIT, BINS = -2.0, 100.0, 500


def some_rows(n):
    rng = np.random.default_rng(4)
    return rng.normal(size=n).astype(np.float32), rng.uniform(0.1, 3, n).astype(np.float32)


def binned(margin, weight):
    """The histogram by the definition: place, bin, and the part of the way to the next, in double precision."""
    place = np.clip((margin.astype(np.float64) - LOW) * PER_UNIT, 0, BINS - 1.0001)
    bins = place.astype(int)
    steps = np.rint(STEPS * weight.astype(np.float64)) if weight.size else np.full(margin.size, STEPS)
    upper = np.rint(steps * (place - bins))
    return np.bincount(bins, steps - upper, BINS) + np.bincount(bins + 1, upper, BINS)


def read_plainly(margin, weight, curve):
    """The curve by the definition, in single precision."""
    last = np.float32(curve.size - 1.01)
    place = np.clip((margin - np.float32(LOW)) * np.float32(PER_UNIT), np.float32(0), last)
    bins = place.astype(int)
    value = curve[bins] + (place - bins.astype(np.float32)) * (curve[bins + 1] - curve[bins])
    return weight * value if weight.size else value


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_change_no_bit(n, weighted):
    margin, weight = some_rows(n)
    weight = weight if weighted else NO_WEIGHT
    lanes = np.zeros((4, BINS))
    bin_rows(margin, weight, LOW, PER_UNIT, lanes)
    np.testing.assert_array_equal(lanes.sum(axis=0), binned(margin, weight))
    curve = np.random.default_rng(5).normal(size=BINS).astype(np.float32)
    out = np.empty(n, np.float32)
    read_rows(margin, weight, LOW, PER_UNIT, curve, out)
    np.testing.assert_array_equal(out, read_plainly(margin, weight, curve))


def test_binning_keeps_mass_and_mean():
    margin, weight = some_rows(300)
    lanes = np.zeros((4, 400))
    bin_rows(margin, weight, -10.0, 20.0, lanes)
    histogram = lanes.sum(axis=0) / STEPS
    place = np.arange(400) / 20 - 10
    assert histogram.sum() == pytest.approx(weight.sum(), rel=1e-5)
    assert histogram @ place == pytest.approx(weight @ margin, abs=1e-2)


def test_read_grid_is_linear_interpolation():
    grid = np.random.default_rng(5).normal(size=(3, 50))
    at = np.random.default_rng(6).uniform(0, 4.8, 30)
    for curve, read in zip(grid, read_grid(at, 0.0, 10.0, grid), strict=True):
        np.testing.assert_allclose(read, np.interp(at, np.arange(50) / 10, curve))
