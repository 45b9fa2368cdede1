"""The sigmoid surrogate of AP: every kernel against the plain definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.ap_surrogates import add_logistic, binned_gradient, direct_gradient
from shortlist.kernels.whole_sums import spread

NO_WEIGHT = np.empty(0, np.float32)


def loss_reference(margin, wanted, weight, alpha):
    """1 - AP_sig as its definition says."""
    at = margin[wanted]
    with np.errstate(over="ignore"):
        sigma = 1 / (1 + np.exp(-alpha * (margin[None, :] - at[:, None])))
    precision = (sigma[:, wanted] @ weight[wanted]) / (sigma @ weight)
    return 1 - np.average(precision, weights=weight[wanted])


def gradient_reference(margin, wanted, weight, alpha):
    """The derivative of 1 - AP_sig by the formulas, all pairs at once."""
    with np.errstate(over="ignore"):
        sigma = 1 / (1 + np.exp(-alpha * (margin[:, None] - margin[wanted][None, :])))  # [p, i]
    slope = alpha * sigma * (1 - sigma)
    own = weight[wanted]
    a, c = weight[wanted] @ sigma[wanted], weight[~wanted] @ sigma[~wanted]
    da, dc = weight[wanted] @ slope[wanted], weight[~wanted] @ slope[~wanted]
    square = own / (a + c) ** 2
    gradient = np.empty(margin.size)
    gradient[~wanted] = weight[~wanted] * (slope[~wanted] @ (a * square))
    gradient[wanted] = -weight[wanted] * (slope[wanted] @ (c * square)) + square * (da * c - a * dc)
    return gradient / own.sum()


def direct(margin, wanted, weight, alpha):
    out = np.zeros(margin.size)
    direct_gradient(margin, wanted, weight, np.arange(margin.size), np.array([0, margin.size]), alpha, out)
    return out


def binned(margin, wanted, weight, alpha):
    out = np.zeros(margin.size, np.float32)
    binned_gradient(margin, np.flatnonzero(wanted), weight, alpha, out)
    return out


def some_rows(seed, n=300, n_wanted=20, spread=1.0):
    rng = np.random.default_rng(seed)
    wanted = np.zeros(n, bool)
    wanted[rng.choice(n, n_wanted, replace=False)] = True
    margin = (spread * (rng.normal(size=n) + wanted)).astype(np.float32)
    return margin, wanted, rng.uniform(0.1, 3, n).astype(np.float32)


@pytest.mark.parametrize("alpha", [0.5, 5.0, 50.0])
def test_formulas_are_the_derivative(alpha):
    margin, wanted, weight = some_rows(0, n=40, n_wanted=6, spread=2 / alpha)
    margin = margin.astype(np.float64)
    analytic = gradient_reference(margin, wanted, weight, alpha)
    step = 1e-5 / alpha
    for i in range(margin.size):
        up, down = margin.copy(), margin.copy()
        up[i] += step
        down[i] -= step
        rise = loss_reference(up, wanted, weight, alpha) - loss_reference(down, wanted, weight, alpha)
        assert analytic[i] == pytest.approx(rise / (2 * step), rel=1e-5, abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from([0.5, 3.0, 50.0]), st.integers(1, 59))
def test_direct_sum_matches_reference(seed, alpha, n_wanted):
    margin, wanted, weight = some_rows(seed, n=60, n_wanted=n_wanted, spread=4 / alpha)
    expected = gradient_reference(margin.astype(float), wanted, weight.astype(float), alpha)
    np.testing.assert_allclose(direct(margin, wanted, weight, alpha), expected, rtol=1e-4, atol=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.sampled_from([0.5, 5.0, 50.0]), st.floats(0.1, 30))
def test_binned_gradient_matches_quadratic_sum(seed, alpha, spread):
    margin, wanted, weight = some_rows(seed, n=500, n_wanted=40, spread=spread / alpha)
    for w in (weight, NO_WEIGHT):
        expected = gradient_reference(
            margin.astype(float), wanted, w.astype(float) if w.size else np.ones(margin.size), alpha
        )
        error = np.abs(binned(margin, wanted, w, alpha) - expected)
        assert error.max() <= 1e-3 * np.abs(expected).max()


def test_binned_gradient_on_a_long_list():
    margin, wanted, _ = some_rows(1, n=200_000, n_wanted=50, spread=1.0)
    expected = gradient_reference(margin.astype(float), wanted, np.ones(margin.size), 5.0)
    error = np.abs(binned(margin, wanted, NO_WEIGHT, 5.0) - expected)
    assert error.max() <= 3e-4 * np.abs(expected).max()


def test_equal_weights_change_nothing_but_a_copy_counts_twice():
    margin, wanted, _ = some_rows(2, n=80, n_wanted=9)
    ones = np.ones(80, np.float32)
    np.testing.assert_allclose(
        direct(margin, wanted, 3 * ones, 2.0), direct(margin, wanted, NO_WEIGHT, 2.0), rtol=1e-5
    )
    twice = ones.copy()
    twice[:10] = 2
    copied = direct(np.r_[margin, margin[:10]], np.r_[wanted, wanted[:10]], NO_WEIGHT, 2.0)
    folded = copied[:80]
    folded[:10] += copied[80:]
    np.testing.assert_allclose(direct(margin, wanted, twice, 2.0), folded, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 50.0])
@pytest.mark.parametrize("gradient", [direct, binned])
def test_extreme_margins_stay_finite(gradient, alpha):
    margin = np.array([1e4, -1e4, 0, 5, -1e4, 1e4], np.float32)
    wanted = np.array([0, 1, 1, 0, 0, 1], bool)
    assert np.isfinite(gradient(margin, wanted, NO_WEIGHT, alpha)).all()


def test_one_wanted_row_at_the_bottom_is_lifted():
    margin = np.array([2.0, 1.0, 0.0], np.float32)
    gradient = direct(margin, np.array([False, False, True]), NO_WEIGHT, 1.0)
    assert gradient[2] < 0 < gradient[1]
    assert gradient.sum() == pytest.approx(0, abs=1e-12)  # a shift of all margins changes nothing


def test_lists_are_independent():
    margin, wanted, weight = some_rows(3, n=50, n_wanted=8)
    out = np.zeros(50)
    direct_gradient(margin, wanted, weight, np.arange(50), np.array([0, 20, 20, 50]), 2.0, out)
    for part in (slice(0, 20), slice(20, 50)):
        np.testing.assert_allclose(
            out[part], direct(margin[part], wanted[part], weight[part], 2.0), rtol=1e-12
        )


def test_spread_is_the_standard_deviation():
    values = (1e4 + np.random.default_rng(8).normal(size=1_000)).astype(np.float32)
    assert spread(values) == pytest.approx(values.astype(float).std(), rel=1e-6)


def test_add_logistic_matches_numpy():
    rng = np.random.default_rng(7)
    pull, weight = rng.random((2, 2_000)).astype(np.float32)
    margin = np.linspace(-29, 29, 2_000).astype(np.float32)
    wanted = rng.random(2_000) < 0.5
    grad, hess = np.empty((2, 2_000), np.float32)
    add_logistic(margin, wanted, weight, -pull, 0.5, grad, hess)
    p = 1 / (1 + np.exp(-margin.astype(float)))
    np.testing.assert_allclose(grad, weight * (p - wanted) - 0.5 * pull, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(hess, weight * p * (1 - p) + 0.5 * pull, rtol=1e-4)


def test_chances_are_right_in_proportion():
    margin = np.linspace(-30, 30, 10_001).astype(np.float32)
    nothing, grad = np.zeros(margin.size, np.float32), np.empty(margin.size, np.float32)
    add_logistic(margin, nothing > 0, NO_WEIGHT, nothing, 0.0, grad, nothing.copy())
    np.testing.assert_allclose(grad, 1 / (1 + np.exp(-margin.astype(float))), rtol=5e-5)


def test_a_row_counts_the_same_wherever_it_lies():
    """Blocks of rows and single rows are worked out by different instructions; the same model must come of both."""
    rng = np.random.default_rng(9)
    margin, pull = rng.normal(size=(2, 83)).astype(np.float32)
    wanted = rng.random(83) < 0.3
    together, alone = np.empty((2, 2, 83), np.float32)
    add_logistic(margin, wanted, NO_WEIGHT, pull, 0.3, *together)
    for i in range(83):
        row = slice(i, i + 1)
        add_logistic(margin[row], wanted[row], NO_WEIGHT, pull[row], 0.3, *alone[:, row])
    np.testing.assert_array_equal(alone, together)
    # An empty array next to the result looks to the compiler as if the two could overlap.
    add_logistic(margin, wanted, alone[0, :0], pull, 0.3, *alone)
    np.testing.assert_array_equal(alone, together)
