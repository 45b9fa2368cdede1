"""Measures of wanted rows near the top of a ranking.

All take ``(y, score)``: y is 1 for wanted rows and 0 for the others, a larger score comes earlier. With
``groups``, rows are ranked within their list and the result is the mean over the lists that can tell. Equal
scores count in expectation (``ties="average"``) or at the last rank of their block (``ties="worst"``).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError
from shortlist.kernels import average_precision as kernel
from shortlist.kernels.pairs import ordered_and_tied_pairs
from shortlist.kernels.sorting import kth_largest
from shortlist.lists import Groups
from shortlist.metrics.checks import check_k, check_labelled, check_list_k, over_lists
from shortlist.metrics.spread import SpreadRows, is_of_dask
from shortlist.metrics.ties import Floats, Ties, check_ties
from shortlist.metrics.weighted import weighted_average_precision
from shortlist.validation import check_sample_weight

Flags = NDArray[np.bool_]


def average_precision(
    y: ArrayLike,
    score: ArrayLike,
    *,
    ties: Ties = "average",
    sample_weight: ArrayLike | None = None,
    groups: Groups | None = None,
) -> float:
    """Mean precision at the ranks of the wanted rows: AP = (1/P) Σ over wanted rows of hits(rank)/rank.

    Ties: a block of n tied rows with p wanted, after r rows with c wanted, adds
    ``p/n [(c + 1) D + (p - 1)/(n - 1) (n - (r + 1) D)]`` with D = 1/(r + 1) + ... + 1/(r + n), which is the
    mean over all orders of the block. ``ties="worst"`` equals scikit-learn's ``average_precision_score``.
    With ``sample_weight``, hits and ranks are sums of weights; the mean over the orders of a tied block then
    takes the weight before a row at its mean, which is exact when the weights of the block are alike.
    With ``groups`` (not together with weights) it is the mean average precision over lists with wanted rows.
    y and score may be columns of a table of Dask: partitions are counted where they lie, and the value is exact.

    References
    ----------
    TARGET, appendix A.1 (ties in expectation); SGBAP, Eq. 4-5 (ties at their worst).

    Examples
    --------
    >>> average_precision([1, 1, 0, 1, 0], [5, 4, 3, 2, 1])
    0.9166...
    >>> average_precision([1, 0], [3, 3]), average_precision([1, 0], [3, 3], ties="worst")
    (0.75, 0.5)
    """
    worst = check_ties(ties) == "worst"
    if is_of_dask(y, score):
        return SpreadRows(y, score, groups=groups, sample_weight=sample_weight).average_precision(ties)
    if sample_weight is None:
        return over_lists(lambda w, s: _list_average_precision(w, s, worst), y, score, groups)
    if groups is not None:
        raise InvalidInputError(
            "average_precision takes groups or sample_weight, not both; drop one of them."
        )
    wanted, score = check_labelled(y, score)
    weight = check_sample_weight(sample_weight, wanted.size)
    assert weight is not None
    return weighted_average_precision(wanted, score, weight, ties)


def roc_auc(y: ArrayLike, score: ArrayLike, *, ties: Ties = "average", groups: Groups | None = None) -> float:
    """Share of (wanted, unwanted) pairs in the right order; a tied pair counts 1/2 (``"worst"``: 0).

    It weighs the bottom of the list like the top, so it is no measure of a shortlist; average precision is.

    >>> roc_auc([0, 0, 0, 1, 1, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    0.625
    """
    worst = check_ties(ties) == "worst"
    value = over_lists(lambda w, s: _list_auc(w, s, worst), y, score, groups)
    if math.isnan(value):
        raise NoUnwantedRowsError(
            "y marks every row as wanted in every list that has a wanted row, so no pair can be in order. "
            "Measure on rows of both kinds."
        )
    return value


def precision_at_k(
    y: ArrayLike, score: ArrayLike, k: float, *, ties: Ties = "average", groups: Groups | None = None
) -> float:
    """Share of the first k rows that are wanted.

    ``k`` is a number of rows or a share of them in (0, 1), rounded up. A k beyond the table is an error; a
    list (``groups``) shorter than k is taken whole. y and score may be columns of a table of Dask.

    >>> precision_at_k([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], k=3)
    0.6666...
    """
    if is_of_dask(y, score):
        hits, rows = SpreadRows(y, score, groups=groups).hits_at_k(k, check_ties(ties))
        return hits / rows
    return _at_k(y, score, k, ties, groups, lambda hits, k, p: hits / k)


def recall_at_k(
    y: ArrayLike, score: ArrayLike, k: float, *, ties: Ties = "average", groups: Groups | None = None
) -> float:
    """Share of the wanted rows that are among the first k (a number of rows or a share of them in (0, 1)).

    Lists without wanted rows are left out of the mean.

    >>> recall_at_k([1, 0, 1, 0, 1], [5, 4, 3, 2, 1], k=0.6)
    0.6666...
    """
    return _at_k(y, score, k, ties, groups, lambda hits, k, p: hits / p if p else math.nan)


def f1_at_k(
    y: ArrayLike, score: ArrayLike, k: float, *, ties: Ties = "average", groups: Groups | None = None
) -> float:
    """Harmonic mean of precision and recall at k: 2 hits / (k + P).

    >>> f1_at_k([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], k=2)
    0.5
    """
    return _at_k(y, score, k, ties, groups, lambda hits, k, p: 2 * hits / (k + p))


def precision_at_p(
    y: ArrayLike, score: ArrayLike, *, ties: Ties = "average", groups: Groups | None = None
) -> float:
    """Precision at k = P, the number of wanted rows (P@k of the SGBAP paper); equals recall there.

    >>> precision_at_p([1, 0, 1, 0, 0], [5, 4, 3, 2, 1])
    0.5
    """
    check_ties(ties)

    def measure(wanted: Flags, score: Floats) -> float:
        p = int(wanted.sum())
        return hits_at_k(wanted, score, p, ties) / p if p else math.nan

    return over_lists(measure, y, score, groups)


def pos_at_top(
    y: ArrayLike, score: ArrayLike, *, ties: Ties = "average", groups: Groups | None = None
) -> float:
    """Share of the wanted rows that rank before the first unwanted one.

    Of p wanted rows tied with the q best unwanted ones, p/(q + 1) come first on average (``"worst"``: none).

    >>> pos_at_top([1, 1, 0, 1], [4, 3, 2, 1])
    0.6666...
    """
    worst = check_ties(ties) == "worst"
    return over_lists(lambda w, s: _list_pos_at_top(w, s, worst), y, score, groups)


def hits_at_k(wanted: Flags, score: Floats, k: int, ties: Ties) -> float:
    """Wanted rows among the first k of one list; needs no sort, only the k-th largest score."""
    if k == score.size:
        return float(wanted.sum())
    kth = kth_largest(score, k)
    above, tied = score > kth, score == kth
    room, n_tied = k - int(above.sum()), int(tied.sum())
    # A tied row's worst rank is the last of its block, within k only if the whole block fits.
    share = float(room == n_tied) if ties == "worst" else room / n_tied
    return float(np.sum(above & wanted) + share * np.sum(tied & wanted))


def _at_k(y: ArrayLike, score: ArrayLike, k: float, ties: Ties, groups: Groups | None, ratio) -> float:  # type: ignore[no-untyped-def]
    check_ties(ties)
    rows_of = check_list_k(k) if groups is not None else lambda n_rows: check_k(k, n_rows)

    def measure(wanted: Flags, score: Floats) -> float:
        rows = rows_of(wanted.size)
        return float(ratio(hits_at_k(wanted, score, rows, ties), rows, int(wanted.sum())))

    return over_lists(measure, y, score, groups)


def _sorted_by_kind(wanted: Flags, score: Floats) -> tuple[Floats, Floats]:
    """Scores of the wanted and of the unwanted rows, each in rising order.

    Two plain sorts are several times faster than one argsort, and merging them keeps ties exact.
    """
    return np.sort(score[wanted]), np.sort(score[~wanted])


def _list_average_precision(wanted: Flags, score: Floats, worst: bool) -> float:
    if not wanted.any():
        return math.nan
    return float(kernel.average_precision(*_sorted_by_kind(wanted, score), worst))


def _list_auc(wanted: Flags, score: Floats, worst: bool) -> float:
    hits, misses = _sorted_by_kind(wanted, score)
    if not hits.size or not misses.size:
        return math.nan
    ordered, tied = ordered_and_tied_pairs(hits, misses)
    return (ordered + (0 if worst else tied / 2)) / (hits.size * misses.size)


def _list_pos_at_top(wanted: Flags, score: Floats, worst: bool) -> float:
    hits, misses = score[wanted], score[~wanted]
    if not hits.size:
        return math.nan
    if not misses.size:
        return 1.0
    first_miss = misses.max()
    ahead = float(np.sum(hits > first_miss))
    tied = 0.0 if worst else np.sum(hits == first_miss) / (np.sum(misses == first_miss) + 1)
    return float((ahead + tied) / hits.size)
