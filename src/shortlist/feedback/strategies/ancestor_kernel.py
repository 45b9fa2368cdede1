"""How alike two rows are by the smallest nodes that hold both."""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.rows.all_rows import AllRows
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_kernel import LeafKernel, Prior, Terms
from shortlist.kernels.feedback import similarity as kernels

#: Columns are kept in parts of about so many, so that one more review never copies them.
PART = 64


class AncestorKernel:
    """k(x, u) = (g(x, u) / √(g(x, x)·g(u, u)))³ with g = Σ over members of -log((mass + 1)/(n + 1)).

    The mass is that of the smallest node that holds both rows: rows are alike if few rows fall between them. Keeps one
    float32 per row and kept review, and two float64 per row for all settled ones.
    """

    def __init__(self, space: ScoreSpace, rows: AllRows, *, settle_by: int = PART) -> None:
        space.check_here("the ancestor kernel", "kernel='leaf'")
        self.space = space
        self.prior = Prior(space, rows)
        self._rows = rows
        self._part = gcd(settle_by, PART)  # columns per part, so that whole parts are settled
        self._surprise = -np.log((space.node_rows + 1) / (space.first_rows + 1))
        self._parts: list[NDArray[np.float32]] = []
        self._kept: list[int] = []
        self._depth = np.zeros(0)  # g(x, x) of each row
        self._pulling = -1, np.zeros((1, 0), dtype=np.float32)
        self._linear = LeafKernel(space, rows)
        self.sums: Floats
        self._weights: Floats
        self.reset([], np.zeros((2, 0)))

    def add(self, row: int) -> None:
        """Keep the kernel of all rows with one more reviewed row."""
        self._grow()
        part, column = divmod(len(self._kept), self._part)
        if part == len(self._parts):
            self._parts.append(np.empty((self._part, self.space.n_rows), dtype=np.float32))
        self._parts[part][column] = self._alike(row, 0)
        self._kept.append(row)
        self._linear.add(row)

    def truncate(self, n: int) -> None:
        """Forget all columns but the first n."""
        del self._kept[n:]
        del self._parts[-(-n // self._part) :]
        self._linear.truncate(n)

    def settle(self, weights: Floats) -> None:
        """Add the weighted columns of the first kept rows up, and forget those columns."""
        self._grow()
        n = weights.shape[1]
        self.sums = self.sums.copy()
        for out, weight in zip(self.sums, weights, strict=True):
            self._combine(weight, out)
        self._settled += self._kept[:n]
        self._weights = np.concatenate([self._weights, weights], axis=1)
        del self._kept[:n], self._parts[: n // self._part]
        self._linear.settle(weights)

    def reset(self, rows: list[int], weights: Floats, sums: Floats | None = None) -> None:
        """Keep no row."""
        self.truncate(0)
        self._settled, self._weights = list(rows), weights
        self.sums = np.zeros((2, 0)) if sums is None else sums
        self._linear.reset(rows, weights)
        self._grow()

    def mean(self, row: int) -> tuple[float, float]:
        """Read from the sums."""
        self._grow()
        return float(self.sums[0, row]), self.prior.of(row) + float(self.sums[1, row])

    def between(self, row: int) -> Floats:
        """Read from the columns of the kept rows."""
        self._grow()
        columns = [part[:, row] for part in self._parts] or [np.zeros(0, dtype=np.float32)]
        return np.concatenate(columns)[: len(self._kept)].astype(np.float64)

    def own(self, row: int) -> float:
        """A row is as like itself as can be."""
        return 1.0

    def score(self, terms: Terms) -> None:
        """Add the columns of the kept rows up."""
        self._grow()
        sums = self.sums[0] + terms.prior_weight * self.sums[1]
        self._combine(terms.weight, sums)
        if terms.pulling is not None:
            kernels.combine(self._pulling_column(terms.pulling), np.array([terms.pull]), sums)
        self._rows.take(sums, self.prior.blend(1.0, terms.prior_weight))

    def contribution(self, terms: Terms) -> Floats:
        """Nearly: the same weights on the leaves that rows share, for this kernel is not a sum over leaves."""
        return self._linear.contribution(terms)

    def _combine(self, weight: Floats, out: Floats) -> None:
        """Add the first columns, weighted."""
        for i, part in enumerate(self._parts[: -(-weight.size // self._part)]):
            kernels.combine(part, weight[i * self._part : (i + 1) * self._part], out)

    def _pulling_column(self, row: int) -> NDArray[np.float32]:
        """The column of a settled row; kept, for it stays the same until a wanted row is found or rows arrive."""
        known, column = self._pulling
        if known != row or column.shape[1] < self.space.n_rows:
            self._pulling = row, self._alike(row, 0)[None]
        return self._pulling[1]

    def _grow(self) -> None:
        """Bring everything kept per row up to the rows that have arrived."""
        known, n_rows = self._depth.size, self.space.n_rows
        if known < n_rows:
            depth = self.space.row_sums(self._surprise[self.space.forest.leaf_nodes], n_rows, first=known)
            self._depth = np.concatenate([self._depth, depth])
            arrived = np.empty((self._part, n_rows - known), dtype=np.float32)
            self._parts = [np.concatenate([part, arrived], axis=1) for part in self._parts]
            for i, row in enumerate(self._kept):
                self._parts[i // self._part][i % self._part, known:] = self._alike(row, known)
        if self.sums.shape[1] < n_rows:
            self._grow_sums(self.sums.shape[1])

    def _grow_sums(self, known: int) -> None:
        """The sums of rows that have arrived, added up in the order in which those of the others were."""
        arrived = np.zeros((2, self.space.n_rows - known))
        for i, row in enumerate(self._settled):
            column = self._alike(row, known)[None]
            for out, weight in zip(arrived, self._weights, strict=True):
                kernels.combine(column, weight[i : i + 1], out)
        self.sums = np.concatenate([self.sums, arrived], axis=1)

    def _alike(self, row: int, first: int) -> NDArray[np.float32]:
        """The kernel of a row with all rows from ``first`` on."""
        common = self.space.row_sums(self._common(row), self.space.n_rows, first=first)
        norm = np.sqrt(self._depth[first:] * self._depth[row])
        alike = np.divide(common, norm, out=np.zeros_like(common), where=norm > 0)
        return (alike * alike * alike).astype(np.float32)

    def _common(self, row: int) -> Floats:
        """Per leaf: the surprise of the smallest node that holds it and the row."""
        forest = self.space.forest
        on_path = np.zeros(forest.feature.size, dtype=bool)
        on_path[forest.nodes_above(self.space.leaves([row])[0])] = True
        out = np.empty(forest.feature.size)
        kernels.spread_down(forest.parent, self._surprise, on_path, out)
        return out[forest.leaf_nodes]
