"""RankBoost against the definition, pair by pair."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as sparse_random

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import roc_auc
from shortlist.rankers import RankBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.linear.rank_boost import _Columns, _Pairs
from shortlist.validation import check_groups


def some_rows(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) - np.nan_to_num(X[:, 1]) + 0.5 * rng.normal(size=n) > 1
    return X, y


@pytest.mark.parametrize("groups", [None, np.arange(30) % 3])
def test_pulls_are_sums_over_all_pairs(groups):
    rng = np.random.default_rng(0)
    y, margin, weight = rng.random(30) < 0.4, rng.normal(size=30), rng.uniform(0.5, 2, 30)
    lists = check_groups(groups, 30)
    expected = np.zeros(30)
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y & (lists.of_row == lists.of_row[i])):
            pair = weight[i] * weight[j] * np.exp(margin[j] - margin[i])
            expected[i] += pair
            expected[j] -= pair
    pull = _Pairs(Batch(None, y, lists, weight, np.zeros(1, bool))).pull(margin)
    np.testing.assert_allclose(pull, expected / expected[y].sum(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("few", [False, True])
def test_best_stump_is_the_best_of_all(few):
    rng = np.random.default_rng(1)
    bins = rng.integers(0, 6, (3, 80)).astype(np.uint8)
    pull = rng.normal(size=80)
    categorical = np.array([False, True, False])
    values = []
    for c in range(3):
        for b in range(1, 6):
            says = bins[c] == b if categorical[c] else bins[c] >= b
            values += [pull[says].sum(), pull[says | (bins[c] == 0)].sum()]
    column, cut, missing, found = _Columns(bins, few=few).best_stump(pull, np.full(3, 5), categorical)
    assert abs(found) == pytest.approx(np.abs(values).max())
    says = bins[column] == cut if categorical[column] else bins[column] >= cut
    assert pull[says | ((bins[column] == 0) & bool(missing))].sum() == pytest.approx(found)


def test_each_round_lowers_the_pair_loss():
    X, y = some_rows()
    losses = []
    for rounds in (1, 5, 20, 80):
        score = RankBoost(n_estimators=rounds).fit(X, y).decision_function(X)
        losses.append(np.mean(np.exp(score[~y][None, :] - score[y][:, None])))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.5 * losses[0]


def test_ranks_new_rows_and_explains_itself():
    X, y = some_rows(n=600)
    ranker = RankBoost().fit(X[:400], y[:400])
    score = ranker.decision_function(X[400:])
    assert roc_auc(y[400:], score) > 0.8
    np.testing.assert_allclose(ranker.contributions(X[400:]).sum(axis=1), score)


def test_sparse_rows_count_as_zeros():
    X, y = some_rows()
    X = np.nan_to_num(X)
    dense = RankBoost(n_estimators=30).fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        RankBoost(n_estimators=30).fit(csr_matrix(X), y).decision_function(csr_matrix(X)), dense
    )


def test_a_category_is_a_column_of_its_own():
    import polars as pl

    rng = np.random.default_rng(2)
    shop = rng.choice(list("abcdefgh"), 400)
    y = np.isin(shop, ["b", "g"]) & (rng.random(400) < 0.9)
    score = (
        RankBoost(n_estimators=10)
        .fit(pl.DataFrame({"shop": shop}), y)
        .decision_function(pl.DataFrame({"shop": shop}))
    )
    assert score[np.isin(shop, ["b", "g"])].min() > score[~np.isin(shop, ["b", "g"])].max()


def test_many_values_are_binned_by_quantiles():
    rng = np.random.default_rng(3)
    X = rng.exponential(size=(5_000, 1))
    y = X[:, 0] > np.quantile(X, 0.98)
    ranker = RankBoost(n_estimators=20, max_bin=100).fit(X, y)
    assert ranker.edges_[0].size < 100
    assert roc_auc(y, ranker.decision_function(X)) > 0.99


@pytest.mark.parametrize("settings", [{"max_bin": 300}, {"n_estimators": 0}])
def test_bad_settings(settings):
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        RankBoost(**settings).fit(*some_rows())


def test_sparse_rows_are_scored_a_few_at_a_time_as_dense_ones_are(monkeypatch):
    X = sparse_random(300, 40, density=0.1, random_state=0, format="csr")
    y = X[:, [0]].toarray().ravel() > 0
    ranker = RankBoost(n_estimators=20).fit(X, y)
    expected = RankBoost(n_estimators=20).fit(X.toarray(), y).decision_function(X.toarray())
    monkeypatch.setattr("shortlist.rankers.linear.rank_boost.VALUES_AT_ONCE", 70 * 40)
    held = []
    parts = RankBoost._contributions
    monkeypatch.setattr(
        RankBoost, "_contributions", lambda self, X: held.append(X.shape[0]) or parts(self, X)
    )
    np.testing.assert_array_equal(ranker.decision_function(X), expected)
    assert max(held) == 70
