"""Trained ensembles as a forest of ours: boosted trees of XGBoost, random forests of scikit-learn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Floats, Forest, Tree
from shortlist.feedback.spaces.isolation import check_model, read_sklearn_tree
from shortlist.tables.features import Columns

#: Forests whose prediction is the mean of their trees' outputs; others weigh trees, or give them some columns each.
MEANS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)


def read_boosted(booster: Any) -> tuple[Forest, Floats]:
    """The trees of an ``xgboost.Booster`` and the output of each leaf; their sum is the margin less its base."""
    if not hasattr(booster, "save_raw"):
        raise InvalidInputError(
            f"{type(booster).__name__} has no boosted trees to read. Fit the ranker first, or give an xgboost.Booster."
        )
    learner = read_learner(booster)
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster).get("model", {})
    trees = model.get("trees", [])
    if not trees or int(learner["learner_model_param"].get("num_class", 0)) > 1:
        raise InvalidInputError(
            "a score space needs boosted trees with one output, at least one tree of them."
        )
    # DART scales its trees; XGBoost moved the scales into the model in 3.4.
    weights = model.get("weight_drop") or booster.get("weight_drop") or np.ones(len(trees))
    forest = Forest.of([_boosted_tree(tree) for tree in trees])
    return forest, np.concatenate(
        [_boosted_outputs(tree) * w for tree, w in zip(trees, weights, strict=True)]
    )


def read_learner(booster: Any) -> dict[str, Any]:
    """What XGBoost says of a booster."""
    return json.loads(bytes(booster.save_raw("json")))["learner"]


def read_random_forest(model: Any) -> tuple[Forest, Floats]:
    """The trees of a fitted forest and the output of each leaf / m; their sum is the forest's prediction.

    Of a classifier with two classes it is the probability of the larger class; of a regressor the mean.
    """
    check_model(model, MEANS)
    trees = [estimator.tree_ for estimator in np.ravel(model.estimators_)]
    n_classes = getattr(model, "n_classes_", 1)
    if getattr(model, "n_outputs_", 1) != 1 or n_classes > 2:
        raise InvalidInputError(
            "a score space needs a forest with one output: two classes, or one number to predict."
        )
    outputs = [_forest_outputs(tree) / len(trees) for tree in trees]
    return Forest.of([read_sklearn_tree(tree) for tree in trees]), np.concatenate(outputs)


def check_columns(columns: Columns, model: Any) -> None:
    """Refuse other columns than the model knows, by its order and names of them.

    >>> forest = RandomForestRegressor(2).fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    >>> check_columns(Columns(["x0"], np.array([False])), forest)
    Traceback (most recent call last):
        ...
    shortlist.exceptions.InvalidInputError: the rows have 1 columns, but RandomForestRegressor learned from 2...
    """
    kind, (width, names) = type(model).__name__, _columns_of(model)
    if width != len(columns.names):
        raise InvalidInputError(
            f"the rows have {len(columns.names)} columns, but {kind} learned from {width}. Give the same columns, in "
            "the same order."
        )
    if columns.schema is not None and names is not None and names != columns.names:
        own, other = next(pair for pair in zip(names, columns.names, strict=True) if pair[0] != pair[1])
        raise InvalidInputError(
            f"the rows have the column {other!r} where {kind} learned from {own!r}. Give the same columns, in the same "
            "order."
        )


def _columns_of(model: Any) -> tuple[int, list[str] | None]:
    """How many columns a model of XGBoost or scikit-learn has learned from, and their names where it knows them."""
    if hasattr(model, "num_features"):
        names, width = model.feature_names, model.num_features()
    else:
        names, width = getattr(model, "feature_names_in_", None), model.n_features_in_
    return width, None if names is None else [str(name) for name in names]


def check_width(forest: Forest, width: int) -> None:
    """Refuse trees that cut a column which rows of this width do not have: compiled code would read beyond them."""
    if forest.feature.max() >= width:
        raise InvalidInputError(
            f"the trees cut column {int(forest.feature.max()) + 1}, but the rows have {width}. Give the columns that "
            "the ensemble was trained on."
        )


def _boosted_tree(tree: dict[str, Any]) -> Tree:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    is_leaf = left < 0
    # XGBoost sends x < threshold to the left, in float32; the next smaller number makes that x <= threshold.
    cut = np.nextafter(np.array(tree["split_conditions"], dtype=np.float32), np.float32(-np.inf))
    return Tree(
        feature=np.where(is_leaf, -1, tree["split_indices"]).astype(np.int32),
        threshold=cut.astype(np.float64),
        child=np.column_stack([left, right]).ravel().astype(np.int64),
        missing_left=np.array(tree["default_left"], dtype=bool),
        category_codes=_category_codes(tree),
    )


def _category_codes(tree: dict[str, Any]) -> dict[int, list[int]]:
    parts = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    return {node: tree["categories"][start : start + size] for node, start, size in parts}


def _boosted_outputs(tree: dict[str, Any]) -> Floats:
    is_leaf = np.array(tree["left_children"]) < 0
    return np.array(tree["split_conditions"], dtype=np.float32)[is_leaf].astype(np.float64)


def _forest_outputs(tree: Any) -> Floats:
    value = tree.value[tree.children_left < 0, 0, :]
    return value[:, -1] / value.sum(axis=1) if value.shape[1] > 1 else value[:, 0]
