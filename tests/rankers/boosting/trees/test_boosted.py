"""Boosted rankers take arrays and sparse matrices, and a zero is a zero in both."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.metrics import average_precision
from shortlist.rankers import APBoost, LambdaMART, RankBoost
from shortlist.rankers.boosting.trees import boosted
from shortlist.tables import Roles

RNG = np.random.default_rng(0)
X = (RNG.random((400, 6)) < 0.4).astype(float)
Y = (X[:, 0] == 0) & (X[:, 1] == 1) & (X[:, 2] == 0)
RANKERS = [
    APBoost(n_estimators=20, n_jobs=1, random_state=0),
    LambdaMART(n_estimators=100, n_jobs=1, random_state=0),
    RankBoost(),
]


def stored_zeros(rows):
    """A sparse matrix that holds all its zeros."""
    shape = rows.shape
    places = np.tile(np.arange(shape[1]), shape[0]), np.arange(0, rows.size + 1, shape[1])
    return csr_matrix((rows.ravel(), *places), shape=shape)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("fitted_on", [np.asarray, csr_matrix, stored_zeros])
def test_the_same_rows_have_the_same_scores_in_every_form(ranker, fitted_on, monkeypatch):
    monkeypatch.setattr(boosted, "DENSE_VALUES", 50)  # a few rows at a time
    ranker.fit(fitted_on(X), Y)
    scores = ranker.decision_function(X)
    assert average_precision(Y, scores) > 0.8
    for form in (csr_matrix, csr_array, stored_zeros):
        np.testing.assert_array_equal(ranker.decision_function(form(X)), scores)


@pytest.mark.parametrize("ranker", RANKERS[:2], ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("fitted_on", [np.asarray, csr_matrix])
def test_rows_that_end_the_training_are_judged_alike_in_every_form(ranker, fitted_on, monkeypatch):
    monkeypatch.setattr(boosted, "DENSE_VALUES", 50)  # a few rows at a time
    noisy = Y ^ (np.random.default_rng(1).random(Y.size) < 0.1)
    ranker = clone(ranker).set_params(early_stopping_rounds=5)
    scores = [
        ranker.fit(fitted_on(X[:200]), noisy[:200], eval_set=(form(X[200:]), noisy[200:])).decision_function(
            X
        )
        for form in (np.asarray, csr_matrix)
    ]
    np.testing.assert_array_equal(*scores)


def test_a_ranker_that_learns_anew_from_a_table_forgets_that_rows_were_sparse():
    ranker = APBoost(folds=0, n_estimators=2, n_jobs=1, random_state=0).fit(csr_matrix(X), Y)
    table = pl.DataFrame(X, schema=[f"c{i}" for i in range(6)]).with_columns(y=pl.Series(Y))
    scores = ranker.fit_table(table.lazy(), Roles(label="y")).decision_function(table.drop("y"))
    other = APBoost(folds=0, n_estimators=2, n_jobs=1, random_state=0).fit_table(
        table.lazy(), Roles(label="y")
    )
    np.testing.assert_array_equal(scores, other.decision_function(table.drop("y")))


@pytest.mark.parametrize("fitted_on", [np.asarray, csr_matrix])
def test_contributions_add_up_in_every_form(fitted_on):
    ranker = APBoost(n_estimators=5, n_jobs=1).fit(fitted_on(X), Y)
    for form in (np.asarray, csr_matrix):
        np.testing.assert_allclose(
            ranker.contributions(form(X)).sum(axis=1), ranker.decision_function(X), rtol=1e-4, atol=1e-5
        )


def test_rows_that_are_given_stay_as_they_are():
    rows = stored_zeros(X)
    APBoost(n_estimators=2, n_jobs=1).fit(rows, Y).decision_function(rows)
    assert rows.nnz == X.size


def test_a_score_space_refuses_a_ranker_that_takes_zeros_for_missing():
    ranker = APBoost(n_estimators=2, n_jobs=1).fit(csr_matrix(X), Y)
    with pytest.raises(InvalidInputError, match="Fit it on an array"):
        ScoreSpace.from_boosted(X, ranker)
