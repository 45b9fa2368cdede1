"""How alike two rows are in a score space, and scores that are sums of such likenesses."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.forest import Floats, Integers
from shortlist.feedback.leaf_scores import LeafScores
from shortlist.feedback.score_space import ScoreSpace
from shortlist.kernels import similarity as kernels
from shortlist.kernels.leaf_scores import blend


class Prior:
    """The ensemble's score, 0 at its median and 1 at its largest over the rows the space was made with."""

    def __init__(self, space: ScoreSpace) -> None:
        self.space = space
        self.base = space.row_sums(space.values, space.first_rows)
        self.middle = float(np.median(self.base))
        self.slope = 1 / (float(self.base.max()) - self.middle or 1.0)

    def of(self, row: int) -> float:
        """The prior of one row."""
        self.grow()
        return float((self.base[row] - self.middle) * self.slope)

    def grow(self) -> None:
        """Score the rows that have arrived."""
        if self.base.size < self.space.n_rows:
            arrived = self.space.row_sums(self.space.values, self.space.n_rows, first=self.base.size)
            self.base = np.concatenate([self.base, arrived])

    def blend(self, sums: NDArray, unit: float, weight: float) -> Floats:
        """Scores of all rows: sums in a unit, plus the prior with a weight."""
        self.grow()
        out = np.empty(self.base.size)
        blend(sums, unit, self.base, weight * self.slope, -weight * self.slope * self.middle, out)
        return out


class Similarity(Protocol):
    """A kernel between rows, and the scores made of it."""

    prior: Prior

    def add(self, row: int) -> None:
        """Make ready for sums over one more reviewed row."""

    def truncate(self, n: int) -> None:
        """Forget all reviewed rows but the first n."""

    def between(self, row: int, others: list[int]) -> Floats:
        """The kernel of a row with the reviewed rows ``others``, all in their order."""

    def own(self, row: int) -> float:
        """The kernel of a row with itself."""

    def score(self, prior_weight: float, rows: list[int], weight: Floats) -> None:
        """Score all rows by the prior and the weighted kernels with the reviewed rows."""

    def scores(self) -> Floats:
        """Scores of all rows, as of the last call of ``score``."""

    def contribution(self, prior_weight: float, rows: list[int], weight: Floats) -> Floats:
        """What each leaf adds to the scores of its rows, exactly or nearly."""


class LeafKernel:
    """k(x, u) = Σ over members with the same leaf of abs(value) / mean k(x, x): linear in weights of leaves.

    Scores are the prior and sums over the leaves of reviewed rows, so memory does not grow with the rows times the
    reviews, and as long as those leaves hold few rows, an index spares scoring all of them anew.
    """

    def __init__(self, space: ScoreSpace) -> None:
        self.space = space
        self.prior = Prior(space)
        self._share = np.abs(space.values)
        self._share /= float(np.mean(space.row_sums(self._share, space.first_rows))) or 1.0
        self._leaf_scores = LeafScores(space)
        self._scores = np.zeros(0)
        # The leaves of the reviewed rows, side by side: the leaf numbers of all rows lie far apart, perhaps on disk.
        self._leaves = np.zeros((0, space.n_members), dtype=np.int64)
        self._n_reviewed = 0

    def add(self, row: int) -> None:
        """Keep the leaves of one more reviewed row."""
        if self._n_reviewed == self._leaves.shape[0]:
            room = np.zeros((max(32, self._n_reviewed // 2), self.space.n_members), dtype=np.int64)
            self._leaves = np.concatenate([self._leaves, room])
        self._leaves[self._n_reviewed] = self.space.leaves([row])[0]
        self._n_reviewed += 1

    def truncate(self, n: int) -> None:
        """Forget all reviewed rows but the first n."""
        self._n_reviewed = min(n, self._n_reviewed)

    def between(self, row: int, others: list[int]) -> Floats:
        """Sums over the leaves shared with each of the others, the first reviewed rows."""
        mine = self.space.leaves([row])[0]
        return np.sum((self._leaves[: len(others)] == mine) * self._share[mine], axis=1)

    def own(self, row: int) -> float:
        """Sum over the row's leaves."""
        return float(np.sum(self._share[self.space.leaves([row])[0]]))

    def score(self, prior_weight: float, rows: list[int], weight: Floats) -> None:
        """Sum over the leaves of reviewed rows, and add the prior."""
        self._leaf_scores.update(self._likeness(rows, weight))
        self._scores = self.prior.blend(self._leaf_scores.sums, self._leaf_scores.unit, prior_weight)

    def scores(self) -> Floats:
        """Scores on the scale of the targets."""
        return self._scores

    def contribution(self, prior_weight: float, rows: list[int], weight: Floats) -> Floats:
        """The prior's part, and the weights of the reviewed rows in each leaf."""
        return prior_weight * self.prior.slope * self.space.values + self._likeness(rows, weight)

    def _likeness(self, rows: list[int], weight: Floats) -> Floats:
        in_leaf = np.zeros(self.space.n_leaves)
        np.add.at(in_leaf, self._leaves[: len(rows)], weight[:, None])
        return in_leaf * self._share


class AncestorKernel:
    """k(x, u) = (g(x, u) / √(g(x, x)·g(u, u)))³ with g = Σ over members of -log((mass + 1)/(n + 1)).

    The mass is that of the smallest node that holds both rows: rows are alike if few rows fall between them. Keeps one
    float32 per row and review.
    """

    def __init__(self, space: ScoreSpace) -> None:
        self.space = space
        self.prior = Prior(space)
        self._surprise = -np.log((space.node_rows + 1) / (space.first_rows + 1))
        self._columns = np.zeros((0, 0), dtype=np.float32)
        self._reviewed: list[int] = []
        self._scores = np.zeros(0)
        self._depth = np.zeros(0)  # g(x, x) of each row
        self._linear = LeafKernel(space)
        self._grow()

    def add(self, row: int) -> None:
        """Keep the kernel of all rows with one more reviewed row."""
        self._grow()
        if len(self._reviewed) == self._columns.shape[0]:
            room = np.zeros((max(16, self._columns.shape[0] // 2), self.space.n_rows), dtype=np.float32)
            self._columns = np.concatenate([self._columns, room])
        self._fill(len(self._reviewed), row, 0)
        self._reviewed.append(row)
        self._linear.add(row)

    def truncate(self, n: int) -> None:
        """Forget all columns but the first n."""
        del self._reviewed[n:]
        self._linear.truncate(n)

    def between(self, row: int, others: list[int]) -> Floats:
        """Read from the columns of the others, the first reviewed rows."""
        self._grow()
        return self._columns[: len(others), row].astype(np.float64)

    def own(self, row: int) -> float:
        """A row is as like itself as can be."""
        return 1.0

    def score(self, prior_weight: float, rows: list[int], weight: Floats) -> None:
        """Add up the columns of the first reviewed rows."""
        self._grow()
        sums = np.empty(self.space.n_rows)
        kernels.combine(self._columns, weight, sums)
        self._scores = self.prior.blend(sums, 1.0, prior_weight)

    def scores(self) -> Floats:
        """Scores on the scale of the targets."""
        return self._scores

    def contribution(self, prior_weight: float, rows: list[int], weight: Floats) -> Floats:
        """Nearly: the same weights on the leaves that rows share, for this kernel is not a sum over leaves."""
        return self._linear.contribution(prior_weight, rows, weight)

    def _grow(self) -> None:
        """Bring everything kept per row up to the rows that have arrived."""
        known, n_rows = self._depth.size, self.space.n_rows
        if known == n_rows:
            return
        depth = self.space.row_sums(self._surprise[self.space.forest.leaf_nodes], n_rows, first=known)
        self._depth = np.concatenate([self._depth, depth])
        arrived = np.zeros((self._columns.shape[0], n_rows - known), dtype=np.float32)
        self._columns = np.concatenate([self._columns, arrived], axis=1)
        for i, row in enumerate(self._reviewed):
            self._fill(i, row, known)

    def _fill(self, column: int, row: int, first: int) -> None:
        common = self.space.row_sums(self._common(row), self.space.n_rows, first=first)
        norm = np.sqrt(self._depth[first:] * self._depth[row])
        alike = np.divide(common, norm, out=np.zeros_like(common), where=norm > 0)
        self._columns[column, first:] = alike * alike * alike

    def _common(self, row: int) -> Floats:
        """Per leaf: the surprise of the smallest node that holds it and the row."""
        forest = self.space.forest
        on_path = np.zeros(forest.feature.size, dtype=bool)
        nodes: Integers = forest.leaf_nodes[self.space.leaves([row])[0]]
        while nodes.size:
            on_path[nodes] = True
            nodes = forest.parent[nodes]
            nodes = nodes[nodes >= 0]
        out = np.empty(forest.feature.size)
        kernels.spread_down(forest.parent, self._surprise, on_path, out)
        return out[forest.leaf_nodes]
