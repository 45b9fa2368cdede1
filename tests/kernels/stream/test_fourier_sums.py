import numpy as np
import pytest

from shortlist.kernels.stream.fourier_sums import fourier_columns, fourier_sums


def parts(seed=0, rows=37, columns=8, features=24):
    rng = np.random.default_rng(seed)
    Z = rng.normal(0, 3, size=(rows, columns)).astype(np.float32)
    W = rng.normal(size=(columns, features)).astype(np.float32)
    return Z, W, rng.uniform(size=features).astype(np.float32), rng.normal(size=features).astype(np.float32)


def columns(Z, W, offset):
    out = np.full((len(Z), 3 + offset.size), np.nan, dtype=np.float32)
    fourier_columns(Z, W, offset, np.float32(0.5), out, 3)
    assert np.isnan(out[:, :3]).all()
    return 2 * out[:, 3:]


@pytest.mark.parametrize("seed", range(3))
def test_kernels_match_plain_numpy(seed):
    Z, W, offset, weights = parts(seed)
    plain = np.cos(2 * np.pi * (Z.astype(np.float64) @ W + offset))
    np.testing.assert_allclose(columns(Z, W, offset), plain, atol=3e-5)
    np.testing.assert_allclose(fourier_sums(Z, W, offset, weights), plain @ weights, atol=3e-4)


def test_cosines_are_good_to_six_digits_over_a_whole_turn():
    turns = np.linspace(-3, 3, 40_001).astype(np.float32)
    Z = np.zeros((turns.size, 4), dtype=np.float32)
    Z[:, 0] = turns
    cosines = columns(Z, np.ones((4, 1), dtype=np.float32), np.zeros(1, dtype=np.float32))
    assert np.abs(cosines[:, 0] - np.cos(2 * np.pi * turns.astype(np.float64))).max() < 1e-6


def test_a_row_has_the_same_score_wherever_it_stands():
    Z, W, offset, weights = parts(rows=9)
    whole = fourier_sums(Z, W, offset, weights)
    assert whole[::-1].tolist() == fourier_sums(Z[::-1].copy(), W, offset, weights).tolist()
    assert whole[4] == fourier_sums(Z[4:5], W, offset, weights)[0]
