"""What a rank means: scores turned into the chance that a row is wanted, and into expected precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.isotonic import isotonic_regression

from shortlist.validation import check_score


def chance_curve(
    score: NDArray[np.float64], wanted: NDArray[np.bool_], weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Knots (score, chance) of the monotone curve that fits held-out rows best (isotonic regression).

    One imagined unwanted row at the top and one wanted row at the bottom keep the ends off 1 and 0, which no
    finite sample can promise.

    >>> chance_curve(np.array([1.0, 2.0, 3.0]), np.array([False, False, True])).round(2)
    array([[1.  , 2.  , 3.  ],
           [0.33, 0.33, 0.5 ]])
    """
    weight = np.ones(score.size) if weight is None else weight
    order = np.argsort(score, kind="stable")
    ranked = np.concatenate([[1.0], wanted[order].astype(np.float64), [0.0]])
    mass = np.concatenate([[1.0], weight[order], [1.0]])
    chance = isotonic_regression(ranked, sample_weight=np.maximum(mass, 1e-12), y_min=0.0, y_max=1.0)[1:-1]
    return _knots(score[order], chance)


def _knots(score: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Only the ends of each level stretch; rows with equal scores share their mean chance."""
    distinct, first = np.unique(score, return_index=True)
    chance = np.add.reduceat(chance, first) / np.diff(np.append(first, score.size))
    step = np.flatnonzero(np.diff(chance) != 0)
    keep = np.unique(np.concatenate([[0], step, step + 1, [distinct.size - 1]]))
    return np.stack([distinct[keep], chance[keep]])


def read_chance(curve: NDArray[np.float64], score: ArrayLike) -> NDArray[np.float64]:
    """The chance that a row with this score is wanted; beyond the curve its ends hold.

    >>> read_chance(np.array([[0.0, 1.0], [0.2, 0.6]]), [0.5, 9.0])
    array([0.4, 0.6])
    """
    return np.interp(check_score(score), curve[0], curve[1])


def expected_precision(curve: NDArray[np.float64], score: ArrayLike) -> NDArray[np.float64]:
    """For each row of one list: the share of wanted rows to expect among all rows that score no lower.

    >>> expected_precision(np.array([[0.0, 1.0], [0.2, 0.6]]), [0.0, 1.0, 0.5])
    array([0.4, 0.6, 0.5])
    """
    score = check_score(score)
    order = np.argsort(-score, kind="stable")
    mean = np.cumsum(read_chance(curve, score[order])) / np.arange(1, score.size + 1)
    # Rows with equal scores are reviewed together: all of them get the precision after the last one.
    last = np.searchsorted(-score[order], -score, side="right") - 1
    return mean[last]
