"""Bins cut from a sample of rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shortlist.metrics import average_precision
from shortlist.rankers import APBoost
from shortlist.rankers.boosting.trees import bins
from tests.rankers.boosting.test_external import ROLES, folder, settings  # noqa: F401  a fixture


@pytest.fixture
def few_rows_cut(monkeypatch):
    for module in ("trees.bins", "external"):
        monkeypatch.setattr(f"shortlist.rankers.boosting.{module}.CUT_ROWS", 500)


def rows(n=4_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, X[:, 0] + X[:, 1] * X[:, 2] > 2


@pytest.mark.usefixtures("few_rows_cut")
def test_a_sample_cuts_nearly_as_well():
    X, y = rows()
    sampled = APBoost(n_estimators=30, random_state=0, n_jobs=1).fit(X, y)
    assert average_precision(y, sampled.oof_score_) > 0.7


@pytest.mark.usefixtures("few_rows_cut")
def test_the_sample_is_the_same_however_rows_come():
    X, _ = rows()
    numbers = np.zeros(4, dtype=bool)
    whole = bins.cut_sample([X], 4_000, numbers)
    assert whole.shape[0] == pytest.approx(500, rel=0.15)
    np.testing.assert_array_equal(whole, bins.cut_sample([X[:1], X[1:900], X[900:]], 4_000, numbers))
    sparse = bins.cut_sample([csr_matrix(X)], 4_000, numbers)
    np.testing.assert_array_equal(sparse.toarray(), whole[:-1])


@pytest.mark.usefixtures("few_rows_cut")
def test_a_category_that_the_sample_lacks_is_itself():
    X, _ = rows()
    X[:, 3] = np.arange(4_000) % 7
    drawn = bins.drawn_rows(4_000, 500 / 4_000, seed=0)
    rare = np.setdiff1d(np.arange(4_000), drawn)[:30]
    X[rare, 3] = 9
    y = X[:, 3] == 9
    categorical = np.array([False, False, False, True])
    matrix = bins.training_matrix(X, categorical=categorical)
    assert matrix.num_row() == 4_000
    ranker = APBoost(n_estimators=5, folds=0, subsample=1.0, colsample_bynode=1.0, n_jobs=1)
    from shortlist.lists import Lists
    from shortlist.rankers.batch import Batch

    ranker._fit(Batch(X, y, Lists.single(4_000), None, categorical))
    assert average_precision(y, ranker._score(X)) == 1


@pytest.mark.usefixtures("few_rows_cut")
def test_a_table_on_disk_is_cut_alike(folder):  # noqa: F811
    from shortlist.tables import load_table

    table = load_table(folder, ROLES)
    inside = APBoost(**settings()).fit(table.features, table.y, **table.for_fit)
    outside = APBoost(**settings()).fit_table(folder, ROLES, batch_rows=700)
    assert outside.booster_.get_dump() == inside.booster_.get_dump()
