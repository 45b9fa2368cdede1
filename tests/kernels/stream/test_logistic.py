import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from shortlist.kernels.stream.finite import all_within
from shortlist.kernels.stream.logistic import residuals, slope, weighted_rows


@settings(max_examples=40)
@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-60, 60)), st.integers(0, 99))
def test_residuals_match_plain_numpy(margin, seed):
    rng = np.random.default_rng(seed)
    wanted, weights, curvature = rng.random(margin.size) < 0.5, rng.random(margin.size), np.empty(margin.size)
    errors = residuals(margin, wanted, weights, curvature)
    chance = expit(np.clip(margin, -40, 40))
    np.testing.assert_allclose(errors, weights * (chance - wanted), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(curvature, weights * chance * (1 - chance), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (255, 3), (256, 8), (700, 5)])
def test_slope_matches_plain_numpy(rows, columns):
    rng = np.random.default_rng(rows)
    Z, beta = rng.normal(size=(rows, columns)), rng.normal(size=columns + 1)
    wanted, weights, curvature = rng.random(rows) < 0.3, rng.random(rows), np.empty(rows)
    chance = expit(Z @ beta[:-1] + beta[-1])
    plain = np.append(Z, np.ones((rows, 1)), axis=1).T @ (weights * (chance - wanted))
    np.testing.assert_allclose(slope(Z, beta, wanted, weights, curvature), plain, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(curvature, weights * chance * (1 - chance), rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weighted_rows_match_plain_numpy(dtype):
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(20, 3)).astype(dtype), rng.random(20)
    assert weighted_rows(Z, weights).dtype == dtype
    np.testing.assert_allclose(weighted_rows(Z, weights), Z * weights[:, None], rtol=1e-6)


@pytest.mark.parametrize("place", [0, 7, 8, 999])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 4e38, -4e38])
def test_one_value_that_is_not_finite_or_too_large_is_found(place, value):
    values = np.random.default_rng(0).uniform(-3e38, 3e38, size=1_000)
    assert all_within(values, 3.4e38)
    values[place] = value
    assert not all_within(values, 3.4e38)
