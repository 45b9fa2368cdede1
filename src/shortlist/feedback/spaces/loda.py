"""LODA: histograms of sparse random projections, each seen as a tree whose leaves are the bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shortlist.feedback.spaces.forest import Floats, Forest, Tree
from shortlist.feedback.spaces.given import GivenRows
from shortlist.validation import make_generator

#: Histograms are made from at most this many rows.
SAMPLE = 65_536


@dataclass(frozen=True, eq=False)
class Projection:
    """Columns scaled, gaps filled with the median, then summed with sparse random weights."""

    middle: Floats
    scale: Floats
    weights: csr_array  # (projections, features)

    def apply(self, X: NDArray) -> Floats:
        """One column per projection. A sparse product: its sums do not depend on how many threads run."""
        scaled = (np.where(np.isnan(X), self.middle, X) - self.middle) / self.scale
        return np.ascontiguousarray((self.weights @ scaled.T).T)

    def names(self, columns: list[str]) -> list[str]:
        """Each projection as a sum of columns, in their scaled units."""
        lines = (self.weights[[t]] for t in range(self.weights.shape[0]))
        return [
            " ".join(f"{w:+.2g}·{columns[j]}" for j, w in zip(s.indices, s.data, strict=True)) for s in lines
        ]


def make_loda(
    rows: GivenRows, n_projections: int, n_bins: int | None, random_state: Any
) -> tuple[Projection, Forest, Floats]:
    """Draw projections, cut each into equal bins, and value a bin by -log of its density.

    A row outside the histogram falls into an outer bin, which counts as if it held half a row.

    References
    ----------
    T. Pevný, "Loda: lightweight on-line detector of anomalies", Machine Learning 102, 2016.
    """
    rng = make_generator(random_state)
    n_rows = rows.n_rows
    drawn = np.arange(n_rows) if n_rows <= SAMPLE else rng.choice(n_rows, SAMPLE, replace=False)
    sample = next(iter(rows.take([drawn])))
    projection = _draw_projection(sample.astype(np.float64), n_projections, rng)
    Z = projection.apply(sample)
    bins = n_bins or int(np.clip(2 * np.cbrt(sample.shape[0]), 8, 100))
    members = [_histogram(Z[:, t], t, bins) for t in range(n_projections)]
    return (
        projection,
        Forest.of([tree for tree, _ in members]),
        np.concatenate([value for _, value in members]),
    )


def _draw_projection(sample: Floats, n_projections: int, rng: np.random.Generator) -> Projection:
    known = ~np.isnan(sample).all(axis=0)
    middle, scale = np.zeros(sample.shape[1]), np.ones(sample.shape[1])
    middle[known] = np.nanmedian(sample[:, known], axis=0)
    spread = np.nanstd(sample[:, known], axis=0)
    scale[known] = np.where(spread > 0, spread, 1.0)
    n_features = sample.shape[1]
    used = max(1, round(np.sqrt(n_features)))
    weights = np.zeros((n_projections, n_features))
    for row in weights:
        row[rng.choice(n_features, used, replace=False)] = rng.normal(size=used)
    return Projection(middle, scale, csr_array(weights))


def _histogram(z: Floats, column: int, n_bins: int) -> tuple[Tree, Floats]:
    """A balanced tree over the edges of equal bins, outer bins included, and the value of each bin."""
    edges = np.linspace(z.min(), z.max(), n_bins + 1)
    edges[0] = np.nextafter(edges[0], -np.inf)
    count = np.bincount(np.searchsorted(edges, z, side="left"), minlength=n_bins + 2)
    density = np.maximum(count, 0.5) * n_bins / z.size
    tree, bin_of_leaf = balanced_tree(edges, column)
    return tree, -np.log(density)[bin_of_leaf]


def balanced_tree(edges: Floats, column: int) -> tuple[Tree, NDArray[np.int64]]:
    """Bin b holds edges[b - 1] < z <= edges[b]; returns the tree and the bin of each leaf in node order."""
    n_nodes = 2 * edges.size + 1
    feature, threshold = np.full(n_nodes, -1, dtype=np.int32), np.zeros(n_nodes)
    child, bin_of = np.zeros(2 * n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    spans, made = [(0, 0, edges.size)], 1
    for node, low, high in spans:  # grows while it is read: parents before children
        bin_of[node] = low
        if low == high:
            continue
        middle = (low + high) // 2
        feature[node], threshold[node] = column, edges[middle]
        child[2 * node], child[2 * node + 1] = made, made + 1
        spans += [(made, low, middle), (made + 1, middle + 1, high)]
        made += 2
    return Tree(feature, threshold, child, np.zeros(n_nodes, dtype=bool), {}), bin_of[feature < 0]
