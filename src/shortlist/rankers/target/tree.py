"""A finished tree: plain arrays that can be stored, and rows sent down it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.target.tree_fitness import send_down
from shortlist.rankers.target.binning import Bins
from shortlist.rankers.target.evolution import Arena, Genome


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in preorder: the left child of node i is i + 1, the right one ``right[i]``.

    A number goes left when it is at most ``threshold``, a category when its bin is in the set ``left_bins``
    (one bit each), a missing value when ``missing_left``. An infinite threshold, or the set of all bins,
    parts known values from missing ones.
    """

    feature: NDArray[np.int32]  # -1: a leaf
    threshold: NDArray[np.float64]  # NaN for categories
    left_bins: NDArray[np.uint64]
    missing_left: NDArray[np.bool_]
    right: NDArray[np.int32]
    rows: NDArray[np.float64]  # training rows (by weight) in each node
    gain: NDArray[np.float64]  # their gain: how many are wanted, or what they are worth
    points: NDArray[np.float64] | None = (
        None  # of a tree of a scorecard: what each leaf adds (the mean, of other nodes)
    )

    @classmethod
    def from_genome(cls, genome: Genome, arena: Arena, bins: Bins) -> Tree:
        """Decode an evolved tree and count what falls into its nodes."""
        split, rule, room = genome.split.copy(), genome.rule.copy(), arena.new_room()
        size = send_down(split, rule, arena.cuts, arena.rows, arena.plan.min_leaf, room)
        leaves = np.flatnonzero(split[:size] < 0)
        rows, gain = np.zeros(size), np.zeros(size)
        rows[leaves] = room.leaf_count[: leaves.size].sum(axis=1)
        gain[leaves] = room.leaf_gain[: leaves.size].sum(axis=1)
        right = np.full(size, -1, dtype=np.int32)
        for node in range(size - 1, -1, -1):
            if split[node] >= 0:
                right[node] = _subtree_end(right, node + 1)
        rows, gain = _added_up(rows, right), _added_up(gain, right)
        feature = np.where(split < 0, -1, split >> 1).astype(np.int32)
        # Where training had no missing values, those to come go with the majority.
        seen = arena.cuts.missing_at[feature] >= 0
        majority = rows[np.arange(1, size + 1) % size] >= rows[right]
        missing_left = (feature >= 0) & np.where(seen, split & 1 == 1, majority)
        threshold = np.array([_threshold(bins, f, r) for f, r in zip(feature, rule, strict=True)])
        left_bins = np.where(bins.categorical[feature] & (feature >= 0), rule, np.uint64(0))
        return cls(feature, threshold, left_bins, missing_left, right, rows, gain)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Tree:
        """The tree that ``state`` stored."""
        return cls(**state)

    def state(self) -> dict[str, NDArray]:
        """The tree as plain arrays."""
        return {name: values for name, values in asdict(self).items() if values is not None}

    def with_points(
        self, rows: NDArray[np.float64], gain: NDArray[np.float64], points: NDArray[np.float64]
    ) -> Tree:
        """The same splits with leaves of so many rows, so much gain and so many points."""
        of_leaves = np.zeros((3, self.feature.size))
        of_leaves[:, self.leaves] = rows, gain, rows * points
        all_rows, all_gain, all_points = (_added_up(each, self.right) for each in of_leaves)
        of_nodes = all_points / all_rows
        of_nodes[self.leaves] = points
        return replace(self, rows=all_rows, gain=all_gain, points=of_nodes)

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The nodes that are leaves, in preorder."""
        return np.flatnonzero(self.feature < 0)

    @cached_property
    def levels(self) -> int:
        """Splits on the longest way from the root to a leaf."""
        depth = np.zeros(self.feature.size, dtype=np.int64)
        for node in np.flatnonzero(self.feature >= 0):  # parents before children
            depth[[node + 1, self.right[node]]] = depth[node] + 1
        return int(depth.max())

    @cached_property
    def share(self) -> NDArray[np.float64]:
        """Mean gain of the rows of each node: the share that is wanted."""
        return self.gain / self.rows

    @property
    def score(self) -> NDArray[np.float64]:
        """What ranks: the points of a scorecard, else the share."""
        return self.share if self.points is None else self.points

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Rank of each leaf by score, 1 = look first, equal scores share a rank; 0 for other nodes."""
        rank = np.zeros(self.feature.size, dtype=np.int64)
        score = self.score[self.leaves]
        rank[self.leaves] = 1 + (score[None, :] > score[:, None]).sum(axis=1)
        return rank

    def leaf_of(self, X: NDArray, bins: Bins) -> NDArray[np.int64]:
        """The leaf that each row falls into."""
        leaf = np.zeros(X.shape[0], dtype=np.int64)
        waiting = [(0, np.arange(X.shape[0]))]
        while waiting:
            node, rows = waiting.pop()
            if self.feature[node] < 0:
                leaf[rows] = node
            elif rows.size:
                left = self.goes_left(node, X[rows, self.feature[node]], bins)
                waiting += [(node + 1, rows[left]), (int(self.right[node]), rows[~left])]
        return leaf

    def goes_left(self, node: int, values: NDArray, bins: Bins) -> NDArray[np.bool_]:
        """Which values of its feature a node sends left."""
        feature = int(self.feature[node])
        if not bins.categorical[feature]:
            missing, left = np.isnan(values), values <= self.threshold[node]
        else:
            code, missing = bins.column(feature, values)
            left = (self.left_bins[node] >> code.astype(np.uint64)) & np.uint64(1) == 1
        return np.where(missing, self.missing_left[node], left)

    def parts(self, n_features: int) -> NDArray[np.float64]:
        """The score of each node as a sum: what each feature added on the way there, and last the root's score."""
        parts = np.zeros((self.feature.size, n_features + 1))
        parts[0, -1] = self.score[0]
        for node in np.flatnonzero(self.feature >= 0):
            for child in (node + 1, self.right[node]):
                parts[child] = parts[node]
                parts[child, self.feature[node]] += self.score[child] - self.score[node]
        return parts

    def end(self, node: int) -> int:
        """One past the last node of a subtree."""
        return _subtree_end(self.right, node)

    def path(self, leaf: int) -> list[tuple[int, bool]]:
        """The nodes from the root to a leaf, each with whether the way goes left there."""
        node, steps = 0, []
        while node != leaf:
            left = bool(leaf < self.right[node])
            steps.append((node, left))
            node = node + 1 if left else int(self.right[node])
        return steps


def _added_up(values: NDArray[np.float64], right: NDArray[np.int32]) -> NDArray[np.float64]:
    """Values of leaves, and at every other node the sum of those below it."""
    values = values.copy()
    for node in np.flatnonzero(right >= 0)[::-1]:
        values[node] = values[node + 1] + values[right[node]]
    return values


def _subtree_end(right: NDArray[np.int32], node: int) -> int:
    """One past the last node of a subtree whose right children are known."""
    while right[node] >= 0:
        node = int(right[node])
    return node + 1


def _threshold(bins: Bins, feature: int, rule: np.uint64) -> float:
    if feature < 0 or bins.categorical[feature]:
        return np.nan
    thresholds = bins.thresholds[feature]
    return float(thresholds[int(rule)]) if int(rule) < thresholds.size else np.inf
