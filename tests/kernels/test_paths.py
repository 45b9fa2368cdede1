"""Sums along the paths of trees, beside plain loops."""

import numpy as np

from shortlist.feedback import ScoreSpace
from shortlist.kernels.feedback import paths


def make_forest():
    X = np.random.default_rng(0).normal(size=(300, 4))
    return ScoreSpace.from_isolation_forest(X, n_trees=6, random_state=0).forest


def add_level_by_level(forest, per_leaf):
    total = np.zeros(forest.feature.size)
    total[forest.leaf_nodes] = per_leaf
    for nodes in reversed(forest.levels):
        np.add.at(total, forest.parent[nodes], total[nodes])
    return total


def push_level_by_level(forest, leaves, per_leaf, total, rows):
    push, nodes, value = np.zeros(4), forest.leaf_nodes[leaves], per_leaf[leaves]
    while nodes.size:
        up = forest.parent[nodes]
        nodes, value = up[up >= 0], value[up >= 0]
        average = np.divide(total[nodes], rows[nodes], out=value.copy(), where=rows[nodes] > 0)
        np.add.at(push, forest.feature[nodes], value - average)
        value = average
    return push


def test_nodes_hold_what_the_leaves_below_them_do():
    forest = make_forest()
    per_leaf = np.random.default_rng(1).normal(size=forest.n_leaves)
    assert forest.sum_up(per_leaf).tobytes() == add_level_by_level(forest, per_leaf).tobytes()


def test_pushes_to_the_last_bit():
    forest, rng = make_forest(), np.random.default_rng(2)
    per_leaf, counts = rng.normal(size=forest.n_leaves), rng.integers(0, 3, forest.n_leaves).astype(float)
    total, rows = forest.sum_up(per_leaf * counts), forest.sum_up(counts)
    for _ in range(10):
        leaves = rng.integers(forest.leaf_starts[:-1], forest.leaf_starts[1:])
        found, nodes = np.zeros(4), forest.leaf_nodes[leaves]
        paths.push(nodes, per_leaf[leaves], forest.parent, forest.feature, total, rows, found)
        expected = push_level_by_level(forest, leaves, per_leaf, total, rows)
        assert found.tobytes() == expected.tobytes()
