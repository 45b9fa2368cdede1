"""The fold ensemble and what it is made of: folds, sums of boosters, calibration."""

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.lists import Lists
from shortlist.rankers.boosting.calibration import chance_curve, expected_precision, read_chance
from shortlist.rankers.boosting.fold_ensemble import _best_look, add_boosters
from shortlist.rankers.boosting.folds import deal_folds, divisible


def small_boosters(n=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[:, 3] = rng.integers(0, 6, 200)
    X[rng.random(X.shape) < 0.1] = np.nan
    boosters = []
    for _ in range(n):
        y = np.nan_to_num(X[:, 0]) + (X[:, 3] == 2) + rng.normal(size=200)
        matrix = xgb.QuantileDMatrix(X, y, feature_types=["q", "q", "q", "c"], enable_categorical=True)
        boosters.append(xgb.train({"max_depth": 4, "base_score": 0.3, "max_cat_to_onehot": 1}, matrix, 5))
    return X, boosters


def test_sum_of_boosters_scores_and_explains_as_the_sum():
    X, boosters = small_boosters()
    weights = [0.5, -1.5, 2.0]
    whole = add_boosters(boosters, weights, offset=0.7)
    matrix = xgb.DMatrix(X, feature_types=["q", "q", "q", "c"], enable_categorical=True)
    for kind in ({"output_margin": True}, {"pred_contribs": True}):
        parts = [w * b.predict(matrix, **kind) for w, b in zip(weights, boosters, strict=True)]
        expected = np.sum(parts, axis=0)
        expected[..., -1] += 0.7 if "pred_contribs" in kind else 0
        expected = expected + (0.7 if "output_margin" in kind else 0)
        np.testing.assert_allclose(whole.predict(matrix, **kind), expected, atol=1e-5)
    assert whole.num_boosted_rounds() == 15


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(0, 2**31), st.integers(6, 40))
def test_folds_share_wanted_rows_evenly(n_folds, seed, n_wanted):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(100) < n_wanted)
    fold = deal_folds(y, Lists.single(100), n_folds, rng)
    for counts in (np.bincount(fold, minlength=n_folds), np.bincount(fold, y, minlength=n_folds)):
        assert counts.max() - counts.min() <= 1


def test_folds_keep_lists_whole():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 500)
    y = rng.random(500) < 0.2
    lists = Lists.from_groups(groups)
    fold = deal_folds(y, lists, 4, rng)
    for rows in lists:
        assert np.unique(fold[rows]).size == 1
    wanted = np.bincount(fold, y)
    assert wanted.max() - wanted.min() <= 6
    assert divisible(y, lists) == sum(y[rows].any() for rows in lists)


def test_a_lucky_look_is_not_chosen():
    assert _best_look([0.1, 0.9, 0.1, 0.6, 0.7, 0.6]) == 4
    assert _best_look([0.5]) == 0


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
