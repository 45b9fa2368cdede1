"""Extra trees of scikit-learn in XGBoost's format: every row goes the same way."""

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.ensemble import ExtraTreesRegressor

from shortlist.rankers.boosting.trees import extra_trees
from shortlist.rankers.boosting.trees.bins import feature_types
from shortlist.rankers.boosting.trees.boosted import margins
from shortlist.rankers.boosting.trees.extra_trees import Orders, grow_extra_trees

CATEGORICAL = np.array([False, False, True, False])


def make_rows(n, seed=0, gaps=0.1, categories=9):
    rng = np.random.default_rng(seed)
    X = rng.integers(-8, 8, (n, 4)).astype(np.float32) / 4  # few values, so that thresholds meet them
    X[:, 2] = rng.integers(0, categories, n)
    X[:, 3] = rng.normal(size=n)
    y = X[:, 0] + (X[:, 2] % 3 == 1) + rng.normal(size=n) > 1
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def like(X, categorical=CATEGORICAL):
    types = feature_types(categorical)
    matrix = xgb.QuantileDMatrix(X, np.zeros(X.shape[0]), feature_types=types, enable_categorical=True)
    return xgb.train({"max_depth": 1}, matrix, 2)


def grown_apart(monkeypatch):
    """The forests that scikit-learn grows, and the orders in which each reads categories."""
    forests, orders = [], []
    draw, fit = Orders.draw, ExtraTreesRegressor.fit
    monkeypatch.setattr(extra_trees.Orders, "draw", lambda *rest: orders.append(draw(*rest)) or orders[-1])
    monkeypatch.setattr(
        ExtraTreesRegressor, "fit", lambda self, *rest: forests.append(self) or fit(self, *rest)
    )
    return forests, orders


@pytest.mark.parametrize("weighted", [False, True])
def test_a_forest_scores_as_it_did_in_scikit_learn(monkeypatch, weighted):
    X, y = make_rows(500)
    weight = np.random.default_rng(1).integers(0, 3, 500).astype(float) if weighted else None
    forests, orders = grown_apart(monkeypatch)
    booster = grow_extra_trees(X, y, weight, CATEGORICAL, like=like(X), seed=0)
    new, _ = make_rows(2_000, seed=1)
    theirs = np.mean([f.predict(o.apply(new)) for f, o in zip(forests, orders, strict=True)], axis=0)
    np.testing.assert_allclose(margins(booster, new), theirs, atol=1e-5)
    assert booster.num_boosted_rounds() == extra_trees.N_TREES == sum(len(f.estimators_) for f in forests)
    assert len(forests) > 1  # or categories would be read in one order
    matrix = xgb.DMatrix(new, feature_types=feature_types(CATEGORICAL), enable_categorical=True)
    parts = booster.predict(matrix, pred_contribs=True)
    np.testing.assert_allclose(parts.sum(axis=1), margins(booster, new), atol=1e-5)


def test_zeros_that_a_sparse_matrix_leaves_out(monkeypatch):
    X, y = make_rows(500, gaps=0)
    plain = np.zeros(4, dtype=bool)
    forests, _ = grown_apart(monkeypatch)
    booster = grow_extra_trees(csr_matrix(X), y, None, plain, like=like(csr_matrix(X), plain), seed=0)
    new = csr_matrix(make_rows(500, seed=1, gaps=0)[0])
    np.testing.assert_allclose(margins(booster, new), forests[0].predict(new), atol=1e-5)


def test_a_column_of_very_many_categories_is_left_to_others():
    X, y = make_rows(600, categories=extra_trees.MOST_CATEGORIES + 40, gaps=0)
    booster = grow_extra_trees(X, y, None, CATEGORICAL, like=like(X), seed=0)
    assert set(booster.get_score()) == {"f0", "f1", "f3"}


def test_rows_without_weight_are_not_there():
    X, y = make_rows(300)
    there = np.arange(300) % 3 > 0
    scores = []
    for values in (y, np.where(there, y, ~y)):
        booster = grow_extra_trees(X, values, there.astype(float), CATEGORICAL, like=like(X), seed=0)
        scores.append(margins(booster, X))
    np.testing.assert_array_equal(*scores)


@given(st.floats(-1e30, 1e30), st.integers(-2, 2))
def test_no_value_goes_astray_at_a_threshold(threshold, steps):
    value = np.float32(threshold)
    for _ in range(abs(steps)):
        value = np.nextafter(value, np.float32(np.inf * np.sign(steps)))
    above = extra_trees._just_above(np.array([threshold]))[0]
    assert (float(value) <= threshold) == (value < above)
