"""Random forests of scikit-learn as a forest of ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Floats, Forest
from shortlist.feedback.spaces.isolation import read_sklearn_tree


def read_random_forest(model: Any) -> tuple[Forest, Floats]:
    """The trees of a fitted forest and the output of each leaf / m; their sum is the forest's prediction.

    Of a classifier with two classes it is the probability of the larger class; of a regressor the mean.
    """
    if not hasattr(model, "estimators_"):
        raise InvalidInputError(f"{type(model).__name__} is not fitted; call fit(X, y) first.")
    trees = [estimator.tree_ for estimator in np.ravel(model.estimators_)]
    n_classes = getattr(model, "n_classes_", 1)
    if getattr(model, "n_outputs_", 1) != 1 or n_classes > 2:
        raise InvalidInputError(
            "a score space needs a forest with one output: two classes, or one number to predict."
        )
    outputs = [_leaf_outputs(tree) / len(trees) for tree in trees]
    return Forest.of([read_sklearn_tree(tree) for tree in trees]), np.concatenate(outputs)


def _leaf_outputs(tree: Any) -> Floats:
    value = tree.value[tree.children_left < 0, 0, :]
    return value[:, -1] / value.sum(axis=1) if value.shape[1] > 1 else value[:, 0]
