"""What the next ten rows will bring, with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit
from scipy.stats import betabinom

from shortlist.rankers.chances.calibration import ChanceCurve, expected_found
from shortlist.review.telling.foreseen import Foreseen

CONFIDENCE = 0.9
#: So many of the latest verdicts say what the next ones will be; older ones were given on another ranking.
RECENT = 60
#: How firmly the slope of the calibration is held near 0, where few verdicts say otherwise.
SLOPE_PENALTY = 1.0
#: With fewer verdicts nothing is said, unless a model knows.
FEWEST = 3
#: What the model of a queue knows counts as so many verdicts, as it learned from other rows than these.
MODEL_COUNTS = 10


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that holds it with 90 % confidence."""

    middle: float
    low: float
    high: float


def expected_yield(
    scores: Sequence[float],
    wanted: Sequence[bool],
    next_scores: Sequence[float],
    foreseen: Foreseen | None = None,
) -> Estimate | None:
    """How many of the next rows are wanted, judged by the scores earlier rows had when they were shown.

    A logistic curve through (score when shown, verdict) of the latest verdicts gives each next row a
    probability p; their sum is the estimate. The interval is that of a beta-binomial law with the mean of p and as much
    weight as there were verdicts. None while fewer than three verdicts are known.

    Where the queue has a model that knows its chances, these count from the start: see ``_joined``.

    >>> curve = [0.9, 0.8, 0.7, 0.2, 0.1, 0.0] * 5
    >>> estimate = expected_yield(curve, [s > 0.5 for s in curve], [0.85] * 10)
    >>> estimate.middle > 8
    True
    """
    known = len(scores[-RECENT:])
    if foreseen is not None and next_scores:
        return _joined(foreseen, scores, wanted, next_scores)
    if known < FEWEST or not next_scores:
        return None
    mean = float(Calibration.of(scores, wanted).chance(np.asarray(next_scores)).mean())
    n = len(next_scores)
    law = betabinom(n, mean * (known + 1), (1 - mean) * (known + 1))
    tail = (1 - CONFIDENCE) / 2
    return Estimate(n * mean, float(law.ppf(tail)), float(law.ppf(1 - tail)))


def _joined(
    foreseen: Foreseen, scores: Sequence[float], wanted: Sequence[bool], next_scores: Sequence[float]
) -> Estimate:
    """What the model of a queue and verdicts say together.

    Before any verdict it is the model's own figure with its bounds. Then the model's chances of the next rows count as
    ten verdicts on them, a share of each, and the logistic curve is drawn through these and the verdicts: so every
    verdict moves the figure its way, and among n of them the model's share is 10 / (10 + n). The errors of both are
    weighed alike; that of verdicts is the one of a share among so many.

    >>> sure = ChanceCurve(np.array([[0.0, 1.0], [0.0, 1.0]]), np.zeros((1, 2)))
    >>> ten = Foreseen(np.full(10, 0.3), sure)
    >>> [round(_joined(ten, [0.5] * n, [True] * n, [0.5] * 10).middle, 1) for n in (0, 5, 50)]
    [3.0, 5.3, 8.8]
    """
    if not scores:
        return Estimate(*expected_found(foreseen.curve, foreseen.chance))
    known, share = len(scores[-RECENT:]), MODEL_COUNTS / (MODEL_COUNTS + len(scores))
    chance = _moved(foreseen.chance, known * share / (1 - share), scores, wanted, next_scores)
    points, error = foreseen.curve
    of_verdicts = (1 - share) / np.sqrt(known * float((chance * (1 - chance)).mean()))
    both = np.concatenate([share * error, np.full((1, error.shape[1]), of_verdicts)])
    return Estimate(*expected_found(ChanceCurve(points, both), chance))


def _moved(
    chance: np.ndarray,
    counts: float,
    scores: Sequence[float],
    wanted: Sequence[bool],
    next_scores: Sequence[float],
) -> np.ndarray:
    """Chances of the next rows, by the latest verdicts and by those of a model, which count as so many verdicts."""
    seen = len(scores[-RECENT:])
    x = np.array([*scores[-RECENT:], *next_scores])
    x = (x - x.mean()) / (x.std() or 1.0)
    target = np.append(np.asarray(wanted[-RECENT:], dtype=float), chance)
    weight = np.append(np.ones(seen), np.full(chance.size, counts / chance.size))
    level, slope = _logistic(x, target, weight)
    if (
        slope == 0
    ):  # higher scores were wanted less often, which the score of a row should not be held against
        level = float(logit(np.average(target, weights=weight)))
    return np.asarray(expit(level + slope * x[seen:]))


@dataclass(frozen=True)
class Calibration:
    """The chance that a row with such a score is wanted: a logistic curve through scores when shown and verdicts.

    Scores are taken in units of their spread around their middle; above ``high`` and below ``low`` the curve is flat.

    >>> seen = [0.9, 0.8, 0.2, 0.1] * 5
    >>> curve = Calibration.of(seen, [score > 0.5 for score in seen], extend=True)
    >>> (np.diff(curve.chance(np.array([-1.0, 0.2, 0.8]))) > 0).all()
    np.True_
    """

    middle: float
    spread: float
    level: float
    slope: float
    low: float
    high: float

    @classmethod
    def of(cls, scores: Sequence[float], wanted: Sequence[bool], *, extend: bool = False) -> Calibration:
        """Through the latest verdicts; with ``extend``, the curve goes on below the lowest score seen."""
        s, y = np.asarray(scores[-RECENT:], dtype=float), np.asarray(wanted[-RECENT:], dtype=float)
        middle, spread = s.mean(), s.std() or 1.0
        # Half a verdict each way, at the middle, so that the curve is always finite.
        level, slope = _logistic(
            np.append((s - middle) / spread, [0.0, 0.0]),
            np.append(y, [0.0, 1.0]),
            np.append(np.ones(y.size), [0.5, 0.5]),
        )
        # Scores beyond all that was seen tell no more than the most extreme one seen.
        low, high = np.quantile((s - middle) / spread, [0, 1])
        return cls(middle, spread, level, slope, -np.inf if extend else low, high)

    def chance(self, scores: np.ndarray) -> np.ndarray:
        """The chance of each score."""
        x = np.clip((scores - self.middle) / self.spread, self.low, self.high)
        return np.asarray(expit(self.level + self.slope * x))


def _logistic(x: np.ndarray, target: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Level and slope >= 0 of a logistic curve through verdicts, or shares of them, with weights."""
    theta = np.zeros(2)
    design = np.column_stack([np.ones(x.size), x])
    for _ in range(25):
        p = expit(design @ theta)
        gradient = design.T @ (weight * (target - p)) - [0.0, SLOPE_PENALTY * theta[1]]
        curvature = (design * (weight * p * (1 - p))[:, None]).T @ design + np.diag([1e-6, SLOPE_PENALTY])
        step = np.linalg.solve(curvature, gradient)
        theta += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return float(theta[0]), max(float(theta[1]), 0.0)
