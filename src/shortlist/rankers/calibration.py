"""What a rank means: scores turned into the chance that a row is wanted, and into expected precision.

The curve is fitted to rows that were held out, in two steps: a logistic curve of the score (Platt's, whose targets keep
off 0 and 1 by what so few rows can promise), then the best monotone curve through a mean of that and the labels. With
few wanted rows it is smooth, with many it follows the rows.

Held-out scores of a fold ensemble come from one of its models each; new rows are scored by the mean of all. A mean has
less noise, so its scores lie closer together and each stands for more: regression to the mean says that a score z
of the mean is worth what z·V/V' was worth to one model, V and V' being the variances of the scores of one and of the
mean, around their own mean. That factor is the ``stretch``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import clone

from shortlist.exceptions import ShortlistError
from shortlist.objectives.base import gives_numbers
from shortlist.rankers.batch import Batch
from shortlist.rankers.folds import deal_folds, divisible, take
from shortlist.validation import check_score

#: Up to so many wanted rows, the logistic curve counts as much as the labels; with more, less and less.
SMOOTH_WANTED = 100
#: Steps of log-odds in a stored curve; between its points it is linear.
MOST_STEPS = 256
#: Rows of which the fit of a line thinks at a time: what it notes of them stays in the cache.
AT_ONCE = 1 << 13

Floats = NDArray[np.float64]
#: Scores, labels and weights of rows.
Scored = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]
#: What a ranker knows of the columns before it learns.
_OF_COLUMNS = ("schema_", "n_features_in_", "feature_names_in_", "sparse_", "classes_")


def fold_stretch(n_wanted: float) -> float:
    """V/V' of a fold ensemble, by the number of wanted rows it learned from: the fewer, the more its models differ.

    Measured by ``studies.quality.calibration``; both halves of its sets were looked at when the form was chosen.

    >>> round(fold_stretch(27), 3), round(fold_stretch(1000), 3)
    (1.1, 1.03)
    """
    return 1 + 0.3 / max(n_wanted, 1.0) ** (1 / 3)


def chance_curve(
    score: Floats, wanted: NDArray[np.bool_], weight: Floats | None = None, *, stretch: float = 1.0
) -> Floats:
    """Points (score, chance) of the curve that fits held-out rows.

    >>> chance_curve(np.array([1.0, 2.0, 3.0]), np.array([False, False, True])).round(2)
    array([[1.  , 2.  , 3.  ],
           [0.09, 0.19, 0.8 ]])
    """
    from sklearn.isotonic import isotonic_regression  # noqa: PLC0415  to score takes no fitting

    weight = np.ones(score.size) if weight is None else weight
    smooth = min(1.0, SMOOTH_WANTED / max(float(weight[wanted].sum()), 1e-12))
    target = (wanted + smooth * logistic_curve(score, wanted, weight)) / (1 + smooth)
    distinct, target, counts = _by_score(score, target, np.maximum(weight, 1e-12))
    points = _points(distinct, isotonic_regression(target, sample_weight=counts))
    centre = np.average(score, weights=weight)
    points[0] = centre + (points[0] - centre) / stretch
    return points


def logistic_curve(score: Floats, wanted: NDArray[np.bool_], weight: Floats) -> Floats:
    """1 / (1 + e^-(a·score + b)) at each score, with the line of :func:`logistic_line`."""
    slope, base = logistic_line(score, wanted, weight)
    return np.asarray(expit(slope * score + base))


def logistic_line(score: Floats, wanted: NDArray[np.bool_], weight: Floats | None) -> tuple[float, float]:
    """Slope a ≥ 0 and base b of the log-odds a·score + b, fitted to targets (P + 1)/(P + 2) and 1/(N + 2) (Platt).

    >>> slope, base = logistic_line(np.array([1.0, 2.0, 3.0]), np.array([False, False, True]), None)
    >>> round(slope, 1), round(base, 1)
    (0.9, -2.4)
    """
    from scipy.optimize import minimize  # noqa: PLC0415  to score takes no fitting

    weight = np.ones(score.size) if weight is None else weight
    positive, negative = float(weight[wanted].sum()), float(weight[~wanted].sum())
    target = np.where(wanted, (positive + 1) / (positive + 2), 1 / (negative + 2))
    mean = np.average(score, weights=weight)
    spread = float(np.sqrt(np.average((score - mean) ** 2, weights=weight))) or 1.0
    z = (score - mean) / spread

    cost, rest = np.empty_like(z), np.empty_like(z)

    def loss(line: Floats) -> tuple[float, Floats]:
        for first in range(0, z.size, AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            margin = line[0] * z[rows] + line[1]
            np.multiply(weight[rows], expit(margin) - target[rows], out=rest[rows])
            np.subtract(np.logaddexp(0, margin), target[rows] * margin, out=cost[rows])
        return float(weight @ cost), np.array([rest @ z, rest.sum()])

    start = [1.0, np.log((positive + 1) / (negative + 1))]
    slope, base = minimize(loss, start, jac=True, bounds=[(0, None), (None, None)]).x
    return float(slope / spread), float(base - slope * mean / spread)


def _by_score(score: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct scores, the mean target of the rows of each, and their weight: rows that tie count as one."""
    order = np.argsort(score, kind="stable")
    distinct, first = np.unique(score[order], return_index=True)
    counts = np.add.reduceat(weight[order], first)
    return distinct, np.add.reduceat((weight * target)[order], first) / counts, counts


def _points(distinct: Floats, chance: Floats) -> Floats:
    """The ends of each step of log-odds."""
    odds = logit(np.clip(chance, 1e-12, 1 - 1e-12))
    step = np.searchsorted(odds, np.linspace(odds[0], odds[-1], MOST_STEPS))
    keep = np.unique(np.clip(np.concatenate([step, step - 1, [distinct.size - 1]]), 0, distinct.size - 1))
    return np.stack([distinct[keep], chance[keep]])


def read_chance(curve: Floats, score: ArrayLike) -> Floats:
    """The chance that a row with this score is wanted; beyond the curve its ends hold.

    >>> read_chance(np.array([[0.0, 1.0], [0.2, 0.6]]), [0.5, 9.0])
    array([0.4, 0.6])
    """
    return np.interp(check_score(score), curve[0], curve[1])


def expected_precision(curve: Floats, score: ArrayLike) -> Floats:
    """For each row of one list: the share of wanted rows to expect among all rows that score no lower.

    >>> expected_precision(np.array([[0.0, 1.0], [0.2, 0.6]]), [0.0, 1.0, 0.5])
    array([0.4, 0.6, 0.5])
    """
    score = check_score(score)
    return precision_so_far(score, read_chance(curve, score))


def precision_so_far(score: Floats, chance: Floats) -> Floats:
    """For each row of one list: the mean chance of all rows that score no lower.

    >>> precision_so_far(np.array([40.0, 90.0]), np.array([0.4, 0.3]))
    array([0.35, 0.3 ])
    """
    order = np.argsort(-score, kind="stable")
    mean = np.cumsum(chance[order]) / np.arange(1, score.size + 1)
    # Rows with equal scores are reviewed together: all of them get the precision after the last one.
    last = np.searchsorted(-score[order], -score, side="right") - 1
    return mean[last]


def scored(ranker: Any, batch: Batch) -> Scored:
    """Rows with the ranker's own scores."""
    return of_all_rows(_scores(ranker, batch), batch)


def _scores(ranker: Any, batch: Batch) -> Floats:
    return np.asarray(ranker._score(batch.X), dtype=np.float64)


def of_all_rows(score: Floats, batch: Batch) -> Scored:
    """Scored rows, of all machines that hold some."""
    lists, weight = batch.lists, batch.sample_weight
    return (
        lists.of_all_rows(score),
        lists.of_all_rows(batch.y),
        None if weight is None else lists.of_all_rows(weight),
    )


def cross_fit(ranker: Any, batch: Batch, n_folds: int) -> Scored | None:
    """Each row scored by a copy of the ranker that learned from the other folds; None where rows cannot be divided.

    A ranker whose scores have no scale of their own (``_free_scale``) has each copy's brought to its own by their mean
    and spread over all rows.
    """
    n_folds = min(n_folds, divisible(batch.y, batch.lists), divisible(~batch.y, batch.lists))
    if n_folds < 2:
        return None
    fold = deal_folds(batch.y, batch.lists, n_folds, seed=0)
    score = np.empty(batch.y.size)
    own = _scores(ranker, batch)
    try:
        for number in range(n_folds):
            theirs = _scores_without(ranker, batch, fold == number)
            if ranker._free_scale:
                theirs = own.mean() + (theirs - theirs.mean()) * (own.std() / (theirs.std() or 1.0))
            score[fold == number] = theirs[fold == number]
    except ShortlistError:  # too little is left to learn from
        return None
    return of_all_rows(score, batch)


def _scores_without(ranker: Any, batch: Batch, left_out: NDArray[np.bool_]) -> NDArray[np.float64]:
    """All rows scored by a copy that did not learn from some of them."""
    copy, rows = clone(ranker), np.flatnonzero(~left_out)
    copy.__dict__.update({name: value for name, value in vars(ranker).items() if name in _OF_COLUMNS})
    if gives_numbers(getattr(copy, "list_weight", None)):
        copy.list_weight = np.asarray(copy.list_weight)[
            batch.lists.named(np.unique(batch.lists.of_row[rows]))
        ]
    left = take(batch, rows)
    copy._fit(replace(left, lists=left.lists.renumbered()))
    return _scores(copy, batch)
