"""Isolation forests: trees of random cuts, in which rare rows end up alone early."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.spaces.forest import Floats, Forest, Tree
from shortlist.kernels.feedback import isolation as kernels

EULER_GAMMA = 0.5772156649015329


def grow_isolation_forest(
    X: NDArray, categorical: NDArray[np.bool_], n_trees: int, sample_size: int, max_depth: int, seed: int
) -> tuple[Forest, Floats]:
    """A forest grown on samples of X, and the number of sampled rows in each leaf."""
    rngs = np.random.default_rng(seed).spawn(n_trees)
    grown = [_grow_tree(X, categorical, min(sample_size, X.shape[0]), max_depth, rng) for rng in rngs]
    forest = Forest.of([tree for tree, _ in grown])
    return forest, np.concatenate([count[tree.feature < 0] for tree, count in grown])


def isolation_values(forest: Forest, leaf_counts: Floats) -> Floats:
    """Leaf values 1 / (depth + c(count)): the earlier a row is alone, the larger."""
    depth = forest.depth[forest.leaf_nodes]
    # A tree that never split has one leaf at depth 0 and, on a sample of one row, no path length at all.
    return 1 / np.maximum(depth + expected_path_length(leaf_counts), 1.0)


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
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    trees = [read_sklearn_tree(estimator.tree_, columns) for estimator, columns in pairs]
    counts = [estimator.tree_.n_node_samples for estimator in model.estimators_]
    leaf_counts = [count[tree.feature < 0] for tree, count in zip(trees, counts, strict=True)]
    return Forest.of(trees), np.concatenate(leaf_counts).astype(np.float64)


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
    X: NDArray, categorical: NDArray[np.bool_], sample_size: int, max_depth: int, rng: np.random.Generator
) -> tuple[Tree, Floats]:
    sample = np.asarray(X[rng.choice(X.shape[0], sample_size, replace=False)], dtype=np.float64)
    most = 2 * sample_size
    feature, category = np.full(most, -1, dtype=np.int32), np.full(most, -1)
    threshold, missing_left = np.zeros(most), np.zeros(most, dtype=bool)
    child, depth, count = np.zeros(2 * most, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most)
    n = kernels.grow(
        sample, categorical, max_depth, rng.random(3 * most),
        feature, threshold, category, missing_left, child, depth, count,
    )  # fmt: skip
    codes = {int(node): [int(category[node])] for node in np.flatnonzero(category[:n] >= 0)}
    return Tree(feature[:n], threshold[:n], child[: 2 * n], missing_left[:n], codes), count[:n]
