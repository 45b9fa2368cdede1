"""The smooth monotone curve: its optimum, rows that count as one, and what is odd about rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize
from scipy.special import expit, logit

from shortlist.rankers.chances import smooth_curve
from shortlist.rankers.chances.smooth_curve import SmoothCurve, segments


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    score = rng.gamma(2, size=n)
    return score, rng.random(n) < expit(2 * score - 5)


def plain_loss(curve, score, wanted, weight):
    """What is minimised, and its gradient, over rows as they are."""
    u = (score - curve.mean) / curve.spread
    edges = np.r_[-np.inf, curve.knots, np.inf]
    parts = [np.minimum(u, edges[1])]
    parts += [np.clip(u - low, 0, high - low) for low, high in pairwise(edges[1:])]
    features = np.column_stack([np.ones(u.size), *parts])
    n_wanted, n_others = weight[wanted].sum(), weight[~wanted].sum()
    target = np.where(wanted, (n_wanted + 0.25) / (n_wanted + 0.5), 0.25 / (n_others + 0.5))

    def loss(at):
        odds, slopes = features @ at, at[1:]
        misfit = weight @ (np.logaddexp(0, odds) - target * odds)
        return misfit + np.square(np.diff(slopes)).sum() + 0.0005 * np.square(slopes).sum()

    def gradient(at):
        bends, slopes = np.diff(at[1:]), at[1:]
        smooth = 2 * (np.r_[0, bends] - np.r_[bends, 0]) + 0.001 * slopes
        return features.T @ (weight * (expit(features @ at) - target)) + np.r_[0, smooth]

    return loss, gradient


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_the_rows_as_they_are(seed):
    score, wanted = rows(seed=seed)
    weight = np.random.default_rng(seed).integers(1, 4, score.size).astype(float)
    curve = SmoothCurve.fit(score, wanted, weight)
    loss, gradient = plain_loss(curve, score, wanted, weight)
    start = np.r_[-1, np.linspace(1, 2, 6)]
    assert check_grad(loss, gradient, start) < 1e-3
    limits = [(None, None), *[(0, None)] * 6]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2_000}
    best = minimize(loss, start, jac=gradient, bounds=limits, options=options)
    ours = np.r_[curve.base, curve.slopes]
    assert loss(ours) <= best.fun + 1e-6
    np.testing.assert_allclose(ours, best.x, atol=1e-3)


def test_slopes_that_would_fall_are_flat():
    """Chances rise, fall and rise again: no slope is negative, and the optimum is still that of scipy."""
    rng = np.random.default_rng(1)
    score = rng.uniform(0, 3, 6_000)
    wanted = rng.random(score.size) < np.array([0.3, 0.05, 0.6])[score.astype(int)]
    curve = SmoothCurve.fit(score, wanted)
    assert curve.slopes.min() == 0
    loss, gradient = plain_loss(curve, score, wanted, np.ones(score.size))
    limits = [(None, None), *[(0, None)] * 6]
    best = minimize(loss, np.ones(7), jac=gradient, bounds=limits, options={"ftol": 1e-15, "gtol": 1e-9})
    assert loss(np.r_[curve.base, curve.slopes]) <= best.fun + 1e-5


def test_rows_that_count_as_one_change_next_to_nothing(monkeypatch):
    score, wanted = rows(50_000)
    coarse = SmoothCurve.fit(score, wanted)
    monkeypatch.setattr(smooth_curve, "PLACES", 1 << 20)
    fine = SmoothCurve.fit(score, wanted)
    assert coarse.places.u.size < 7_000 < fine.places.u.size
    u = np.linspace(-2, 6, 50)
    np.testing.assert_allclose(coarse.odds(u), fine.odds(u), atol=1e-4)


def test_the_order_of_rows_does_not_matter():
    score, wanted = rows(5_000)
    order = np.random.default_rng(0).permutation(score.size)
    one, other = SmoothCurve.fit(score, wanted), SmoothCurve.fit(score[order], wanted[order])
    u = np.linspace(-2, 6, 50)
    np.testing.assert_allclose(one.odds(u), other.odds(u), rtol=1e-9)


def test_with_few_wanted_rows_it_is_a_line_and_with_many_it_bends():
    rng = np.random.default_rng(0)
    score = rng.normal(size=200_000)
    wanted = rng.random(score.size) < np.where(score < 1, 0.02, 0.5)
    few, many = (SmoothCurve.fit(score[:n], wanted[:n]).slopes for n in (300, score.size))
    assert np.ptp(few) < 0.7 * few.mean()
    assert np.ptp(many) > 2 * many.mean()


def test_the_error_is_how_much_curves_of_other_rows_differ():
    """Of a logistic truth, log-odds at some scores vary from sample to sample by what each curve says of itself."""
    at, said, fitted = np.array([0.0, 1.5, 2.5]), [], []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        score = rng.normal(size=1_000)
        curve = SmoothCurve.fit(score, rng.random(score.size) < expit(2 * score - 3))
        u = (at - curve.mean) / curve.spread
        fitted.append(curve.odds(u))
        said.append(np.sqrt((curve.errors(u) ** 2).sum(axis=0)))
    np.testing.assert_allclose(np.mean(said, axis=0), np.std(fitted, axis=0), rtol=0.35)


@pytest.mark.parametrize("kappa", [1.0, 1.2, 3.0])
def test_the_offset_keeps_the_mean(kappa):
    score, wanted = rows(3_000)
    curve = SmoothCurve.fit(score, wanted)
    u = (score - curve.mean) / curve.spread
    offset = curve.offset(kappa)
    assert expit(offset + curve.odds(np.sqrt(kappa) * u)).mean() == pytest.approx(wanted.mean(), abs=1e-3)
    assert (abs(offset) < 1e-9) == (kappa == 1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]), st.data())
def test_whatever_the_rows_are(seed, n, share, data):
    """Ties, one row, constant or huge scores, one class alone: finite, rising, and weights like copies."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, data.draw(st.integers(1, 20)), n) * data.draw(st.sampled_from([1e-9, 1.0, 1e9]))
    score = np.where(rng.random(n) < data.draw(st.sampled_from([0.0, 0.1])), 100 * score, score)
    wanted, copies = rng.random(n) < share, rng.integers(1, 4, n)
    curve = SmoothCurve.fit(score, wanted, copies.astype(float))
    copied = SmoothCurve.fit(np.repeat(score, copies), np.repeat(wanted, copies))
    u = np.linspace(-9, 9, 40)
    assert np.isfinite(curve.odds(u)).all()
    assert (np.diff(curve.odds(u)) >= -1e-9).all()
    assert np.isfinite(curve.errors(u)).all()
    np.testing.assert_allclose(expit(curve.odds(u)), expit(copied.odds(u)), atol=1e-6)


def test_one_place_says_the_share_that_rows_can_promise():
    curve = SmoothCurve.fit(np.full(10, 0.1), np.arange(10) < 3)
    target = (3 * (3.25 / 3.5) + 7 * 0.25 / 7.5) / 10
    assert curve.odds(np.zeros(1))[0] == pytest.approx(logit(target), abs=1e-6)
    assert segments(np.zeros(1), np.zeros(5)).tolist() == [[0.0] * 6]
