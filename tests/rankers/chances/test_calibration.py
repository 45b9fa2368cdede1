"""What a rank means: chances and expected precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from shortlist.models.abilities import chances
from shortlist.rankers import APBoost, RankBoost
from shortlist.rankers.chances import calibration
from shortlist.rankers.chances.calibration import (
    AT_ONCE,
    MOST_COUNTED,
    ChanceCurve,
    chance_curve,
    expected_found,
    expected_precision,
    logistic_line,
    number_found,
    read_chance,
)


def chances_of(score, wanted, at, **more):
    return read_chance(chance_curve(np.asarray(score, dtype=float), np.asarray(wanted), **more).points, at)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 60), st.floats(1, 4))
def test_chances_rise_with_scores_and_stay_inside(seed, n, kappa):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 10, n).astype(float)
    curve = chance_curve(score, rng.random(n) < 0.4, kappa=kappa)
    chance = read_chance(curve.points, np.linspace(-5, 15, 50))
    assert (np.diff(chance) >= 0).all()
    assert (np.diff(curve.points) >= 0).all()
    assert chance.min() > 0
    assert chance.max() < 1
    assert curve.error.shape == (7, curve.points.shape[1])
    assert np.isfinite(curve.error).all()


def test_chance_is_the_share_of_wanted_rows():
    score = np.repeat([0.0, 1.0], 500)
    wanted = np.r_[np.arange(500) < 50, np.arange(500) < 400]
    np.testing.assert_allclose(chances_of(score, wanted, [0.0, 1.0]), [0.1, 0.8], atol=0.005)


def test_tied_rows_expect_the_same_precision():
    precision = expected_precision(np.array([[0.0, 1.0], [0.0, 1.0]]), [1.0, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(precision, [1.0, 2 / 3, 2 / 3, 0.5])


def test_weights_of_the_curve_count_like_copies():
    score, wanted = np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, True, False, True])
    copies, at = np.array([1, 3, 2, 1]), np.linspace(0, 3, 7)
    weighted = chances_of(score, wanted, at, weight=copies.astype(float))
    copied = chances_of(np.repeat(score, copies), np.repeat(wanted, copies), at)
    assert weighted == pytest.approx(copied)


def logistic_rows(n, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    wanted = rng.random(n) < 1 / (1 + np.exp(3 - 3 * truth))
    return truth, wanted, rng


def test_a_logistic_truth_is_found():
    truth, wanted, _ = logistic_rows(4_000)
    chance = 1 / (1 + np.exp(3 - 3 * truth))
    slope, base = logistic_line(truth, wanted, None)
    np.testing.assert_allclose([slope, base], [3, -3], atol=0.3)
    assert np.abs(chances_of(truth, wanted, truth) - chance).mean() < 0.02


def test_many_rows_are_followed_where_the_truth_is_not_logistic():
    rng = np.random.default_rng(0)
    score = rng.random(40_000)
    wanted = rng.random(score.size) < np.where(score < 0.7, 0.05, 0.6)
    at = chances_of(score, wanted, [0.2, 0.4, 0.8, 0.95])
    np.testing.assert_allclose(at, [0.05, 0.05, 0.6, 0.6], atol=0.05)  # a jump is a slope between two knots


def test_a_curve_is_small_however_many_rows_it_comes_from():
    """And between its points it is what was fitted: nobody sees that it is not stored as a formula."""
    truth, wanted, _ = logistic_rows(30_000)
    points = chance_curve(truth, wanted).points
    assert points.shape[1] <= calibration.N_STEPS + 7
    fitted = calibration.SmoothCurve.fit(truth, wanted)
    at = np.linspace(truth.min(), truth.max(), 5_003)
    exact = expit(fitted.odds((at - fitted.mean) / fitted.spread))
    np.testing.assert_allclose(read_chance(points, at), exact, rtol=2e-3, atol=2e-4)


def test_a_curve_goes_on_beyond_its_rows():
    truth, wanted, _ = logistic_rows(2_000)
    beyond = truth.max() + np.array([0.0, 0.5, 1.0, 1e6])
    chance = chances_of(truth, wanted, beyond)
    assert (np.diff(chance) > 0).all()
    assert chance[-1] < 1


def noisy_models(scale=0.6):
    """Four models see the truth through noise of their own."""
    truth, wanted, rng = logistic_rows(60_000)
    return truth + rng.normal(scale=scale, size=(4, truth.size)), wanted


def test_the_mean_of_noisy_models_is_read_by_kappa():
    """The curve of one of them is read for the mean of all."""
    models, wanted = noisy_models()
    mean = models.mean(axis=0)
    kappa = models.var(axis=1).mean() / mean.var()
    top = np.argsort(-mean)[:2_000]
    found = wanted[top].mean()
    assert chances_of(models[0], wanted, mean[top]).mean() < found - 0.05
    assert chances_of(models[0], wanted, mean[top], kappa=kappa).mean() == pytest.approx(found, abs=0.03)
    assert chances_of(models[0], wanted, mean, kappa=kappa).mean() == pytest.approx(wanted.mean(), abs=0.003)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 40))
def test_the_number_found_is_that_of_rows_added_one_by_one(seed, n):
    chance = np.random.default_rng(seed).random((3, n))
    for line, given_ in zip(number_found(chance), chance, strict=True):
        one_by_one = np.ones(1)
        for each in given_:
            one_by_one = np.convolve(one_by_one, [1 - each, each])
        np.testing.assert_allclose(line, one_by_one, atol=1e-12)


def curve_of(error):
    """Chances that are the scores, with one error that all log-odds share."""
    return ChanceCurve(np.array([[0.0, 1.0], [0.0, 1.0]]), np.full((1, 2), error))


def test_bounds_of_the_number_found():
    assert expected_found(curve_of(0.0), np.full(100, 0.5)) == (50.0, 42, 58)
    assert expected_found(curve_of(0.0), np.full(10, 1 - 1e-9))[1:] == (10, 10)
    assert expected_found(curve_of(0.0), np.empty(0)) == (0.0, 0, 0)
    assert expected_found(curve_of(0.0), np.array([0.5]))[1:] == (0, 1)
    # An error of the curve is shared: it does not average out over rows.
    few, many = (expected_found(curve_of(0.5), np.full(n, 0.3)) for n in (20, 2_000))
    assert (few.high - few.low) / 20 > (many.high - many.low) / 2_000 > 0.3
    # Of very many rows the number is taken to be normal: next to the count of nearly as many.
    counted, normal = (expected_found(curve_of(0.1), np.full(MOST_COUNTED + n, 0.3)) for n in (0, 1))
    np.testing.assert_allclose(counted[1:], normal[1:], rtol=0.01)


def test_bounds_hold_in_nine_of_ten_cases_and_would_not_without_the_error_of_the_curve():
    held = {True: 0, False: 0}
    for seed in range(150):
        truth, wanted, rng = logistic_rows(700, seed)
        curve = chance_curve(truth, wanted)
        new = np.sort(rng.normal(size=700))[::-1][:150]
        n_found = (rng.random(new.size) < expit(3 * new - 3)).sum()
        for heeded in held:
            bounds = expected_found(
                curve._replace(error=curve.error * heeded), read_chance(curve.points, new)
            )
            held[heeded] += bounds.low <= n_found <= bounds.high
    assert 0.85 * 150 <= held[True] <= 0.96 * 150
    assert held[False] < 0.84 * 150


def test_chances_of_a_model_are_told_where_they_are_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300) > 1.5
    quick = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}
    ranker = APBoost(**quick).fit(X, y)
    known = chances(ranker, ranker.decision_function(X))
    assert known is not None
    assert ((known > 0) & (known < 1)).all()
    unknown = APBoost(**quick, folds=0, early_stopping_rounds=None).fit(X, y)
    assert chances(unknown, unknown.decision_function(X)) is None
    assert chances(RankBoost().fit(X, y), np.zeros(3)) is None


def test_a_line_is_that_of_all_rows_at_once():
    """The loss is worked out some rows at a time; its sums are those of whole arrays, to the bit."""
    rng = np.random.default_rng(3)
    score = rng.normal(size=2 * AT_ONCE + 5)
    wanted = rng.random(score.size) < expit(score - 2)
    n_wanted, n_other = float(wanted.sum()), float((~wanted).sum())
    target = np.where(wanted, (n_wanted + 1) / (n_wanted + 2), 1 / (n_other + 2))
    ones = np.ones(score.size)
    mean = np.average(score, weights=ones)
    spread = float(np.sqrt(np.average((score - mean) ** 2, weights=ones)))
    z = (score - mean) / spread

    def loss(line):
        margin = line[0] * z + line[1]
        rest = expit(margin) - target
        return float(ones @ (np.logaddexp(0, margin) - target * margin)), np.array([rest @ z, rest.sum()])

    start = [1.0, np.log((n_wanted + 1) / (n_other + 1))]
    slope, base = minimize(loss, start, jac=True, bounds=[(0, None), (None, None)]).x
    assert logistic_line(score, wanted, None) == (slope / spread, base - slope * mean / spread)
