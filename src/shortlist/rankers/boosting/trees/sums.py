"""Several boosted models as one: their trees one after the other, with leaves multiplied by weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost as xgb

from shortlist.rankers.boosting.trees.ubjson import read_ubjson, write_ubjson


@dataclass(frozen=True, eq=False)
class TreeSum:
    """offset + Σ weight x margin of several models, not yet written as one."""

    boosters: tuple[xgb.Booster, ...]
    weights: tuple[float, ...]
    offset: float = 0.0

    def scaled(self, slope: float, base: float) -> TreeSum:
        """Base + slope x this."""
        weights = tuple(slope * weight for weight in self.weights)
        return TreeSum(self.boosters, weights, base + slope * self.offset)

    def __add__(self, other: TreeSum) -> TreeSum:
        boosters, weights = self.boosters + other.boosters, self.weights + other.weights
        return TreeSum(boosters, weights, self.offset + other.offset)

    def as_booster(self) -> xgb.Booster:
        """One model that scores as the sum."""
        return add_boosters(self.boosters, self.weights, self.offset)


def add_boosters(
    boosters: Sequence[xgb.Booster], weights: Sequence[float], offset: float = 0.0
) -> xgb.Booster:
    """One booster whose margin is offset + Σ weight x margin.

    It is written in XGBoost's own (documented) model format, so the sum scores in one pass, explains itself, and is a
    plain model file to every other tool.
    """
    models = [_read(booster) for booster in boosters]
    trees = [
        _scaled(tree, weight)
        for model, weight in zip(models, weights, strict=True)
        for tree in _forest(model)["trees"]
    ]
    base = offset + sum(weight * _base(model) for model, weight in zip(models, weights, strict=True))
    return _written(models[0], trees, base)


def booster_of(trees: list[dict[str, Any]], like: xgb.Booster) -> xgb.Booster:
    """A booster of these trees, in XGBoost's format, with the columns of another one; its base is 0."""
    return _written(_read(like[:1]), trees, 0.0)


def _read(booster: xgb.Booster) -> dict[str, Any]:
    return read_ubjson(booster.save_raw("ubj"))


def _written(model: dict[str, Any], trees: list[dict[str, Any]], base: float) -> xgb.Booster:
    """The model with other trees and another base."""
    for number, tree in enumerate(trees):
        tree["id"] = number
    forest = _forest(model)
    forest["trees"] = trees
    forest["tree_info"] = [0] * len(trees)
    forest["iteration_indptr"] = list(range(len(trees) + 1))
    forest["gbtree_model_param"]["num_trees"] = str(len(trees))
    model["learner"]["learner_model_param"]["base_score"] = f"[{base:.9E}]"
    return xgb.Booster(model_file=bytearray(write_ubjson(model)))


def _forest(model: dict[str, Any]) -> dict[str, Any]:
    return model["learner"]["gradient_booster"]["model"]


def _base(model: dict[str, Any]) -> float:
    return float(model["learner"]["learner_model_param"]["base_score"].strip("[]"))


def _scaled(tree: dict[str, Any], weight: float) -> dict[str, Any]:
    """The tree with its leaves (and the weights of its inner nodes) multiplied."""
    weight_ = np.float32(weight)
    tree["base_weights"] = weight_ * tree["base_weights"]
    leaf = tree["left_children"] == -1
    tree["split_conditions"][leaf] *= weight_  # thresholds stay, and a huge one must not overflow
    return tree
