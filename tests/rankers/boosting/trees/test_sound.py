"""What XGBoost would believe and must not: each is refused before it reads it."""

import copy

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.rankers import APBoost, LambdaMART
from shortlist.rankers.boosting.trees.sound import (
    UnsoundTreesError,
    check_booster,
    check_model,
    check_nodes,
    checked_before_read,
)
from shortlist.rankers.boosting.trees.ubjson import read_ubjson, write_ubjson

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(300, 2)), RNG.integers(0, 40, 300)])
Y = (X[:, 0] > 0.5) ^ np.isin(X[:, 2], [3, 7, 11, 13, 17])

#: Children on the left, on the right, and the column of the nodes: in a circle, outside, back to the root, two paths to
#: one node, one child only, a column that is not there, no nodes.
WRONG_NODES = [
    ([1, 1, -1], [2, 2, -1], 0),
    ([1, -1, -1], [9, -1, -1], 0),
    ([0, -1, -1], [2, -1, -1], 0),
    ([1, -1, -1], [1, -1, -1], 0),
    ([1, -1, -1], [-1, -1, -1], 0),
    ([1, -1, -1], [2, -1, -1], 7),
    ([], [], 0),
]


def grown(**params):
    """A booster with a column of categories."""
    matrix = xgb.DMatrix(X, Y, feature_types=["q", "q", "c"], enable_categorical=True)
    given = {"max_depth": 4, "max_cat_to_onehot": 1, "nthread": 1, **params}
    return xgb.train(given, matrix, num_boost_round=4)


@pytest.fixture(scope="module")
def model():
    return read_ubjson(grown().save_raw("ubj"))


HONEST = {
    "categories": grown,
    "dart": lambda: grown(booster="dart", rate_drop=0.5),
    "parallel": lambda: grown(num_parallel_tree=3, subsample=0.5),
    "pruned": lambda: grown(gamma=1000.0),
    "linear": lambda: xgb.train({"booster": "gblinear"}, xgb.DMatrix(X, Y), 2),
    "classifier": lambda: xgb.XGBClassifier(n_estimators=3).fit(X, Y).get_booster(),
    "regressor": lambda: xgb.XGBRegressor(n_estimators=3).fit(X, X[:, 0]).get_booster(),
    "ours": lambda: APBoost(n_estimators=3, random_state=0).fit(X, Y).booster_,
    "lists": lambda: LambdaMART(n_estimators=3).fit(X, Y).booster_,
}


@pytest.mark.parametrize("kind", HONEST)
def test_honest_models_pass_before_and_after_they_are_read(kind):
    with xgb.config_context(verbosity=0):  # newer releases warn of linear boosters
        honest = HONEST[kind]()
        check_booster(honest)
        with checked_before_read():
            again = xgb.Booster(model_file=honest.save_raw("ubj"))
            copy.deepcopy(again)
        assert again.save_raw("ubj") == honest.save_raw("ubj")


def test_nodes_that_lead_nowhere_are_found():
    check_nodes(np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([0, 9, 9]), n_columns=1)
    for left, right, column in WRONG_NODES:
        columns = np.full(len(left), column)
        with pytest.raises(UnsoundTreesError, match="lead out"):
            check_nodes(np.array(left, dtype=int), np.array(right, dtype=int), columns, n_columns=1)


def forest(model):
    return model["learner"]["gradient_booster"]["model"]


def first_with_categories(model):
    return next(tree for tree in forest(model)["trees"] if len(tree["categories"]))


def put(part, place, value):
    part[place] = value


#: What is done to a model, and what is said of it.
DAMAGES = {
    "an output that is not there": (lambda m: put(forest(m)["tree_info"], 1, 88), "outputs"),
    "an output below the first": (lambda m: put(forest(m)["tree_info"], 1, -1), "outputs"),
    "outputs of fewer trees": (lambda m: forest(m)["tree_info"].pop(), "outputs"),
    "rounds beyond the trees": (lambda m: put(forest(m)["iteration_indptr"], -1, 99), "rounds"),
    "rounds that go back": (lambda m: put(forest(m)["iteration_indptr"], 1, 4), "rounds"),
    "more trees than there are": (lambda m: forest(m)["trees"].pop(), "number of trees"),
    "a code book": (lambda m: put(forest(m), "cats", {"enc": [1]}), "code book"),
    "classes": (lambda m: put(m["learner"]["learner_model_param"], "num_class", "3"), "outputs than one"),
    "targets": (lambda m: put(m["learner"]["learner_model_param"], "num_target", "2"), "outputs than one"),
    "more columns": (lambda m: put(m["learner"]["learner_model_param"], "num_feature", "9"), "columns"),
    "a name too many": (lambda m: m["learner"]["feature_types"].append("q"), "columns"),
    "nodes by halves": (
        lambda m: put(forest(m)["trees"][0], "default_left", np.zeros(1, np.uint8)),
        "by halves",
    ),
    "other parents": (lambda m: put(forest(m)["trees"][0]["parents"], 1, 2), "parents"),
    "a tree of other columns": (
        lambda m: put(forest(m)["trees"][0]["tree_param"], "num_feature", "2"),
        "other columns",
    ),
    "wide leaves": (
        lambda m: put(forest(m)["trees"][0]["tree_param"], "size_leaf_vector", "5"),
        "several outputs",
    ),
    "a split of no kind": (lambda m: put(forest(m)["trees"][0]["split_type"], 0, 7), "no known kind"),
    "a category of no node": (
        lambda m: put(first_with_categories(m)["split_type"], slice(None), 0),
        "other nodes",
    ),
    "categories of other lengths": (
        lambda m: put(first_with_categories(m)["categories_sizes"], 0, 1000),
        "not there",
    ),
    "categories that begin elsewhere": (
        lambda m: put(first_with_categories(m)["categories_segments"], 0, 5),
        "not there",
    ),
    "a category below 0": (lambda m: put(first_with_categories(m)["categories"], 0, -5), "not there"),
    "a category without bound": (
        lambda m: put(first_with_categories(m)["categories"], 0, 2**30),
        "not there",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_would_be_believed_is_refused_before_it_is_read(model, damage):
    damaged = copy.deepcopy(model)
    harm, told = DAMAGES[damage]
    check_model(damaged)
    harm(damaged)
    with checked_before_read(), pytest.raises(UnsoundTreesError, match=told):
        xgb.Booster(model_file=bytearray(write_ubjson(damaged)))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_whatever_byte_of_the_numbers_is_changed_trees_are_refused_or_lead_somewhere(model, data):
    """A tree that passed is walked here as XGBoost would, with every answer at every node."""
    raw = bytearray(write_ubjson(model))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        changed = read_ubjson(raw)
        check_model(changed)
    except Exception:
        return
    for tree in forest(changed)["trees"]:
        waiting, steps = [0], 0
        while waiting:
            node, steps = waiting.pop(), steps + 1
            if tree["left_children"][node] >= 0:
                assert 0 <= tree["split_indices"][node] < X.shape[1]
                waiting += [tree["left_children"][node], tree["right_children"][node]]
            assert steps <= len(tree["left_children"])


def test_boosters_are_read_as_ever_afterwards():
    before = xgb.Booster.load_model, xgb.Booster.__setstate__
    with pytest.raises(KeyError), checked_before_read():
        xgb.Booster(model_file=bytearray(b"{}"))
    assert (xgb.Booster.load_model, xgb.Booster.__setstate__) == before
