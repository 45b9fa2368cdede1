"""A model that grows tree by tree, and holds on to no more than it needs."""

import weakref

import numpy as np
import pytest
import xgboost as xgb

from shortlist.lists import Lists
from shortlist.rankers import APBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import row_weights
from shortlist.rankers.boosting.trees import engine
from shortlist.rankers.boosting.trees.engine import Growth, newton_step
from shortlist.rankers.folds import without


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    return X, X[:, 0] > 1


def growing(rows, X_watched=None):
    X, y = rows
    step = newton_step(
        lambda margin: ((1 / (1 + np.exp(-margin)) - y).astype(np.float32), np.ones_like(margin))
    )
    matrix = xgb.QuantileDMatrix(X)
    watched = None if X_watched is None else xgb.QuantileDMatrix(X_watched, ref=matrix)
    return Growth(matrix, step, {"max_depth": 2, "nthread": 1}, watched=watched)


@pytest.mark.parametrize("at_once", [1, 2, 6])
def test_trees_and_margins_do_not_depend_on_how_often_one_looks(rows, at_once):
    growth = growing(rows)
    for _ in range(6 // at_once):
        growth.grow(at_once)
        margin = growth.margins()
    whole = growing(rows)
    whole.grow(6)
    np.testing.assert_array_equal(margin, whole.margins())
    assert growth.booster.save_raw() == whole.booster.save_raw()
    direct = growth.booster.predict(xgb.DMatrix(rows[0]), output_margin=True)
    np.testing.assert_allclose(margin, direct, rtol=1e-6)


@pytest.mark.parametrize("loss", ["mix", "ap_exp", "ap_exp_faithful"])
def test_trees_do_not_depend_on_how_many_histograms_are_kept(monkeypatch, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 8))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=3_000) > 1
    dumps = []
    for kept in (4, engine.KEPT_NODES, 65_536):
        monkeypatch.setattr(engine, "KEPT_NODES", kept)
        ranker = APBoost(loss=loss, folds=0, max_depth=10, n_estimators=4, random_state=0).fit(X, y)
        dumps.append(ranker.booster_.get_dump(with_stats=True))
    assert dumps[0] == dumps[1] == dumps[2]


def test_rows_watched_get_their_own_margins(rows):
    new = rows[0][:40] + 0.5
    growth = growing(rows, new)
    for _ in range(2):
        growth.grow(2)
        np.testing.assert_allclose(
            growth.margins(), growth.booster.predict(xgb.DMatrix(new), output_margin=True), rtol=1e-6
        )


class Booster:
    """One that looks, while a tree grows, whether the margins that it grew from are still there."""

    def __init__(self):
        self.margins, self.seen = [], []

    def num_boosted_rounds(self):
        return len(self.seen)

    def predict(self, *_, **__):
        margin = np.zeros(5, dtype=np.float32)
        self.margins.append(weakref.ref(margin))
        return margin

    def boost(self, *_, **__):
        self.seen.append(self.margins[-1]())


def test_margins_are_let_go_of_while_a_tree_grows():
    growth = Growth.__new__(Growth)
    growth.booster, growth.matrix, growth.watched = Booster(), None, None
    growth.step = newton_step(lambda margin: (np.ones_like(margin), np.ones_like(margin)))
    growth.grow(3)
    assert growth.margins().tolist() == [0.0] * 5
    assert growth.booster.seen == [None] * 3


def test_rows_that_are_left_out_cost_four_bytes_each():
    y = np.array([True, False, False])
    batch = Batch(np.zeros((3, 1)), y, Lists.single(3), None, np.zeros(1, dtype=bool))
    left = without(batch, np.array([False, True, False]))
    assert row_weights(left).tolist() == [1, 0, 1]
    assert np.shares_memory(row_weights(left), left.sample_weight)


def test_weights_that_were_given_keep_their_digits():
    batch = Batch(
        np.zeros((2, 1)), np.array([True, False]), Lists.single(2), np.array([0.1, 3]), np.zeros(1, bool)
    )
    assert without(batch, np.array([False, True])).sample_weight.tolist() == [0.1, 0]
