import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shortlist.kernels.stream.clipped_sums import clipped_sums
from shortlist.stream.columns import StreamColumns

floats = st.floats(-1e6, 1e6) | st.just(np.nan)


def observed(X, categorical=None, **settings):
    X = np.asarray(X, dtype=float)
    columns = StreamColumns(
        np.zeros(X.shape[1], bool) if categorical is None else np.array(categorical), **settings
    )
    columns.observe(X, np.random.default_rng(0))
    return columns


@settings(max_examples=40)
@given(arrays(np.float64, (7, 3), elements=floats), arrays(np.float64, 3, elements=st.floats(-5, 5)))
def test_kernel_matches_plain_numpy(X, weights):
    low, high, fill = np.array([-1.0, -100.0, 0.0]), np.array([1.0, 100.0, 1e6]), np.array([0.5, 2.0, 3.0])
    plain = (np.where(np.isnan(X), fill, np.clip(X, low, high)) * weights).sum(axis=1)
    np.testing.assert_allclose(clipped_sums(X, low, high, fill, weights), plain, rtol=1e-9, atol=1e-6)


def test_scores_in_one_pass_equal_scores_of_transformed_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1e-6, 1, 1e3, 1e8] + [0, 5, -1e4, 1e9]
    X[rng.random(X.shape) < 0.1] = np.nan
    columns, w = observed(X), rng.normal(size=4)
    difference = columns.linear_scores(X, w) - columns.transform(X) @ w
    np.testing.assert_allclose(difference, difference[0], rtol=1e-6)  # a constant does not change a ranking


def test_scales_are_robust_to_outliers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 1))
    x[:5] = 1e3
    columns = observed(x)
    assert columns.scale[0] < 12
    assert abs(columns.center[0]) < 0.2
    assert np.abs(columns.transform(x)).max() <= 10


def test_constant_rare_and_empty_columns():
    X = np.zeros((400, 3))
    X[:4, 1] = 1.0
    X[:, 2] = np.nan
    Z = observed(X).transform(X)
    assert np.isfinite(Z).all()
    assert (Z[:, 0] == 0).all()
    assert Z[0, 1] > 5
    assert (Z[:, 2] == 0).all()


def test_scales_follow_the_stream_unless_frozen():
    rng = np.random.default_rng(0)
    following, frozen = observed(rng.normal(size=(500, 1))), observed(rng.normal(size=(500, 1)), frozen=True)
    for _ in range(12):
        window = rng.normal(50, 10, size=(500, 1))
        following.observe(window, rng)
        frozen.observe(window, rng)
    assert following.center[0] == pytest.approx(50, abs=2)
    assert frozen.center[0] == pytest.approx(0, abs=0.5)


def test_categories_become_columns_and_unknown_ones_none():
    X = [[0, 1.0], [1, 2.0], [1, 3.0], [np.nan, 4.0]]
    columns = observed(X, [True, False])
    assert columns.n_columns == 3
    flags = columns.transform(np.array([[0, 1.0], [1, 1.0], [7, 1.0], [np.nan, 1.0]]))[:, 1:]
    assert flags.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]


def test_without_standardizing_rows_stay_as_they_are():
    X = np.array([[1e6, -3.0], [5.0, np.nan]])
    assert observed(X, standardize=False).transform(X).tolist() == [[1e6, -3.0], [5.0, 0.0]]
