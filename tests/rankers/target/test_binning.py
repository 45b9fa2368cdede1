import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.target.binning import Bins, quantile_thresholds, shortest_between

FINITE = st.floats(-1e12, 1e12, allow_nan=False)


def learn(column, *, categorical=False, weight=None, max_bins=64):
    return Bins.learn(
        np.asarray(column, float)[:, None],
        np.array([categorical]),
        weight,
        max_bins,
        np.random.default_rng(0),
    )


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=200)
def test_the_shortest_number_lies_between(a, b):
    low, high = min(a, b), max(a, b)
    if low < high:
        assert low <= shortest_between(low, high) < high


@given(st.lists(FINITE, min_size=2, max_size=60), st.integers(2, 20))
@settings(max_examples=60)
def test_thresholds_part_values_and_bins_say_on_which_side(values, max_bins):
    bins = learn(values, max_bins=max_bins)
    thresholds = bins.thresholds[0]
    assert thresholds.size < max_bins
    assert np.all(np.diff(thresholds) > 0)
    code, missing = bins.column(0, np.array(values))
    assert not missing.any()
    for number, threshold in enumerate(thresholds):
        np.testing.assert_array_equal(code <= number, np.array(values) <= threshold)
        assert 0 < np.sum(code <= number) < len(values)


def test_few_values_get_a_bin_each():
    assert learn([3, 1, 2, 2, np.nan]).thresholds[0].tolist() == [1.5, 2.0]


def test_bins_hold_about_equal_weight():
    values = np.random.default_rng(0).exponential(size=10_000)
    code, _ = learn(values, max_bins=16).column(0, values)
    assert np.bincount(code).min() > 500
    assert np.bincount(code).max() < 750


def test_a_weight_counts_as_so_many_rows():
    rng = np.random.default_rng(1)
    values, weight = rng.normal(size=200), rng.integers(0, 4, size=200)
    repeated = np.repeat(values, weight)
    expected = quantile_thresholds(repeated, np.ones(repeated.size), 8)
    np.testing.assert_array_equal(quantile_thresholds(values, weight.astype(float), 8), expected)


def test_up_to_64_categories_have_a_bin_each_and_rare_ones_share_one():
    assert learn(np.arange(64), categorical=True).n_bins[0] == 64
    codes = np.concatenate([np.repeat(np.arange(63), 5), np.arange(63, 500)])
    bins = learn(codes, categorical=True)
    assert bins.n_bins[0] == 64
    assert bins.has_rare(0)
    assert np.unique(bins.bin_of_code[0][:63]).size == 63
    assert set(bins.bin_of_code[0][63:]) == {63}


def test_codes_that_training_did_not_have_count_as_missing():
    bins = learn([0, 1, 2], categorical=True)
    _, missing = bins.column(0, np.array([1.0, 3.0, -1.0, np.nan]))
    assert missing.tolist() == [False, True, True, True]


def test_too_many_categories_are_refused():
    with pytest.raises(InvalidInputError, match=r"65537 categories.*drop it"):
        learn(np.arange(2**16 + 1), categorical=True)
    assert learn(np.arange(2**16), categorical=True).n_bins[0] == 64


def test_negative_codes_are_refused():
    with pytest.raises(InvalidInputError, match="code -1"):
        learn([-1, 0, 1], categorical=True)


@given(st.sets(st.integers(-10_000, 10_000), min_size=2, max_size=40), st.sampled_from([10, 60, 100]))
@settings(max_examples=100)
def test_thresholds_part_decimals_as_they_part_their_float32(numbers, unit):
    written = np.array(sorted(numbers)) / unit
    thresholds = quantile_thresholds(written.astype(np.float32), np.ones(written.size), max_bins=256)
    assert thresholds.size == written.size - 1
    np.testing.assert_array_equal(np.searchsorted(thresholds, written), np.arange(written.size))
    np.testing.assert_array_equal(
        np.searchsorted(thresholds, written.astype(np.float32)), np.arange(written.size)
    )
