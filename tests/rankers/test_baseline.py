"""Ordinary models as rankers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.rankers import Baseline, preparation
from shortlist.rankers.catalogue import make_ranker


@pytest.mark.parametrize(
    "forest",
    [RandomForestClassifier, RandomForestRegressor, pytest.param(BaggingClassifier, marks=pytest.mark.slow)],
)
def test_forests_give_the_same_scores_to_the_last_bit_whatever_the_number_of_threads(forest):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + rng.normal(size=400) > 1
    one, many, again = (
        Baseline(estimator=forest(n_estimators=60, random_state=0, n_jobs=jobs)).fit(X, y)
        for jobs in (1, 5, 5)
    )
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    np.testing.assert_array_equal(one.decision_function(X), again.decision_function(X))
    assert many.estimator.n_jobs == 5


def test_the_forest_of_the_catalogue_learns_on_all_threads_unless_told():
    assert make_ranker("random-forest").estimator.n_jobs == -1
    assert make_ranker("random-forest", n_jobs=2).estimator.n_jobs == 2


X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0] > 0.5


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        ("logistic", "must be a classifier or regressor.* got 'logistic'"),
        (LogisticRegression, r"such as LogisticRegression\(\)"),
        (IsolationForest(), "IsolationForest learns nothing from y.*from_isolation_forest"),
        (VotingClassifier([("a", LogisticRegression())]), "tells classes alone.*voting='soft'"),
    ],
)
def test_estimators_that_cannot_rank_are_refused(estimator, words):
    with pytest.raises(InvalidInputError, match=words):
        Baseline(estimator=estimator).fit(X, Y)


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame(X, columns=["a", "a"])
    with pytest.raises(TableError, match="two columns have the same name"):
        Baseline().fit(frame, Y)
    with pytest.raises(TableError, match="two columns have the same name"):
        Baseline().fit(frame.set_axis(["a", "b"], axis=1), Y).decision_function(frame)


@pytest.mark.parametrize("model", ["xgboost", "logistic"])
def test_a_column_of_many_categories_does_not_fill_the_memory(model, monkeypatch):
    """The rarest of its categories share a column, and columns with few categories keep all of theirs."""
    rng = np.random.default_rng(0)
    shop = np.where(rng.random(4_000) < 0.2, 0, rng.integers(1, 200, 4_000))
    rows = pd.DataFrame({"amount": rng.normal(size=4_000), "region": rng.integers(0, 5, 4_000), "shop": shop})
    rows = rows.astype({"region": "category", "shop": "category"})
    wanted = (shop == 0) & (rng.random(4_000) < 0.3)
    whole = make_ranker(model, random_state=0).fit(rows, wanted)
    monkeypatch.setattr(preparation, "_MOST_NUMBERS", 4_000 * 50)
    part = make_ranker(model, random_state=0).fit(rows, wanted)
    categories = part.model_[0].named_transformers_["categories"][-1]
    assert whole.model_[0].transform(np.zeros((1, 3))).shape[1] > 150
    assert 40 < part.model_[0].transform(np.zeros((1, 3))).shape[1] <= 50
    assert categories.infrequent_categories_[0] is None
    ours, of_all = (each.decision_function(rows) for each in (part, whole))
    assert ours[shop == 0].mean() > ours[shop != 0].mean()
    assert np.corrcoef(ours, of_all)[0, 1] > 0.9
