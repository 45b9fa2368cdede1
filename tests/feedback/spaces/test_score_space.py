"""Score spaces: made from every kind of ensemble, appended to, saved, and refused where they cannot be made."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
)

from shortlist.exceptions import InvalidInputError
from shortlist.feedback import OMD, LeafSimilarity, OJRank, ScoreSpace
from shortlist.feedback.spaces.isolation import expected_path_length
from shortlist.rankers import APBoost
from shortlist.tables.features import Columns
from tests.feedback.conftest import make_rows, make_space, play


def with_gaps(n=400):
    """Numbers with gaps, and a column of three categories."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 3))
    X[rng.random((n, 3)) < 0.2] = np.nan
    X[:, 2] = rng.integers(0, 70, n)
    y = (np.nan_to_num(X[:, 0]) + (X[:, 2] % 3 == 0) + rng.normal(0, 0.3, n)) > 1
    return X, y


def leaf_counts_by_hand(space, X):
    """Walk every row down every tree, one comparison at a time."""
    forest, out = space.forest, np.zeros((X.shape[0], space.n_members), dtype=int)
    for i, t in np.ndindex(out.shape):
        node = forest.roots[t]
        while (f := forest.feature[node]) >= 0:
            x = X[i, f]
            if np.isnan(x):
                right = not forest.missing_left[node]
            elif forest.category_set[node] >= 0:
                right = int(x) in forest.categories(node)
            else:
                right = x > forest.threshold[node]
            node = forest.child[2 * node + right]
        out[i, t] = forest.leaf_starts[t] + forest.leaf[node]
    return out


def test_expected_path_length():
    harmonic = sum(1 / k for k in range(1, 256))
    assert expected_path_length(np.array([256.0]))[0] == pytest.approx(2 * harmonic - 2 * 255 / 256, rel=1e-3)


def test_isolation_leaves_and_values():
    X, _ = make_rows()
    space = make_space()
    assert np.array_equal(space.leaves(np.arange(300)), leaf_counts_by_hand(space, X))
    depth = space.forest.depth[space.forest.leaf_nodes]
    assert depth.max() <= 8
    assert space.values == pytest.approx(1 / np.maximum(1, depth + expected_path_length(space.leaf_counts)))
    assert np.add.reduceat(space.leaf_counts, space.forest.leaf_starts[:-1]).tolist() == [256] * 20
    assert space.leaf_rows.sum() == 20 * 300
    assert np.array_equal(space.node_rows[space.forest.roots[:-1]], np.full(20, 300))


def test_trees_of_unlimited_depth_isolate_every_sampled_row():
    space = make_space(max_depth=None)
    assert set(space.leaf_counts) == {1}
    assert space.leaf_ids.dtype == np.uint8


def test_isolation_forest_handles_gaps_and_categories():
    X, _ = with_gaps()
    frame = pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "kind": [f"k{int(c)}" for c in X[:, 2]]}, nan_to_null=True
    )
    space = ScoreSpace.from_isolation_forest(frame, n_trees=30, random_state=0)
    assert space.forest.sets.size
    matrix = space.columns.matrix(frame)
    assert np.array_equal(space.leaves(np.arange(400)), leaf_counts_by_hand(space, matrix))
    row = frame[:1].with_columns(kind=pl.lit("never seen"))
    assert space.append(row) == range(400, 401)


def test_a_column_known_or_not_is_told_apart():
    X = np.column_stack([np.where(np.arange(100) < 5, np.nan, 1.0), np.zeros(100)])
    space = ScoreSpace.from_isolation_forest(X, n_trees=10, random_state=0)
    assert set(np.argsort(-space.base_scores())[:5]) == {0, 1, 2, 3, 4}


def test_a_fitted_isolation_forest_ranks_as_scikit_learn_does():
    X, _ = make_rows()
    model = IsolationForest(n_estimators=40, random_state=0).fit(X)
    space = ScoreSpace.from_isolation_forest(X, forest=model)
    same_leaf = np.column_stack([tree.apply(X.astype(np.float32)) for tree in model.estimators_])
    ours = space.forest.leaf_nodes[space.leaves(np.arange(300))] - space.forest.roots[:-1]
    assert np.array_equal(ours, same_leaf)
    assert np.corrcoef(space.base_scores(), -model.score_samples(X))[0, 1] > 0.95


#: From 3.3 on, any booster of XGBoost drops trees where it is told to, and the name "dart" is a warning.
DROPS = {"rate_drop": 0.3} | (
    {"booster": "dart"} if tuple(map(int, xgb.__version__.split(".")[:2])) < (3, 3) else {}
)


@pytest.mark.parametrize("drops", [{}, DROPS], ids=["gbtree", "dart"])
def test_boosted_trees_give_the_model_s_own_scores(drops):
    X, y = with_gaps()
    data = xgb.DMatrix(X, y, feature_types=["q", "q", "c"], enable_categorical=True)
    params = {"max_depth": 6, "max_cat_to_onehot": 2, "base_score": 0.5, **drops}
    model = xgb.train({"objective": "binary:logistic", **params}, data, num_boost_round=25)
    assert (b"weight_drop" in model.save_raw("json")) == bool(drops)
    space = ScoreSpace.from_boosted(X, model)
    assert space.forest.sets.size
    leaf = model.predict(data, pred_leaf=True)
    assert np.array_equal(
        space.forest.leaf_nodes[space.leaves(np.arange(400))] - space.forest.roots[:-1], leaf
    )
    assert space.base_scores() == pytest.approx(model.predict(data, output_margin=True), abs=1e-4)


def test_a_supervised_model_learns_on_the_job():
    X, wanted = make_rows(600, seed=4)
    blind = np.where(np.arange(600) % 2, wanted, X[:, 2] > 2)  # half the labels point to the other cluster
    model = xgb.train({"max_depth": 3}, xgb.DMatrix(X, blind), num_boost_round=20)
    space = ScoreSpace.from_boosted(X, model)
    found = {}
    for strategy in (OJRank, LeafSimilarity):
        ranker = strategy(space, random_state=0)
        play(ranker, wanted, 30)
        found[strategy] = ranker.hits
    top = np.argsort(-space.base_scores())[:30]
    assert min(found.values()) >= wanted[top].sum() + 5


def test_random_forests_give_their_own_predictions():
    X, y = make_rows()
    classifier = RandomForestClassifier(n_estimators=15, random_state=0).fit(X, y)
    space = ScoreSpace.from_random_forest(X, classifier)
    assert space.base_scores() == pytest.approx(classifier.predict_proba(X)[:, 1])
    regressor = ExtraTreesRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    assert ScoreSpace.from_random_forest(X, regressor).base_scores() == pytest.approx(regressor.predict(X))


def test_wide_trees_take_two_bytes():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    model = ExtraTreesRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0])
    space = ScoreSpace.from_random_forest(X, model)
    assert space.leaf_ids.dtype == np.uint16
    assert space.base_scores() == pytest.approx(model.predict(X))


def test_loda_bins():
    X, wanted = make_rows(1000)
    X[::50, 0] = np.nan
    space = ScoreSpace.from_loda(X, n_projections=60, random_state=0)
    Z = space.projection.apply(X)
    leaves = space.leaves(np.arange(1000))
    for t in range(3):  # a bin is an interval of its projection, and the fuller bin has the smaller value
        order = np.argsort(Z[:, t])
        runs = np.flatnonzero(np.diff(leaves[order, t]))
        assert runs.size + 1 == np.unique(leaves[:, t]).size
        counts = np.bincount(leaves[:, t], minlength=space.n_leaves)[np.unique(leaves[:, t])]
        values = space.values[np.unique(leaves[:, t])]
        assert np.array_equal(np.argsort(-counts, kind="stable"), np.argsort(values, kind="stable"))
    ranker = LeafSimilarity(space, random_state=0)
    play(ranker, wanted, 50)
    assert ranker.hits >= 30
    far = space.append(np.full((1, 3), 50.0))[0]
    assert ranker.ranking(1) == [far]


@pytest.mark.parametrize("kind", ["isolation", "loda", "frame"])
def test_a_saved_space_is_the_same_and_can_grow(kind, tmp_path):
    X, _ = make_rows()
    rows = (
        pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(flag=pl.col("a") > 1) if kind == "frame" else X
    )
    make = ScoreSpace.from_loda if kind == "loda" else ScoreSpace.from_isolation_forest
    space = make(rows, random_state=0)
    space.append(rows[:7])
    space.build_index()
    space.save(tmp_path / "space")
    for mmap in (True, False):
        loaded = ScoreSpace.load(tmp_path / "space", mmap=mmap)
        assert loaded.fingerprint == space.fingerprint
        assert np.array_equal(loaded.base_scores(), space.base_scores())
        assert loaded.index is not None
        loaded.append(rows[:5])
        assert np.array_equal(loaded.leaves(range(307, 312)), space.leaves(range(5)))


def test_the_index_holds_every_row_once(space):
    space.build_index()
    leaves = space.leaves(np.arange(space.n_rows))
    for leaf, rows in enumerate(np.split(space.index.rows, space.index.leaf_start[1:-1])):
        assert rows.tolist() == np.flatnonzero((leaves == leaf).any(axis=1)).tolist()


def test_many_arrivals_cross_blocks_and_renew_the_index():
    X = np.random.default_rng(0).normal(size=(9000, 2))
    space = ScoreSpace.from_isolation_forest(X[:4000], n_trees=4, random_state=0).build_index()
    for start in range(4000, 9000, 700):
        space.append(X[start : start + 700])
    assert space.index.n_rows > 4000
    whole = ScoreSpace.from_isolation_forest(X[:4000], n_trees=4, random_state=0)
    whole.append(X[4000:])
    assert np.array_equal(space.leaves(np.arange(9000)), whole.leaves(np.arange(9000)))


def test_one_member_and_one_row_work():
    X, wanted = make_rows(100)
    ranker = LeafSimilarity(ScoreSpace.from_isolation_forest(X, n_trees=1, random_state=0))
    play(ranker, wanted, 20)
    assert ranker.version == 20
    arrived = ranker.space.append(X[:1])
    assert list(arrived) == [100]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((50, 3)), "identical"),
        (np.full((50, 2), np.nan), "identical"),
        (np.array([[1.0, 2.0], [np.inf, 0.0]]), r"infinite values, the first in row 1"),
        (np.ones(5), "rows and columns"),
        (np.ones((0, 3)), "rows and columns"),
        ([["a", "b"]], "must hold numbers"),
    ],
)
def test_rows_that_make_no_space_are_refused(X, words):
    with pytest.raises(InvalidInputError, match=words):
        ScoreSpace.from_isolation_forest(X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: ScoreSpace.from_isolation_forest(X, n_trees=0), "n_trees"),
        (lambda X: ScoreSpace.from_isolation_forest(X, sample_size=-1), "sample_size"),
        (lambda X: ScoreSpace.from_isolation_forest(X, max_depth=0), "max_depth"),
        (lambda X: ScoreSpace.from_loda(X, n_projections=0), "n_projections"),
        (lambda X: ScoreSpace.from_loda(X, n_bins=0), "n_bins"),
        (lambda X: ScoreSpace.from_loda(X, random_state=-1), "random_state"),
        (lambda X: ScoreSpace.from_isolation_forest(X, random_state="a"), "random_state"),
        (lambda X: ScoreSpace.from_boosted(X, object()), "no boosted trees"),
        (lambda X: ScoreSpace.from_random_forest(X, RandomForestClassifier()), "not fitted"),
        (
            lambda X: ScoreSpace.from_random_forest(
                X, RandomForestClassifier(n_estimators=2).fit(X, np.arange(300) % 3)
            ),
            "one output",
        ),
        (
            lambda X: ScoreSpace.from_random_forest(X, AdaBoostClassifier()),
            "AdaBoostClassifier cannot be read",
        ),
        (lambda X: ScoreSpace.from_random_forest(X, BaggingClassifier()), "give one of: RandomForest"),
        (lambda X: ScoreSpace.from_random_forest(X, IsolationForest()), "IsolationForest cannot be read"),
        (lambda X: ScoreSpace.from_isolation_forest(X, forest=IsolationForest()), "not fitted"),
        (lambda X: ScoreSpace.from_isolation_forest(X, forest=RandomForestClassifier()), "cannot be read"),
        (lambda X: OMD(ScoreSpace.from_loda(X)), "only isolation forests"),
        (lambda X: LeafSimilarity(make_space(), kernel="tree"), "kernel"),
        (lambda X: LeafSimilarity(make_space(), ridge=0), "ridge"),
        (lambda X: OJRank(make_space(), n_pairs=0), "n_pairs"),
    ],
)
def test_settings_that_make_no_sense_are_refused(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(make_rows()[0])


@pytest.fixture(scope="module")
def ensembles():
    """A way from rows to a space of each kind of fitted ensemble, trained on named columns a, b and c."""
    X, wanted = make_rows()
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    forest = RandomForestClassifier(5, random_state=0).fit(frame, wanted)
    isolation = IsolationForest(n_estimators=5, random_state=0).fit(frame)
    ranker = APBoost(folds=0, n_estimators=5, random_state=0).fit(frame.to_numpy(), wanted)
    booster = xgb.train({}, xgb.DMatrix(frame, wanted), num_boost_round=5)
    makers = {
        "forest": lambda rows: ScoreSpace.from_random_forest(rows, forest),
        "isolation": lambda rows: ScoreSpace.from_isolation_forest(rows, forest=isolation),
        "ranker": lambda rows: ScoreSpace.from_boosted(rows, ranker),
        "booster": lambda rows: ScoreSpace.from_boosted(rows, booster),
    }
    return frame, makers


@pytest.mark.parametrize("kind", ["forest", "isolation", "ranker", "booster"])
def test_other_columns_than_the_ensemble_s_are_refused(ensembles, kind):
    frame, makers = ensembles
    make = makers[kind]
    assert np.array_equal(make(frame).base_scores(), make(frame.to_numpy()).base_scores())
    for rows in (frame.to_numpy()[:, :1], frame[["a"]], frame.assign(d=1.0)):
        with pytest.raises(InvalidInputError, match="learned from 3"):
            make(rows)
    if kind != "ranker":  # which was fitted without names
        with pytest.raises(InvalidInputError, match=r"column 'c' where .* learned from 'a'"):
            make(frame[["c", "b", "a"]])


def test_trees_that_cut_columns_which_are_not_there_are_refused():
    space = make_space()
    with pytest.raises(InvalidInputError, match="but the rows have 1"):
        ScoreSpace(space.forest, space.values, Columns(["x"], np.zeros(1, dtype=bool)))
