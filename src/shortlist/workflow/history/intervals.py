"""Intervals of what was found, and of differences, over periods, folds or rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm as normal
from scipy.stats import t as student

Floats = NDArray[np.float64]

#: From this many periods on they are drawn anew; with fewer, rows are.
ENOUGH_PERIODS = 8
N_DRAWS = 400
LEVEL = 0.95


def ratio_interval(parts: Floats, wholes: Floats, weights: Floats) -> tuple[float, float]:
    """Bootstrap interval of Σ parts / Σ wholes when units (periods or rows) are drawn anew.

    ``weights`` says how often each draw takes each unit: shape (draws, units). Where nothing or everything was found
    every draw says the same, which is no certainty: there the interval is Wilson's, of as many units as count.

    >>> low, high = ratio_interval(np.ones(20), np.full(20, 2.0), draws(20, 0))
    >>> low, high
    (0.5, 0.5)
    >>> low, high = ratio_interval(np.ones(10), np.ones(10), draws(10, 0))
    >>> round(low, 2), round(high, 2)
    (0.72, 1.0)
    """
    if wholes.sum() > 0 and parts.sum() in (0, wholes.sum()):
        n_units = float(wholes.sum() ** 2 / (wholes**2).sum())
        low, high = share_interval(n_units * parts.sum() / wholes.sum(), n_units)
        assert low is not None
        assert high is not None
        return low, high
    whole = weights @ wholes
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (weights @ parts)[whole > 0] / whole[whole > 0]
    if not drawn.size:
        return float("nan"), float("nan")
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def share_interval(part: float, whole: float) -> tuple[float | None, float | None]:
    """Wilson's interval of a share; nothing where there is nothing to divide by. Rows may count in part, as ties do.

    >>> [round(end, 3) for end in share_interval(5, 10)]
    [0.237, 0.763]
    """
    if not whole:
        return None, None
    z = float(normal.ppf((1 + LEVEL) / 2))
    share, spread = part / whole, z * z / whole
    middle = (share + spread / 2) / (1 + spread)
    reach = np.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


def draws(n_units: int, random_state: int) -> Floats:
    """How often each of ``N_DRAWS`` draws with replacement takes each unit."""
    rng = np.random.default_rng(random_state)
    return rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=N_DRAWS).astype(np.float64)


def paired_difference(
    better: Sequence[float], worse: Sequence[float], *, overlap: float
) -> tuple[float, float, float]:
    """Mean difference of two models over folds, with its interval.

    The training rows of folds overlap, which makes the plain t interval too narrow; its variance is multiplied
    by (1/J + overlap) in place of 1/J, with overlap = test rows / training rows and J folds. Walking
    forward each period is ranked anew, and overlap is 0.

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error, Machine Learning 52 (2003).

    Examples
    --------
    >>> [round(x, 2) for x in paired_difference([0.5, 0.6, 0.7], [0.4, 0.5, 0.4], overlap=0.5)]
    [0.17, -0.29, 0.62]
    """
    difference = np.asarray(better, dtype=np.float64) - np.asarray(worse, dtype=np.float64)
    difference = difference[~np.isnan(difference)]
    n = difference.size
    if n < 2:
        return (float(difference.mean()) if n else float("nan")), float("-inf"), float("inf")
    spread = float(np.sqrt(difference.var(ddof=1) * (1 / n + overlap)))
    reach = float(student.ppf((1 + LEVEL) / 2, n - 1)) * spread
    middle = float(difference.mean())
    return middle, middle - reach, middle + reach
