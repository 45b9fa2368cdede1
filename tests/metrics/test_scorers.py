"""Scorers: any estimator, any search, with lists by metadata routing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from shortlist import metrics
from shortlist.exceptions import InvalidInputError

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = (X[:, 0] + rng.normal(size=120) > 0.8).astype(int)
GROUPS = np.arange(120) % 6


class OneColumn(BaseEstimator):
    """A ranker that is neither a classifier nor a regressor."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return X[:, self.column]


MEASURES = [
    (metrics.average_precision, {}),
    (metrics.roc_auc, {}),
    (metrics.precision_at_k, {"k": 5}),
    (metrics.recall_at_k, {"k": 0.2}),
    (metrics.f1_at_k, {"k": 5}),
    (metrics.precision_at_p, {}),
    (metrics.pos_at_top, {}),
    (metrics.dcg_at_k, {"k": 5}),
    (metrics.ndcg_at_k, {"k": 5}),
    (metrics.cost_saved_at_k, {"k": 5, "act": "log"}),
]


@pytest.mark.parametrize(("measure", "options"), MEASURES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_search_tunes_on_each_measure_within_lists(measure, options):
    scorer = metrics.scorer(measure, **options)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(OneColumn(), {"column": [0, 1, 2]}, scoring=scorer, cv=GroupKFold(2))
        search.fit(X, Y, groups=GROUPS)
    assert search.best_params_ == {"column": 0}
    folds = [test for _, test in GroupKFold(2).split(X, Y, GROUPS)]
    expected = [measure(Y[f], X[f, 0], groups=GROUPS[f], **options) for f in folds]
    assert search.best_score_ == pytest.approx(np.mean(expected))


def test_without_routing_all_rows_are_one_list():
    scores = cross_val_score(OneColumn(), X, Y, scoring=metrics.scorer(metrics.average_precision), cv=3)
    assert np.all((scores > 0) & (scores <= 1))


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), RandomForestClassifier(5, random_state=0), LinearRegression()]
)
def test_scores_of_classifiers_and_regressors(estimator):
    value = metrics.scorer(metrics.roc_auc)(estimator.fit(X, Y), X, Y)
    assert value > 0.7


def test_sample_weight_goes_where_it_is_asked_for():
    scorer = metrics.scorer(metrics.average_precision)
    weight = np.linspace(1, 2, 120)
    expected = metrics.average_precision(Y, X[:, 0], sample_weight=weight)
    assert scorer(OneColumn(), X, Y, sample_weight=weight) == pytest.approx(expected)
    with config_context(enable_metadata_routing=True):
        scorer.set_score_request(groups=False, sample_weight=True)
        assert scorer.get_metadata_routing().score.requests["sample_weight"] is True


def test_a_scorer_can_be_cloned_and_reads_well():
    scorer = clone(metrics.scorer(metrics.precision_at_k, k=3))
    assert scorer.options == {"k": 3}
    assert "precision_at_k" in repr(scorer)


def test_an_unknown_option_is_named():
    with pytest.raises(InvalidInputError, match="average_precision has no option k"):
        metrics.scorer(metrics.average_precision, k=3)


def test_an_option_that_is_needed_is_named():
    with pytest.raises(
        InvalidInputError, match=r"precision_at_k needs k: .* scorer\(precision_at_k, k=\.\.\.\)"
    ):
        metrics.scorer(metrics.precision_at_k)


@pytest.mark.parametrize("values", [(-1, 1), ("legit", "own")])
def test_labels_are_read_as_the_classifier_reads_them(values):
    X = np.arange(20.0).reshape(-1, 1)
    y = np.where(X.ravel() > 14, *values[::-1])
    model = LogisticRegression().fit(X, y)
    assert metrics.scorer(metrics.average_precision)(model, X, y) == 1


def test_what_is_unusual_comes_first():
    X = np.concatenate([np.random.default_rng(0).normal(size=(99, 2)), [[9.0, 9.0]]])
    model = IsolationForest(random_state=0).fit(X)
    assert metrics.scorer(metrics.average_precision)(model, X, np.arange(100) == 99) == 1
