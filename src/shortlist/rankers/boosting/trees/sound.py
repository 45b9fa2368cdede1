"""Whether XGBoost can read a model, and score by it, within its own memory.

Its reader checks sizes of most arrays, and believes what stands in them: a child beyond the last node, a tree that adds
to an output that is not there or a category list that ends elsewhere makes it read or *write* foreign memory, which may
show much later or never. So what a stranger wrote is checked here, in Python, before XGBoost sees it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import ShortlistError
from shortlist.rankers.boosting.trees.ubjson import read_ubjson

#: Categories are counted from 0; XGBoost itself stops here.
MOST_CATEGORIES = 1 << 24
#: What a tree says of each of its nodes.
_BY_NODE = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_conditions",
    "split_type",
    "default_left",
    "loss_changes",
    "sum_hessian",
    "base_weights",
)
_CATEGORIES = ("categories_nodes", "categories_segments", "categories_sizes")


class UnsoundTreesError(ShortlistError):
    """Trees that nobody may score by."""


@contextlib.contextmanager
def checked_before_read() -> Iterator[None]:
    """Within, no booster is made from bytes that were not checked; for a process that does nothing else meanwhile."""
    load, set_state = xgb.Booster.load_model, xgb.Booster.__setstate__

    def checked_load(self: xgb.Booster, raw: Any) -> None:
        check_model(read_ubjson(raw))
        load(self, raw)

    def checked_state(self: xgb.Booster, state: dict[str, Any]) -> None:
        if state["handle"] is not None:
            check_model(read_ubjson(state["handle"])["Model"])
        set_state(self, state)

    xgb.Booster.load_model, xgb.Booster.__setstate__ = checked_load, checked_state
    try:
        yield
    finally:
        xgb.Booster.load_model, xgb.Booster.__setstate__ = load, set_state


def check_booster(booster: xgb.Booster) -> None:
    """Refuse one whose trees are not sound, as XGBoost understood them."""
    check_model(read_ubjson(booster.save_raw("ubj")))


def check_model(model: dict[str, Any]) -> None:
    """Refuse a model in XGBoost's format that is not a sum of sound trees with one output."""
    learner = model["learner"]
    params, booster = learner["learner_model_param"], learner["gradient_booster"]
    columns = int(params["num_feature"])
    _must(int(params["num_class"]) <= 1 and int(params.get("num_target", 1)) <= 1, "more outputs than one")
    for names in (learner["feature_names"], learner["feature_types"]):
        _must(len(names) in (0, columns), "names for other columns than it has")
    if booster["name"] == "gblinear":
        _must(len(booster["model"]["weights"]) == columns + 1, "weights for other columns than it has")
        return
    dart = booster.get("gbtree", booster)
    _check_forest(dart["model"], columns)
    weights = dart["model"].get("weight_drop", booster.get("weight_drop"))
    _must(weights is None or len(weights) == len(dart["model"]["trees"]), "weights for other trees")


def _check_forest(forest: dict[str, Any], columns: int) -> None:
    trees, rounds = forest["trees"], np.asarray(forest["iteration_indptr"])
    _must(int(forest["gbtree_model_param"]["num_trees"]) == len(trees), "another number of trees")
    # The output that a tree adds to, by its number: XGBoost writes there.
    outputs = np.asarray(forest["tree_info"])
    _must(len(outputs) == len(trees) and not outputs.any(), "trees of outputs that are not there")
    whole = rounds.size > 0 and rounds[0] == 0 and rounds[-1] == len(trees) and (np.diff(rounds) >= 0).all()
    _must(whole, "rounds of trees that are not there")
    # Ours know categories by number; a code book of XGBoost's own comes from data frames, which we never give it.
    _must(not any(len(part) for part in forest.get("cats", {}).values()), "a code book of categories")
    for tree in trees:
        _check_tree(tree, columns)


def _check_tree(tree: dict[str, Any], columns: int) -> None:
    param = tree["tree_param"]
    sizes = {len(tree[name]) for name in _BY_NODE} | {int(param["num_nodes"])}
    _must(len(sizes) == 1, "nodes that are told by halves")
    _must(int(param["num_feature"]) == columns, "trees of other columns")
    _must(int(param["size_leaf_vector"]) <= 1, "leaves with several outputs")
    left, right, split = (
        np.asarray(tree[name]) for name in ("left_children", "right_children", "split_indices")
    )
    check_nodes(left, right, split, columns)
    inner = np.flatnonzero(left >= 0)
    parents = np.asarray(tree["parents"])
    _must((parents[left[inner]] == inner).all() and (parents[right[inner]] == inner).all(), "other parents")
    _check_categories(tree, inner)


def check_nodes(left: NDArray, right: NDArray, columns: NDArray, n_columns: int) -> None:
    """Every node has two children in the tree or none, its column exists, and a walk from the root ends."""
    inner = left >= 0
    ends = np.concatenate([left[inner], right[inner]])
    asked = columns[inner]
    sound = left.size > 0 and (inner == (right >= 0)).all() and ((asked >= 0) & (asked < n_columns)).all()
    # Each node hangs below at most one other, and none above the root: so there is no circle that the root leads to.
    inside = ends.size == 0 or (
        ends.min() > 0 and ends.max() < left.size and np.unique(ends).size == ends.size
    )
    _must(sound and inside, "nodes that lead out of them")


def _check_categories(tree: dict[str, Any], inner: NDArray) -> None:
    """The nodes that ask for a category are those with a list of them, and the lists lie one after the other."""
    kinds = np.asarray(tree["split_type"])
    _must(np.isin(kinds, (0, 1)).all(), "splits of no known kind")
    nodes, starts, sizes = (np.asarray(tree[name], dtype=np.int64) for name in _CATEGORIES)
    values = np.asarray(tree["categories"], dtype=np.int64)
    asking = inner[kinds[inner] == 1]
    _must(
        np.array_equal(nodes, asking) and len(starts) == len(sizes) == len(nodes), "categories of other nodes"
    )
    ends = np.cumsum(sizes)
    whole = (sizes > 0).all() and np.array_equal(starts, ends - sizes) and ends[-1:].sum() == len(values)
    _must(bool(whole and ((values >= 0) & (values < MOST_CATEGORIES)).all()), "categories that are not there")


def _must(sound: bool | np.bool_, found: str) -> None:
    if not sound:
        raise UnsoundTreesError(f"its trees have {found}")
