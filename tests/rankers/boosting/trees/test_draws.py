"""Rows drawn by a hash of seed, round and row."""

import numpy as np
import pytest

from shortlist.kernels.whole_sums import STEPS
from shortlist.rankers.boosting.trees.draws import Draw, drawn_rows


def settled(draw, n, round_=0):
    rng = np.random.default_rng(0)
    grad, hess = rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32) + 0.1
    before = grad.copy(), hess.copy()
    draw.settle(grad, hess, round_)
    return grad, hess, before


def test_all_rows_lie_on_the_grid_by_default():
    grad, hess, (raw, _) = settled(Draw(), 1_000)
    np.testing.assert_array_equal(grad, np.rint(raw * STEPS) / STEPS)
    assert (hess > 0).all()


def test_a_share_of_the_rows_is_drawn_anew_in_each_round():
    kept = np.array([settled(Draw(0.7, seed=3), 20_000, round_)[1] > 0 for round_ in range(4)])
    np.testing.assert_allclose(kept.mean(axis=1), 0.7, atol=0.015)
    # Rounds are drawn apart, and so are neighbours.
    assert np.corrcoef(kept).ravel()[1] == pytest.approx(0, abs=0.03)
    assert np.corrcoef(kept[0, :-1], kept[0, 1:])[0, 1] == pytest.approx(0, abs=0.03)


def test_threads_and_the_place_of_a_row_change_nothing(monkeypatch):
    whole = settled(Draw(0.5, seed=1), 1_000)
    monkeypatch.setattr("shortlist.rankers.boosting.trees.draws.ROWS_AT_ONCE", 64)
    for one, other in zip(whole[:2], settled(Draw(0.5, seed=1, threads=3), 1_000)[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    rows = np.random.default_rng(1).permutation(1_000)
    grad, hess = (values[rows] for values in whole[2])
    Draw(0.5, seed=1, keys=rows.astype(np.uint64)).settle(grad, hess, 0)
    np.testing.assert_array_equal(grad, whole[0][rows])


def test_a_sample_of_rows():
    rows = drawn_rows(100_000, 0.1, seed=0)
    assert rows.size == pytest.approx(10_000, rel=0.05)
    assert (np.diff(rows) > 0).all()
    assert np.intersect1d(rows, drawn_rows(100_000, 0.1, seed=1)).size == pytest.approx(1_000, rel=0.15)
