"""Any other ensemble: the scores of its members, each cut into bins that are its leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Floats, Forest, Tree
from shortlist.feedback.spaces.loda import balanced_tree


def bin_scores(S: NDArray, n_bins: int) -> tuple[Forest, Floats]:
    """One tree per column of scores, high = rare, and the mean score of the rows in each leaf.

    With all weights equal rows rank by the sum of their members' scores, up to the width of bins. These get narrower
    towards the top, where reviews happen: each takes the same share of the rows that lie above the bins below it,
    down to a single row. Rows that arrive with a higher score than any belong to the top bin, those without one to the
    lowest.

    >>> forest, value = bin_scores(np.array([[1.0], [2.0], [3.0], [4.0], [50.0]]), n_bins=2)
    >>> forest.threshold[0].tolist(), value.tolist()
    (4.0, [2.5, 50.0])
    """
    if n_bins < 2:
        raise InvalidInputError(f"n_bins must be 2 or more, so that a member tells rows apart; got {n_bins}.")
    if not np.any(np.fmin.reduce(S, axis=0) < np.fmax.reduce(S, axis=0)):
        raise InvalidInputError(
            f"no member has two scores, so none can tell the {S.shape[0]} rows apart. Give scores that differ."
        )
    members = [_member(S[:, t].astype(np.float64), t, n_bins) for t in range(S.shape[1])]
    return Forest.of([tree for tree, _ in members]), np.concatenate([means for _, means in members])


def _member(score: Floats, column: int, n_bins: int) -> tuple[Tree, Floats]:
    known = np.sort(score[~np.isnan(score)])
    edges = _edges(known, n_bins)
    tree, bin_of_leaf = balanced_tree(edges, column)
    where = np.searchsorted(edges, known, side="left")
    total, count = np.bincount(where, known, edges.size + 1), np.bincount(where, minlength=edges.size + 1)
    means = total / np.maximum(count, 1)  # a member without any score has one empty bin
    return replace(tree, missing_left=np.ones(tree.feature.size, dtype=bool)), means[bin_of_leaf]


def _edges(known: Floats, n_bins: int) -> Floats:
    """Upper edges of all bins but the highest, each a score that occurs, so that no bin is empty."""
    n = known.size
    above = np.unique(np.geomspace(max(n, 1), 1, n_bins)[1:].astype(np.int64))
    edges = np.unique(known[n - 1 - above[above < n]])
    return edges[edges < known[-1:].max(initial=-np.inf)]
