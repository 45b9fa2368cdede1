"""Coordinate ascent: a linear score, tuned one weight at a time on the objective itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.objectives import Goal, Objective
from shortlist.objectives.base import ListWeight
from shortlist.rankers.limits import COUNT, NOT_NEGATIVE
from shortlist.rankers.linear.base import LinearRanker
from shortlist.validation import draw_seed

#: Steps double: 25 of them reach from a thousandth of a weight to thirty thousand times it.
STEPS = 0.001 * 2.0 ** np.arange(25)


class CoordinateAscent(LinearRanker):
    """A weighted sum of standardised columns that maximises the objective directly.

    From equal weights, the columns are visited in random order. For each one, its weight is moved up and down
    by steps that double from 0.001 of its size, and to 0; the best strict gain is kept and the weights are
    scaled to sum ``|w|`` = 1. A pass over all columns that gains less than ``tol`` ends the search; the best of
    ``n_restarts`` searches wins. No gradient is needed, so any objective is maximised as it is, and ties count
    in expectation: ``objective=CostSaved(k)`` is CS-Coordinate Ascent, ``objective=NDCG(k),
    list_weight=CostSaved(k)`` is CR-Coordinate Ascent.

    What differs from the paper (which ran RankLib): columns are standardised first, scores are recomputed
    from the weights after each pass instead of drifting, and the sum ``|w|`` is what stays fixed.

    Parameters
    ----------
    objective : what to maximise; None: ``CostSaved(k=10)``
    list_weight : how much each list counts: None for the objective's own weights, an objective whose weights
        to take, one number per list in order of first appearance, or a function of the y of one list
    n_restarts : searches, each with its own order of columns
    max_passes : passes over all columns within one search
    tol : gain of a pass below which the search ends
    random_state : seed

    ``sample_weight`` in ``fit`` multiplies what a row is worth.

    Attributes
    ----------
    coef_ : weight of each prepared column; sum ``|w|`` = 1
    value_ : the objective on the training rows

    References
    ----------
    Metzler and Croft, "Linear feature-based models for information retrieval", 2007. McBride, Wang, Ren and
    Li, "Cost-Sensitive Learning to Rank", AAAI 2019.

    Examples
    --------
    >>> from shortlist.objectives import CostSaved
    >>> storms = np.repeat(np.arange(30), 20)
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> customers_out = np.exp(X @ [2, 0, -1])
    >>> model = CoordinateAscent(objective=CostSaved(k=5), random_state=0).fit(X, customers_out, groups=storms)
    >>> round(model.value_, 2), model.coef_.round(1)
    (1.0, array([ 0.7,  0. , -0.3]))
    """

    _limits: ClassVar = {"n_restarts": COUNT, "max_passes": COUNT, "tol": NOT_NEGATIVE}

    def __init__(
        self,
        *,
        objective: Objective | None = None,
        list_weight: ListWeight = None,
        n_restarts: int = 5,
        max_passes: int = 50,
        tol: float = 0.001,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.objective = objective
        self.list_weight = list_weight
        self.n_restarts = n_restarts
        self.max_passes = max_passes
        self.tol = tol
        self.random_state = random_state

    def _search(self, columns: NDArray[np.float64], goal: Goal) -> tuple[float, NDArray[np.float64]]:
        rng = np.random.default_rng(draw_seed(self.random_state))
        orders = rng.spawn(self.n_restarts)
        found = [_climb(columns, goal, order, self.max_passes, self.tol) for order in orders]
        return max(found, key=lambda result: result[0])


def _climb(
    columns: NDArray, goal: Goal, rng: np.random.Generator, max_passes: int, tol: float
) -> tuple[float, NDArray[np.float64]]:
    """One search from equal weights: the value it reaches and the weights."""
    n_columns = columns.shape[1]
    weights = np.full(n_columns, 1 / n_columns)
    value = goal.value(columns @ weights)
    for _ in range(max_passes):
        before = value
        score = columns @ weights
        for column in rng.permutation(n_columns):
            value = _improve(columns[:, column], int(column), weights, score, goal, value)
        if value - before < tol:
            break
    return value, weights


def _improve(x: NDArray, column: int, weights: NDArray, score: NDArray, goal: Goal, value: float) -> float:
    """Move one weight to where the objective is largest; weights and score change in place."""
    best_move = 0.0
    for move in _moves(weights[column], weights.size):
        reached = goal.value(score + move * x)
        if reached > value:
            value, best_move = reached, move
    if best_move:
        weights[column] += best_move
        score += best_move * x
        total = np.abs(weights).sum()
        weights /= total
        score /= total
    return value


def _moves(weight: float, n_weights: int) -> NDArray[np.float64]:
    """Changes of one weight to try: up, down, and away."""
    steps = STEPS * (abs(weight) or 1 / n_weights)
    return np.concatenate([steps, -steps, [-weight] if weight else []])
