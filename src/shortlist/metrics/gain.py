"""Discounted cumulative gain of impacts."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.lists import Groups, Lists
from shortlist.metrics.ties import Floats, Ties, check_ties
from shortlist.metrics.totals import Discounts, contenders, discounts_in_lists, ideal_totals, list_totals
from shortlist.validation import check_budget, check_groups, check_impact, check_score

Gain = Literal["exp2", "linear"]


def dcg_at_k(
    y: ArrayLike,
    score: ArrayLike,
    k: int | None = None,
    *,
    groups: Groups | None = None,
    gain: Gain = "exp2",
    ties: Ties = "average",
) -> float:
    """Discounted gain of the first k rows: Σ over ranks r <= k of gain(y) / log2(r + 1); mean over lists.

    ``gain="exp2"`` is 2^y - 1, ``"linear"`` is y. k = None takes every rank.

    >>> dcg_at_k([3, 0, 1], [3, 2, 1], k=3)
    7.5
    """
    impact, score, lists = _check(y, score, k, groups, gain, ties)
    gains = impact if gain == "linear" else _exp2_gains(impact)
    discounts = discounts_in_lists(log_discounts(k), lists)
    return float(list_totals(gains, score, lists, discounts, ties=ties).mean())


def ndcg_at_k(
    y: ArrayLike,
    score: ArrayLike,
    k: int | None = None,
    *,
    groups: Groups | None = None,
    gain: Gain = "exp2",
    ties: Ties = "average",
    no_gain: Literal["exclude", 0, 1] = "exclude",
) -> float:
    """DCG at k as a share of the best that any order reaches; each list counts alike.

    Gains are kept relative to the largest of their list, 2^(y - ymax) - 2^(-ymax), so the ratio is right for
    impacts of 10,000 though 2^10000 is no float. A list without impact has no ideal: it is left out of the
    mean by default, or counts as 0 or 1 (``no_gain``).

    >>> storms, impact = [1, 1, 1, 2, 2, 2], [10_000, 100, 0, 100, 1, 0]
    >>> ndcg_at_k(impact, [3, 2, 1, 1, 2, 3], k=2, groups=storms)
    0.5...
    """
    if no_gain not in ("exclude", 0, 1):
        raise InvalidInputError(f"no_gain must be 'exclude', 0 or 1; got {no_gain!r}.")
    impact, score, lists = _check(y, score, k, groups, gain, ties)
    gains = relative_gains(impact, lists, gain)
    discounts = discounts_in_lists(log_discounts(k), lists)
    ideals = ideal_totals(gains, lists, discounts)
    totals = list_totals(gains, score, lists, discounts, ties=ties)
    return _mean_ratio(totals, ideals, no_gain)


def relative_gains(impact: Floats, lists: Lists, gain: Gain) -> Floats:
    """Gains; for ``"exp2"`` divided by 2^(largest impact of the list), which no ratio of totals notices.

    >>> relative_gains(np.array([10_000.0, 9_999.0, 0.0]), Lists.single(3), "exp2")
    array([1. , 0.5, 0. ])
    """
    if gain == "linear":
        return impact
    largest = _largest_of_list(impact, lists)
    # 2^(y - m) - 2^(-m), written as a product so that small impacts keep their digits.
    return np.exp2(impact - largest) * -np.expm1(-impact * np.log(2))


def _largest_of_list(impact: Floats, lists: Lists) -> Floats | np.float64:
    if len(lists) == 1:
        return impact.max()
    return np.maximum.reduceat(impact[lists.order], lists.starts[:-1])[lists.of_row]


def log_discounts(k: int | None) -> Discounts:
    """1 / log2(rank + 1) for the first k ranks, else 0.

    >>> log_discounts(2)(3)
    array([1.        , 0.63092975, 0.        ])
    """

    def discounts(n: int) -> Floats:
        by_rank = 1 / np.log2(np.arange(2, n + 2, dtype=np.float64))
        if k is not None:
            by_rank[k:] = 0
        return by_rank

    return discounts


def _check(
    y: ArrayLike, score: ArrayLike, k: int | None, groups: Groups | None, gain: Gain, ties: Ties
) -> tuple[Floats, Floats, Lists]:
    check_ties(ties)
    check_gain(gain)
    impact = check_impact(y)
    score = check_score(score, impact.size)
    if k is not None:
        check_budget(k, impact.size if groups is None else None, name="k")
    if not impact.any():
        raise NoWantedRowsError(
            f"none of the {impact.size} rows has an impact above 0, so no order is better than another. "
            "Measure on rows that hold at least one."
        )
    if groups is not None or k is None:
        return impact, score, check_groups(groups, impact.size)
    rows = contenders(impact, score, k)
    return impact[rows], score[rows], Lists.single(rows.size)


def check_gain(gain: Gain) -> Gain:
    """One of the two gains."""
    if gain not in ("exp2", "linear"):
        raise InvalidInputError(f"gain must be 'exp2' or 'linear'; got {gain!r}.")
    return gain


def _exp2_gains(impact: Floats) -> Floats:
    if impact.max() >= 1000:
        raise InvalidInputError(
            f"2^y is no longer a number for an impact of {impact.max():g}. Use gain='linear', or ndcg_at_k, "
            "which is right for any impact."
        )
    return np.exp2(impact) - 1


def _mean_ratio(totals: Floats, ideals: Floats, no_gain: Literal["exclude", 0, 1]) -> float:
    useful = ideals > 0
    if no_gain == "exclude":
        return float(np.mean(totals[useful] / ideals[useful]))
    ratios = np.full(totals.size, float(no_gain))
    ratios[useful] = totals[useful] / ideals[useful]
    return float(ratios.mean())
