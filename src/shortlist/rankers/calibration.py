"""What a rank means: scores turned into the chance that a row is wanted, expected precision, and what will be found.

A smooth monotone curve g of log-odds is fitted to rows that were held out (see ``shortlist.rankers.smooth_curve``),
with u their standardised scores, and stored as points (score, chance).

Held-out scores of a fold ensemble come from one of its models each; new rows are scored by the mean of all. A mean has
less noise, so that the same score stands for more. With κ the ratio of the two variances, regression to the mean has a
new row of standardised score u stand where held-out rows of κu stood: ::

    chance(u) = σ(c + g(κ u)),   c: the mean of σ(c + g(√κ u)) over the training rows is their share of wanted rows

as the scores of the training rows, were they new, would be u/√κ. One model, judged on rows it did not see, has κ = 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri
from sklearn.base import clone

from shortlist.exceptions import ShortlistError
from shortlist.objectives.base import gives_numbers
from shortlist.rankers.batch import Batch
from shortlist.rankers.folds import deal_folds, divisible, take
from shortlist.rankers.smooth_curve import SmoothCurve
from shortlist.validation import check_score

#: Steps of log-odds in a stored curve; between its points it is linear.
N_STEPS = 512
#: A stored curve goes on beyond the rows that it was fitted to, on each side by this share of their range,
BEYOND = 0.5
#: and its log-odds stay within this: no chance is 0 or 1.
MOST_ODDS = 20.0
#: What lies outside of the bounds of an expected number, on each side.
TAIL = 0.05
#: Errors of the curve that are thought of, between three standard deviations below and above.
N_DRAWN = 13
#: Of more rows than these, the number found is taken to be normal.
MOST_COUNTED = 20_000
#: Rows of which the fit of a line thinks at a time: what it notes of them stays in the cache.
AT_ONCE = 1 << 13

Floats = NDArray[np.float64]
#: Scores, labels and weights of rows.
Scored = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]
#: What a ranker knows of the columns before it learns.
_OF_COLUMNS = ("schema_", "n_features_in_", "feature_names_in_", "sparse_", "classes_")


class ChanceCurve(NamedTuple):
    """What scores mean, as it is stored with a model.

    points : scores, and the chance that a row with that score is wanted; between them it is linear
    error : what one standard deviation of each of a few independent errors of the curve adds to the log-odds there
    """

    points: Floats
    error: Floats


class Found(NamedTuple):
    """How many wanted rows to expect among some rows, and bounds that hold in nine of ten cases."""

    expected: float
    low: int
    high: int


def chance_curve(
    score: Floats, wanted: NDArray[np.bool_], weight: Floats | None = None, *, kappa: float = 1.0
) -> ChanceCurve:
    """The curve that fits held-out rows, for scores with 1/κ of the variance of theirs.

    >>> curve = chance_curve(np.array([1.0, 2.0, 3.0]), np.array([False, False, True]))
    >>> read_chance(curve.points, [1.0, 2.0, 3.0]).round(2)
    array([0.03, 0.24, 0.76])
    """
    curve = SmoothCurve.fit(score, wanted, weight)
    offset = curve.offset(kappa)
    place = _even_steps(curve, offset, np.sqrt(kappa))
    odds = np.maximum.accumulate(offset + curve.odds(place))
    chance = expit(np.clip(odds, -MOST_ODDS, MOST_ODDS))
    points = np.stack([curve.mean + curve.spread * place / kappa, chance])
    return ChanceCurve(points, curve.errors(place))


def _even_steps(curve: SmoothCurve, offset: float, wider: float) -> Floats:
    """Places of the curve between which log-odds change by equal steps, from below all rows to above them."""
    low, high = wider * curve.lowest, wider * curve.highest
    beyond = (high - low) * BEYOND
    bends = np.r_[low - beyond, curve.knots, high + beyond]
    odds = offset + curve.odds(bends)
    ends = np.clip(odds[[0, -1]], -MOST_ODDS, MOST_ODDS)
    steps = np.interp(np.linspace(ends[0], ends[1], N_STEPS), odds, bends)
    return np.unique(np.r_[bends, steps])


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


def expected_found(curve: ChanceCurve, chance: Floats) -> Found:
    """How many of the rows with these chances will be wanted, with bounds that hold in nine of ten cases.

    Two things are unsure: which of the rows turn out to be wanted, and the curve, whose error all rows share. So
    rows of several lists are given together where their sum is asked for. Below the lower bound and above the upper one
    lie 5 % each, half of the chance of the bound itself counted: with whole numbers it cannot be that exactly.

    >>> sure = ChanceCurve(np.array([[0.0, 1.0], [0.0, 1.0]]), np.zeros((1, 2)))
    >>> expected_found(sure, np.full(10, 0.5))
    Found(expected=5.0, low=3, high=7)
    """
    expected, along = float(chance.sum()), _shared_error(curve, chance)
    if chance.size > MOST_COUNTED:
        spread = np.sqrt((chance * (1 - chance)).sum() + ((chance * (1 - chance)) @ along) ** 2)
        low, high = ndtri([TAIL, 1 - TAIL]) * spread + expected
        return Found(expected, max(0, int(np.ceil(low))), min(chance.size, int(high)))
    drawn = np.linspace(-3, 3, N_DRAWN)
    share = np.exp(-(drawn**2) / 2)
    each = (share / share.sum()) @ number_found(expit(logit(chance) + drawn[:, None] * along))
    low, high = np.searchsorted(np.cumsum(each) - each / 2, [TAIL, 1 - TAIL])
    return Found(expected, int(low), int(max(low, high - 1)))


def _shared_error(curve: ChanceCurve, chance: Floats) -> Floats:
    """What one standard deviation of the expected number adds to the log-odds of each row."""
    error = np.array([np.interp(chance, curve.points[1], each) for each in curve.error])
    number = error @ (chance * (1 - chance))
    return np.asarray(number @ error / (np.linalg.norm(number) or 1.0))


def number_found(chance: Floats) -> Floats:
    """The chances that 0, 1, ... of some rows are wanted, for each line of a matrix with the rows' own chances.

    Rows are added up two by two, then those sums, by Fourier transforms.

    >>> number_found(np.array([[0.5, 0.1]])).round(9)
    array([[0.45, 0.5 , 0.05]])
    """
    from scipy.fft import next_fast_len  # noqa: PLC0415  to score takes no counting

    if not chance.shape[1]:
        return np.ones((len(chance), 1))
    sums = np.stack([1 - chance, chance], axis=2)
    while sums.shape[1] > 1:
        if sums.shape[1] % 2:  # with one that is 0 for certain
            sums = np.pad(sums, ((0, 0), (0, 1), (0, 0)))
            sums[:, -1, 0] = 1.0
        size = 2 * sums.shape[2] - 1
        length = next_fast_len(size, real=True)
        waves = np.fft.rfft(sums, length, axis=2)
        sums = np.fft.irfft(waves[:, ::2] * waves[:, 1::2], length, axis=2)[:, :, :size]
    return np.clip(sums[:, 0, : chance.shape[1] + 1], 0, None)


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
