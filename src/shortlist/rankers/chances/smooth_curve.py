"""The smooth monotone curve from scores to log-odds that fits rows which were held out.

With u the standardised score, g(u) is piecewise linear, with knots at five quantiles of the wanted rows' u and slopes
s_0 ... s_5 ≥ 0. It minimises ::

    Σ_i w_i (log(1 + e^g(u_i)) - t_i g(u_i)) + Σ_j (s_{j+1} - s_j)² + .0005 Σ_j s_j²

with t = (P + ¼)/(P + ½) for wanted rows and ¼/(N + ½) for others, where P and N are their weights. With few wanted
rows slopes are nearly alike, and the curve is Platt's; with many it follows the rows.

Rows that lie close together count as one: what is left of millions is some thousand places, and the fit takes
milliseconds. Steps are Newton's, each to the least of a parabola with slopes ≥ 0: it ends at the optimum to the
last digits and leaves the curvature there behind, which says how sure the curve is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

#: Where the slope may change: at these quantiles of the wanted rows' scores.
KNOTS = (0.1, 0.3, 0.5, 0.7, 0.9)
#: What a change of slope costs, and what a slope costs.
ROUGH, STEEP = 2.0, 0.001
#: Places that rows are brought to, at most.
PLACES = 1 << 13
#: Newton steps at most; some ten are taken.
MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Places:
    """Rows brought together where their scores are nearly the same.

    u : the mean standardised score of the rows of each place
    weight : their weight
    target : the sum of their weighted targets
    """

    u: Floats
    weight: Floats
    target: Floats


@dataclass(frozen=True, eq=False)
class SmoothCurve:
    """Log-odds of a score: base + Σ slope_j · (what of u lies in segment j), with u = (score - mean) / spread."""

    mean: float
    spread: float
    lowest: float  # of the rows that it was fitted to, in u
    highest: float
    knots: Floats
    base: float
    slopes: Floats
    error: Floats  # seven independent errors of (base, slopes), a column each
    places: Places

    @classmethod
    def fit(cls, score: Floats, wanted: NDArray[np.bool_], weight: Floats | None = None) -> Self:
        """The curve through held-out rows; a row of weight w counts as w rows."""
        mean, spread = _mean_and_spread(score, weight)
        u = (score - mean) / spread
        anchors = wanted if wanted.any() else ~wanted
        knots = _quantiles(u[anchors], None if weight is None else weight[anchors])
        places = _places(u, wanted, weight)
        found, curvature = _minimise(places, knots)
        ends = float(u.min()), float(u.max())
        return cls(mean, spread, *ends, knots, found[0], found[1:], _root(curvature), places)

    def odds(self, u: Floats) -> Floats:
        """Log-odds at standardised scores."""
        return self.base + segments(u, self.knots) @ self.slopes

    def errors(self, u: Floats) -> Floats:
        """What one standard deviation of each of the independent errors adds to the log-odds, one row per error."""
        return self.error.T @ np.column_stack([np.ones(u.size), segments(u, self.knots)]).T

    def offset(self, kappa: float) -> float:
        """The c for which the mean of σ(c + g(√κ u)) over the rows is that of their targets."""
        odds, places = self.odds(np.sqrt(kappa) * self.places.u), self.places
        c = 0.0
        for _ in range(MOST_STEPS):
            chance = expit(odds + c)
            missing = places.target.sum() - places.weight @ chance
            # The sum grows ever slower away from its middle: a step of more than 1 could end far outside.
            step = float(np.clip(missing / (places.weight @ (chance * (1 - chance))), -1, 1))
            c += step
            if abs(step) < 1e-12:
                break
        return c


def segments(u: Floats, knots: Floats) -> Floats:
    """How much of each u lies in each segment: the sum of a row, times slopes, is the curve without its base.

    >>> segments(np.array([-1.0, 0.5, 3.0]), np.array([0.0, 2.0]))
    array([[-1. ,  0. ,  0. ],
           [ 0. ,  0.5,  0. ],
           [ 0. ,  2. ,  1. ]])
    """
    inner = np.clip(u[:, None], knots[:-1], knots[1:]) - knots[:-1]
    return np.column_stack([np.minimum(u, knots[0]), inner, np.maximum(u - knots[-1], 0.0)])


def _mean_and_spread(score: Floats, weight: Floats | None) -> tuple[float, float]:
    if weight is None:
        return float(score.mean()), float(score.std()) or 1.0
    mean = float(np.average(score, weights=weight))
    return mean, float(np.sqrt(np.average((score - mean) ** 2, weights=weight))) or 1.0


def _quantiles(u: Floats, weight: Floats | None) -> Floats:
    """The values that each share of the weight of rows does not exceed: copies of rows are like weights."""
    order = np.argsort(u, kind="stable")
    below = np.cumsum(np.ones(u.size) if weight is None else weight[order])
    return u[order][np.searchsorted(below, np.array(KNOTS) * below[-1]).clip(max=u.size - 1)]


def _places(u: Floats, wanted: NDArray[np.bool_], weight: Floats | None) -> Places:
    """Rows by steps of u/(1 + |u|), which are fine where most rows lie, apart by whether they are wanted."""
    step = ((u / (1 + np.abs(u)) + 1) * (PLACES / 4)).astype(np.int64)
    step += np.where(wanted, PLACES // 2, 0)
    weights = np.bincount(step, weight, minlength=PLACES).astype(np.float64)
    sums = np.bincount(step, u if weight is None else weight * u, minlength=PLACES)
    there = np.flatnonzero(weights > 0)
    target = np.where(there < PLACES // 2, *_targets(weights))
    return Places(sums[there] / weights[there], weights[there], target * weights[there])


def _targets(weights: Floats) -> tuple[float, float]:
    """What chance others and wanted rows are fitted to: so many rows promise no more."""
    others, wanted = weights[: PLACES // 2].sum(), weights[PLACES // 2 :].sum()
    return 0.25 / (others + 0.5), (wanted + 0.25) / (wanted + 0.5)


def _minimise(places: Places, knots: Floats) -> tuple[Floats, Floats]:
    """Base and slopes of the best curve, and the curvature of the loss there."""
    rows = np.column_stack([np.ones(places.u.size), segments(places.u, knots)])
    penalty, pull = _penalty(knots.size + 1), rows.T @ places.target

    def loss(at: Floats) -> float:
        return float(places.weight @ np.logaddexp(0, rows @ at) - pull @ at + at @ penalty @ at / 2)

    share = places.target.sum() / places.weight.sum()
    at = np.r_[np.log(share / (1 - share)), np.ones(knots.size + 1)]
    for _ in range(MOST_STEPS):
        chance = expit(rows @ at)
        gradient = rows.T @ (places.weight * chance) - pull + penalty @ at
        curvature = (rows.T * (places.weight * chance * (1 - chance))) @ rows + penalty
        step = _newton(curvature, gradient, at) - at
        length = _length(loss, at, step, float(gradient @ step))
        at = at + length * step
        if np.abs(length * step).max() < 1e-11 * (1 + np.abs(at).max()):
            break
    return at, curvature


def _newton(curvature: Floats, gradient: Floats, at: Floats) -> Floats:
    """Where the parabola that touches the loss here is least, slopes being at least 0."""
    from scipy.optimize import nnls  # noqa: PLC0415  to score takes no fitting

    right = curvature @ at - gradient
    base, rest = curvature[0, 0], curvature[0, 1:]
    # The base is free: for any slopes its best value is known, which leaves a parabola in the slopes alone.
    lower = np.linalg.cholesky(_firm(curvature[1:, 1:] - np.outer(rest, rest) / base))
    slopes, _ = nnls(lower.T, np.linalg.solve(lower, right[1:] - rest * right[0] / base))
    return np.r_[(right[0] - rest @ slopes) / base, slopes]


def _length(loss: Callable[[Floats], float], at: Floats, step: Floats, falls: float) -> float:
    """How much of a step to take: all of it, or half as often as it takes for the loss to fall."""
    before, length = loss(at), 1.0
    while length > 1e-9 and loss(at + length * step) > before + 1e-4 * length * falls + 1e-12 * abs(before):
        length /= 2
    return length


def _penalty(n_slopes: int) -> Floats:
    """The matrix Q of the penalty ½ xᵀQx of base and slopes."""
    change = np.diff(np.eye(n_slopes + 1)[1:], axis=0)
    return ROUGH * change.T @ change + STEEP * np.diag(np.r_[0.0, np.ones(n_slopes)])


def _root(curvature: Floats) -> Floats:
    """A matrix whose columns are independent errors of base and slopes: their covariance is 1/curvature."""
    return np.linalg.inv(np.linalg.cholesky(_firm(curvature))).T


def _firm(curvature: Floats) -> Floats:
    """With what rounding may have taken from its diagonal, where rows weigh much more than the penalty."""
    return curvature + 1e-13 * np.trace(curvature) * np.eye(len(curvature))
