"""What a rank means: chances and expected precision."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from shortlist.models.abilities import chances
from shortlist.rankers import APBoost, RankBoost
from shortlist.rankers.calibration import (
    AT_ONCE,
    chance_curve,
    expected_precision,
    fold_stretch,
    logistic_curve,
    logistic_line,
    read_chance,
)


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(2, 60))
def test_chances_rise_with_scores_and_stay_inside(seed, n):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 10, n).astype(float)
    curve = chance_curve(score, rng.random(n) < 0.4)
    chance = read_chance(curve, np.linspace(-5, 15, 50))
    assert (np.diff(chance) >= -1e-12).all()
    assert chance.min() > 0
    assert chance.max() < 1


def test_chance_is_the_share_of_wanted_rows():
    score = np.repeat([0.0, 1.0], 500)
    wanted = np.r_[np.arange(500) < 50, np.arange(500) < 400]
    np.testing.assert_allclose(read_chance(chance_curve(score, wanted), [0.0, 1.0]), [0.1, 0.8], atol=0.005)


def test_tied_rows_expect_the_same_precision():
    precision = expected_precision(np.array([[0.0, 1.0], [0.0, 1.0]]), [1.0, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(precision, [1.0, 2 / 3, 2 / 3, 0.5])


def test_weights_of_the_curve_count_like_copies():
    score, wanted = np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, True, False, True])
    weighted = chance_curve(score, wanted, np.array([1.0, 3.0, 2.0, 1.0]))
    copied = chance_curve(np.repeat(score, [1, 3, 2, 1]), np.repeat(wanted, [1, 3, 2, 1]))
    at = np.linspace(0, 3, 7)
    assert read_chance(weighted, at) == pytest.approx(read_chance(copied, at))


def logistic_rows(n, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    wanted = rng.random(n) < 1 / (1 + np.exp(3 - 3 * truth))
    return truth, wanted, rng


def test_a_logistic_truth_is_found():
    truth, wanted, _ = logistic_rows(4_000)
    chance = 1 / (1 + np.exp(3 - 3 * truth))
    weight = np.ones(truth.size)
    np.testing.assert_allclose(logistic_curve(truth, wanted, weight), chance, atol=0.04)
    assert np.abs(read_chance(chance_curve(truth, wanted), truth) - chance).mean() < 0.02


def test_many_rows_are_followed_where_the_truth_is_not_logistic():
    rng = np.random.default_rng(0)
    score = rng.random(40_000)
    chance = np.where(score < 0.7, 0.05, 0.6)
    curve = chance_curve(score, rng.random(score.size) < chance)
    np.testing.assert_allclose(read_chance(curve, [0.2, 0.5, 0.8, 0.95]), [0.05, 0.05, 0.6, 0.6], atol=0.03)


def test_a_curve_is_small_however_many_rows_it_comes_from():
    truth, wanted, _ = logistic_rows(30_000)
    curve = chance_curve(truth, wanted)
    assert curve.shape[1] <= 515
    assert (np.diff(curve) >= 0).all()


def test_the_mean_of_noisy_models_is_read_by_its_stretch():
    """Four models see the truth through noise; the curve of one is read for the mean of all."""
    truth, wanted, rng = logistic_rows(60_000)
    models = truth + rng.normal(scale=0.6, size=(4, truth.size))
    mean = models.mean(axis=0)
    stretch = models.var(axis=1).mean() / mean.var()
    top = np.argsort(-mean)[:2_000]
    found = wanted[top].mean()
    plain = read_chance(chance_curve(models[0], wanted), mean[top]).mean()
    stretched = read_chance(chance_curve(models[0], wanted, stretch=stretch), mean[top]).mean()
    assert plain < found - 0.05
    assert stretched == pytest.approx(found, abs=0.03)


def test_the_stretch_ends_with_many_wanted_rows():
    assert fold_stretch(1) > fold_stretch(30) > fold_stretch(10**6) == pytest.approx(1, abs=0.01)


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
