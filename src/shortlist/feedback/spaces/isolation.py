"""Isolation forests: trees of random cuts, in which rare rows end up alone early."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Floats, Forest, Tree
from shortlist.feedback.spaces.given import GivenRows
from shortlist.kernels.feedback import isolation as kernels
from shortlist.validation import make_generator

EULER_GAMMA = 0.5772156649015329
#: Where most leaf values of isolation forests lie.
USUAL = (0.1, 0.2)


def grow_isolation_forest(
    rows: GivenRows,
    categorical: NDArray[np.bool_],
    n_trees: int,
    sample_size: int,
    max_depth: int,
    random_state: Any,
) -> tuple[Forest, Floats]:
    """A forest grown on samples of rows, and the number of sampled rows in each leaf."""
    rngs = make_generator(random_state).spawn(n_trees)
    drawn = [rng.choice(rows.n_rows, min(sample_size, rows.n_rows), replace=False) for rng in rngs]
    samples = zip(rows.take(drawn), rngs, strict=True)
    grown = [_grow_tree(sample, categorical, max_depth, rng) for sample, rng in samples]
    forest = Forest.of([tree for tree, _ in grown])
    return forest, np.concatenate([count[tree.feature < 0] for tree, count in grown])


def isolation_values(forest: Forest, leaf_counts: Floats) -> Floats:
    """Leaf values 1 / (depth + c(count)): the earlier a row is alone, the larger."""
    depth = forest.depth[forest.leaf_nodes]
    # A tree that never split has one leaf at depth 0 and, on a sample of one row, no path length at all.
    return 1 / np.maximum(depth + expected_path_length(leaf_counts), 1.0)


def on_usual_scale(values: Floats) -> Floats:
    """Values of any ensemble, shifted and stretched to where those of isolation forests lie: from 0.1 to 0.2.

    With equal weights rows rank as before, since each row has one leaf of every member. OJRank's chances
    1 / (1 + exp(score difference)) are near 0 or 1 on a scale of log densities, so that it would learn little there.

    >>> on_usual_scale(np.array([-3.0, 0.0, 9.0])).tolist()
    [0.1, 0.125, 0.2]
    """
    low, high = USUAL
    above = values - values.min()
    return low + above / (above.max() or 1.0) * (high - low)


def expected_path_length(count: Floats) -> Floats:
    """c(n): mean path length of an unsuccessful search in a binary search tree of n rows.

    >>> expected_path_length(np.array([1, 2, 256]))
    array([ 0. ,  1. , 10.2447...])
    """
    n = np.maximum(count, 3.0)
    harmonic = np.log(n - 1) + EULER_GAMMA
    return np.select([count <= 1, count == 2], [0.0, 1.0], 2 * harmonic - 2 * (n - 1) / n)


def read_isolation_forest(model: Any) -> tuple[Forest, Floats]:
    """The trees of a fitted scikit-learn IsolationForest, and the number of sampled rows in each leaf."""
    check_model(model, (IsolationForest,))
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    trees = [read_sklearn_tree(estimator.tree_, columns) for estimator, columns in pairs]
    counts = [estimator.tree_.n_node_samples for estimator in model.estimators_]
    leaf_counts = [count[tree.feature < 0] for tree, count in zip(trees, counts, strict=True)]
    return Forest.of(trees), np.concatenate(leaf_counts).astype(np.float64)


def check_model(model: Any, kinds: tuple[type, ...]) -> None:
    """Refuse what is none of these kinds of forest, or not fitted."""
    if not isinstance(model, kinds):
        names = ", ".join(kind.__name__ for kind in kinds)
        raise InvalidInputError(
            f"{type(model).__name__} cannot be read as a forest here; give one of: {names}."
        )
    if not hasattr(model, "estimators_"):
        raise InvalidInputError(f"{type(model).__name__} is not fitted; call fit first.")


def read_sklearn_tree(tree: Any, columns: NDArray | None = None) -> Tree:
    """A scikit-learn tree; ``columns`` are the features it was given, None: all."""
    is_leaf = tree.children_left < 0
    feature = np.where(is_leaf, 0, tree.feature)
    feature = feature if columns is None else np.asarray(columns)[feature]
    missing_left = getattr(tree, "missing_go_to_left", np.zeros(feature.size))
    return Tree(
        feature=np.where(is_leaf, -1, feature).astype(np.int32),
        threshold=tree.threshold,
        child=np.column_stack([tree.children_left, tree.children_right]).ravel(),
        missing_left=np.asarray(missing_left, dtype=bool),
        category_codes={},
    )


def _grow_tree(
    rows: NDArray, categorical: NDArray[np.bool_], max_depth: int, rng: np.random.Generator
) -> tuple[Tree, Floats]:
    sample = np.asarray(rows, dtype=np.float64)
    most = 2 * rows.shape[0]
    feature, category = np.full(most, -1, dtype=np.int32), np.full(most, -1)
    threshold, missing_left = np.zeros(most), np.zeros(most, dtype=bool)
    child, depth, count = np.zeros(2 * most, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most)
    n = kernels.grow(
        sample, categorical, max_depth, rng.random(3 * most),
        feature, threshold, category, missing_left, child, depth, count,
    )  # fmt: skip
    codes = {int(node): [int(category[node])] for node in np.flatnonzero(category[:n] >= 0)}
    return Tree(feature[:n], threshold[:n], child[: 2 * n], missing_left[:n], codes), count[:n]
