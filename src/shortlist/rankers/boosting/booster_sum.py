"""A weighted sum of boosted models as one model, so that everything that reads a booster reads an ensemble too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import xgboost as xgb


def add_boosters(
    boosters: Sequence[xgb.Booster], weights: Sequence[float], offset: float = 0.0
) -> xgb.Booster:
    """One booster whose margin is offset + Σ weight x margin.

    Leaves are multiplied and trees are put one after the other in XGBoost's own (documented) JSON model, so the
    sum scores in one pass, explains itself, and is a plain model file to every other tool.
    """
    models = [json.loads(booster.save_raw("json")) for booster in boosters]
    trees = [
        _scaled(tree, weight)
        for model, weight in zip(models, weights, strict=True)
        for tree in _forest(model)["trees"]
    ]
    whole, forest = models[0], _forest(models[0])
    for number, tree in enumerate(trees):
        tree["id"] = number
    forest["trees"] = trees
    forest["tree_info"] = [0] * len(trees)
    forest["iteration_indptr"] = list(range(len(trees) + 1))
    forest["gbtree_model_param"]["num_trees"] = str(len(trees))
    base = offset + sum(weight * _base(model) for model, weight in zip(models, weights, strict=True))
    whole["learner"]["learner_model_param"]["base_score"] = f"[{base:.9E}]"
    return xgb.Booster(model_file=bytearray(json.dumps(whole).encode()))


def _forest(model: dict[str, Any]) -> dict[str, Any]:
    return model["learner"]["gradient_booster"]["model"]


def _base(model: dict[str, Any]) -> float:
    return float(model["learner"]["learner_model_param"]["base_score"].strip("[]"))


def _scaled(tree: dict[str, Any], weight: float) -> dict[str, Any]:
    """The tree with its leaves (and the weights of its inner nodes) multiplied."""
    tree["base_weights"] = [weight * value for value in tree["base_weights"]]
    tree["split_conditions"] = [
        weight * value if left == -1 else value
        for value, left in zip(tree["split_conditions"], tree["left_children"], strict=True)
    ]
    return tree
