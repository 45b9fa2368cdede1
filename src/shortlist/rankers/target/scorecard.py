"""A scorecard: small trees evolved one after the other, whose leaves give points that are added up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from shortlist.rankers.target.problem import Problem
from shortlist.rankers.target.tree import Tree

Floats = NDArray[np.float64]

LEAVES = 4  # of each tree, at most
_MOST_POINTS = 100  # that a row can have in all trees together, before they are rounded
_PENALTY = 1.0  # on the squares of what leaves add to the log-odds
_MAX_STEPS = 50
_TOLERANCE = 1e-9


class Scorecard:
    """Takes trees one by one, and says which rows the next one should care about.

    With leaf(x, t) the leaf of row x in tree t, log-odds(x) = b_0 + Σ_t b[leaf(x, t)] is fitted to all trees so far (a
    ridge penalty on b). A row then weighs as much as its residual in the search for the next tree, so that this ranks
    what the others explain badly. Impacts count as their share of the largest one.
    """

    def __init__(self, problem: Problem, X: NDArray) -> None:
        self._problem, self._X = problem, X
        self._weight = np.ones(problem.n_rows) if problem.weight is None else problem.weight
        self._target = problem.gain / problem.gain.max()
        self._trees: list[Tree] = []
        self._places: list[NDArray[np.int64]] = []  # of each row among the leaves of each tree
        self.problem = problem  # as the next tree should see it

    def add(self, tree: Tree) -> None:
        """Take a tree, and weigh the rows for the next one."""
        self._trees.append(tree)
        self._places.append(np.searchsorted(tree.leaves, tree.leaf_of(self._X, self._problem.bins)))
        residual = np.abs(self._target - self._fit()[1])
        usual = np.average(residual, weights=self._weight * (self._target > 0))
        # With wanted rows of weight 1 on average, min_leaf and the price of a leaf mean what they meant before.
        self.problem = replace(self._problem, weight=self._weight * residual / usual)

    def trees(self) -> list[Tree]:
        """The trees with what falls into them without those weights, and whole points, about 100 at most in all."""
        parts = np.split(self._fit()[0], np.cumsum([tree.leaves.size for tree in self._trees])[:-1])
        points = [part - part.min() for part in parts]
        scale = _MOST_POINTS / (sum(each.max() for each in points) or 1.0)
        return [
            tree.with_points(
                self._sums(place, 1.0), self._sums(place, self._problem.gain), np.rint(scale * each)
            )
            for tree, place, each in zip(self._trees, self._places, points, strict=True)
        ]

    def _fit(self) -> tuple[Floats, Floats]:
        """What each leaf adds to the log-odds, and the fitted value of each row.

        Rows that share all their leaves are one line of the regression.
        """
        sizes = [tree.leaves.size for tree in self._trees]
        code = np.ravel_multi_index(self._places, sizes)
        cells, cell_of_row = np.unique(code, return_inverse=True)
        leaves = np.unravel_index(cells, sizes)
        lines = np.hstack([np.eye(size)[leaf] for size, leaf in zip(sizes, leaves, strict=True)])
        rows, hits = self._sums(cell_of_row, 1.0), self._sums(cell_of_row, self._target)
        beta = fit_ridge(np.column_stack([lines, np.ones(cells.size)]), rows, hits)
        return beta[:-1], expit(lines @ beta[:-1] + beta[-1])[cell_of_row]

    def _sums(self, place: NDArray[np.int64], values: Floats | float) -> Floats:
        """Sums over the rows at each place, each as often as it weighs; no place is without rows."""
        return np.bincount(place, weights=self._weight * values).astype(np.float64)


def fit_ridge(lines: Floats, rows: Floats, hits: Floats) -> Floats:
    """Coefficients of a logistic regression on lines of so many rows and hits; the last, of all ones, is not penalised.

    >>> lines = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> fit_ridge(lines, rows=np.array([90.0, 10.0]), hits=np.array([9.0, 8.0])).round(1)
    array([-1.4,  1.4, -0.7])
    """
    penalty = np.full(lines.shape[1], _PENALTY)
    penalty[-1] = 0.0
    beta = np.zeros(lines.shape[1])
    share = hits.sum() / rows.sum()
    beta[-1] = np.log(share / (1.0 - share))
    loss = _loss(lines, rows, hits, penalty, beta)
    for _ in range(_MAX_STEPS):
        chance = expit(lines @ beta)
        slope = lines.T @ (rows * chance - hits) + penalty * beta
        curvature = (lines.T * (rows * chance * (1.0 - chance))) @ lines + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        new = _loss(lines, rows, hits, penalty, beta - step)
        while new > loss and np.abs(step).max() > _TOLERANCE:
            step = step / 2.0
            new = _loss(lines, rows, hits, penalty, beta - step)
        beta, loss = beta - step, new
        if np.abs(step).max() <= _TOLERANCE:
            break
    return beta


def _loss(lines: Floats, rows: Floats, hits: Floats, penalty: Floats, beta: Floats) -> float:
    margin = lines @ beta
    return float((rows * np.logaddexp(0.0, margin) - hits * margin).sum() + 0.5 * (penalty * beta**2).sum())
