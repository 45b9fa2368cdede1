"""How many wanted rows are still unseen, and what the next ten rows will bring; both with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import betabinom, hypergeom

CONFIDENCE = 0.9
#: So many of the latest verdicts say what the next ones will be; older ones were given on another ranking.
RECENT = 60
#: How firmly the slope of the calibration is held near 0, where few verdicts say otherwise.
SLOPE_PENALTY = 1.0
#: An interval of the recall wider than this tells a reader nothing.
WIDEST = 0.5


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds it with 90 % confidence."""

    middle: float
    low: float
    high: float


def wanted_in_all(n_rows: int, n_sampled: int, n_wanted: int, confidence: float = CONFIDENCE) -> Estimate:
    """How many of ``n_rows`` are wanted when a simple random sample of them holds ``n_wanted``.

    The interval holds every K that the hypergeometric distribution does not rule out ::

        P(X > x; K) + P(X = x; K)/2 > (1 - confidence)/2,   and the same for X < x

    The half (the "mid-p" interval) makes the coverage close to the nominal one; without it the interval covers
    too often, and is too wide, where few rows are sampled.

    >>> estimate = wanted_in_all(1000, 50, 2)
    >>> round(estimate.middle), round(estimate.low), round(estimate.high)
    (40, 11, 107)
    """
    if not 0 <= n_wanted <= n_sampled <= n_rows:
        raise ValueError(f"{n_wanted} wanted of {n_sampled} sampled of {n_rows} rows cannot be.")
    if n_sampled == 0:
        return Estimate(n_rows / 2, 0, n_rows)
    least, most = n_wanted, n_rows - (n_sampled - n_wanted)
    tail = (1 - confidence) / 2

    def too_few(k: int) -> bool:
        law = hypergeom(n_rows, k, n_sampled)
        return law.sf(n_wanted) + law.pmf(n_wanted) / 2 <= tail

    def too_many(k: int) -> bool:
        law = hypergeom(n_rows, k, n_sampled)
        return law.cdf(n_wanted - 1) + law.pmf(n_wanted) / 2 <= tail

    low = _first(least, most, lambda k: not too_few(k))
    high = _first(low, most, too_many) - 1 if too_many(most) else most
    return Estimate(n_rows * n_wanted / n_sampled, low, max(low, high))


@dataclass(frozen=True)
class Missed:
    """Wanted rows nobody has seen, and the share of the wanted rows that were found."""

    unseen: Estimate
    recall: Estimate
    sampled: int

    @property
    def is_clear(self) -> bool:
        """Whether there are checks enough to tell."""
        return self.recall.high - self.recall.low <= WIDEST


def missed(n_unseen: int, n_sampled: int, n_wanted: int, n_found: int) -> Missed:
    """What is still missed, from random checks that stand for the rows the ranking has not reached.

    Parameters
    ----------
    n_unseen : rows without a verdict
    n_sampled, n_wanted : random checks, and how many of them were wanted
    n_found : wanted rows found so far, by the ranking or as a random check

    Examples
    --------
    >>> round(missed(950, 50, 2, n_found=60).recall.middle, 2)
    0.61
    """
    total = wanted_in_all(n_unseen + n_sampled, n_sampled, n_wanted)
    middle = n_unseen * n_wanted / n_sampled if n_sampled else n_unseen / 2
    unseen = Estimate(middle, total.low - n_wanted, total.high - n_wanted)
    recall = Estimate(*(_share(n_found, missing) for missing in (unseen.middle, unseen.high, unseen.low)))
    return Missed(unseen, recall, n_sampled)


def expected_yield(
    scores: Sequence[float], wanted: Sequence[bool], next_scores: Sequence[float]
) -> Estimate | None:
    """How many of the next rows are wanted, judged by the scores earlier rows had when they were shown.

    A logistic curve through (score when shown, verdict) of the latest verdicts gives each next row a
    probability p; their sum is the estimate. The interval is that of a beta-binomial law with the mean of p and as much
    weight as there were verdicts. None while fewer than three verdicts are known.

    >>> curve = [0.9, 0.8, 0.7, 0.2, 0.1, 0.0] * 5
    >>> estimate = expected_yield(curve, [s > 0.5 for s in curve], [0.85] * 10)
    >>> estimate.middle > 8
    True
    """
    s, y = np.asarray(scores[-RECENT:], dtype=float), np.asarray(wanted[-RECENT:], dtype=float)
    if y.size < 3 or not next_scores:
        return None
    middle, spread = s.mean(), s.std() or 1.0
    level, slope = _logistic((s - middle) / spread, y)
    # Scores beyond all that was seen tell no more than the most extreme one seen.
    x = np.clip((np.asarray(next_scores) - middle) / spread, *np.quantile((s - middle) / spread, [0, 1]))
    mean = float(expit(level + slope * x).mean())
    n = len(next_scores)
    law = betabinom(n, mean * (y.size + 1), (1 - mean) * (y.size + 1))
    tail = (1 - CONFIDENCE) / 2
    return Estimate(n * mean, float(law.ppf(tail)), float(law.ppf(1 - tail)))


def _logistic(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Level and slope >= 0 of a logistic curve, drawn by half a verdict each way so that it is always finite."""
    theta = np.zeros(2)
    design = np.column_stack([np.ones(x.size + 2), np.append(x, [0.0, 0.0])])
    target, weight = np.append(y, [0.0, 1.0]), np.append(np.ones(x.size), [0.5, 0.5])
    for _ in range(25):
        p = expit(design @ theta)
        gradient = design.T @ (weight * (target - p)) - [0.0, SLOPE_PENALTY * theta[1]]
        curvature = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag([1e-6, SLOPE_PENALTY])
        step = np.linalg.solve(curvature, gradient)
        theta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return float(theta[0]), max(float(theta[1]), 0.0)


def _share(found: int, missing: float) -> float:
    return found / (found + missing) if found + missing > 0 else 1.0


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest whole number from low to high for which ``holds``; it is monotone and holds at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
