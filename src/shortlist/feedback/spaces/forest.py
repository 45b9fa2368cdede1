"""Trees as flat arrays: the common form of every ensemble that a score space is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.feedback import trees as kernels
from shortlist.kernels.feedback.paths import sum_up

#: Deeper trees are walked row by row: most of their rows would wait in a leaf for the last level.
DEEPEST_BY_LEVEL = 12

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree as its builder gives it; node 0 is the root, ``feature`` is -1 at leaves."""

    feature: NDArray[np.int32]
    threshold: Floats
    child: Integers  # two per node: where values <= threshold go, and the others
    missing_left: NDArray[np.bool_]
    category_codes: dict[int, list[int]]  # node -> the categories that go to its second child


@dataclass(frozen=True, eq=False)
class Forest:
    """All trees of an ensemble, one entry per node.

    Tree t has the nodes ``roots[t]`` to ``roots[t + 1] - 1``, parents before children, and the leaves
    ``leaf_starts[t]`` to ``leaf_starts[t + 1] - 1``. A row goes to ``child[2 * node]`` if its value is at most the
    threshold, or is not in the node's category set; else to ``child[2 * node + 1]``.
    """

    roots: Integers
    leaf_starts: Integers
    feature: NDArray[np.int32]
    threshold: Floats
    child: Integers
    missing_left: NDArray[np.bool_]
    category_set: NDArray[np.int32]  # row of ``sets``, or -1 for a threshold
    sets: NDArray[np.uint64]  # bit c of a row: category c belongs to the set
    leaf: NDArray[np.int32]  # local number of the leaf, -1 for inner nodes

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest:
        """Join trees; their leaves are numbered in node order."""
        sizes = np.array([tree.feature.size for tree in trees])
        roots = np.concatenate([[0], np.cumsum(sizes)])
        feature = np.concatenate([tree.feature for tree in trees]).astype(np.int32)
        is_leaf = feature < 0
        leaf_starts = np.concatenate([[0], np.cumsum(is_leaf)])[roots]
        leaf = np.where(is_leaf, np.cumsum(is_leaf) - 1 - np.repeat(leaf_starts[:-1], sizes), -1)
        category_set, sets = _join_sets(trees, roots)
        return cls(
            roots=roots,
            leaf_starts=leaf_starts,
            feature=feature,
            threshold=np.concatenate([tree.threshold for tree in trees]).astype(np.float64),
            child=np.concatenate([tree.child + root for tree, root in zip(trees, roots, strict=False)]),
            missing_left=np.concatenate([tree.missing_left for tree in trees]).astype(bool),
            category_set=category_set,
            sets=sets,
            leaf=leaf.astype(np.int32),
        )

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.roots.size - 1

    @property
    def n_leaves(self) -> int:
        """How many leaves all trees have together."""
        return int(self.leaf_starts[-1])

    def place(self, X: NDArray, first: int, ids: NDArray) -> None:
        """Write the leaf numbers of the rows of X into block storage, from row ``first`` on."""
        if self._steps is not None and not np.isnan(X).any():
            kernels.place_by_level(
                X, first, X.shape[0], self.roots, *self._steps, self.leaf, len(self.levels), ids
            )
            return
        kernels.place(
            X, first, X.shape[0], self.roots, self.feature, self.threshold, self.child,
            self.missing_left, self.category_set, self.sets, self.leaf, ids,
        )  # fmt: skip

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int32], Floats, NDArray[np.int32]] | None:
        """Feature, threshold and children with leaves that lead to themselves; None where that does not pay."""
        if self.sets.size or len(self.levels) > DEEPEST_BY_LEVEL:
            return None
        is_leaf = self.feature < 0
        child = np.where(np.repeat(is_leaf, 2), np.repeat(np.arange(is_leaf.size), 2), self.child)
        return np.where(is_leaf, 0, self.feature).astype(np.int32), self.threshold, child.astype(np.int32)

    @cached_property
    def parent(self) -> Integers:
        """The parent of each node; -1 at roots."""
        parent = np.full(self.feature.size, -1)
        inner = np.flatnonzero(self.feature >= 0)
        parent[self.child[2 * inner]] = inner
        parent[self.child[2 * inner + 1]] = inner
        return parent

    @cached_property
    def depth(self) -> Integers:
        """Edges between each node and its root."""
        depth = np.zeros(self.feature.size, dtype=np.int64)
        for nodes in self.levels:
            depth[nodes] = depth[self.parent[nodes]] + 1
        return depth

    @cached_property
    def levels(self) -> list[Integers]:
        """Nodes by depth, without the roots: each level's parents are in the level before."""
        levels, nodes = [], self.roots[:-1]
        while (inner := nodes[self.feature[nodes] >= 0]).size:
            nodes = np.sort(np.concatenate([self.child[2 * inner], self.child[2 * inner + 1]]))
            levels.append(nodes)
        return levels

    @cached_property
    def leaf_nodes(self) -> Integers:
        """The node of each leaf, by global leaf number."""
        return np.flatnonzero(self.feature < 0)

    def sum_up(self, per_leaf: Floats) -> Floats:
        """Per node: the sum over the leaves below it (a leaf counts itself)."""
        total = np.zeros(self.feature.size)
        total[self.leaf_nodes] = per_leaf
        sum_up(self.parent, self._upward, total)
        return total

    @cached_property
    def _upward(self) -> Integers:
        """All nodes but the roots, the deepest first."""
        return np.concatenate([*reversed(self.levels), np.zeros(0, dtype=np.int64)])

    def sum_along_paths(self, per_node: Floats) -> Floats:
        """Per leaf: the sum over the nodes from its root to itself."""
        total = per_node.copy()
        for nodes in self.levels:
            total[nodes] += total[self.parent[nodes]]
        return total[self.leaf_nodes]

    def nodes_above(self, leaves: Integers) -> Integers:
        """The nodes of some leaves, by global leaf number, and all nodes above them up to the roots."""
        found, nodes = [], self.leaf_nodes[leaves]
        while nodes.size:
            found.append(nodes)
            nodes = self.parent[nodes]
            nodes = nodes[nodes >= 0]
        return np.concatenate(found)

    def path(self, node: int) -> Iterator[tuple[int, bool]]:
        """From the root down: each inner node on the way to ``node``, and whether the way goes left there."""
        steps = []
        while (up := int(self.parent[node])) >= 0:
            steps.append((up, int(self.child[2 * up]) == node))
            node = up
        return reversed(steps)

    def categories(self, node: int) -> list[int]:
        """The category codes that go to the second child of a node that splits a categorical column."""
        words = self.sets[self.category_set[node]]
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return np.flatnonzero(bits).tolist()


def _join_sets(trees: Sequence[Tree], roots: Integers) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Number the distinct category sets of all trees and pack them into bits."""
    numbers: dict[tuple[int, ...], int] = {}
    category_set = np.full(roots[-1], -1, dtype=np.int32)
    for tree, root in zip(trees, roots, strict=False):
        for node, codes in tree.category_codes.items():
            category_set[root + node] = numbers.setdefault(tuple(sorted(codes)), len(numbers))
    largest = max((max(codes, default=0) for codes in numbers), default=0)
    sets = np.zeros((len(numbers), largest // 64 + 1), dtype=np.uint64)
    for members, number in numbers.items():
        for code in members:
            sets[number, code // 64] |= np.uint64(1) << np.uint64(code % 64)
    return category_set, sets
