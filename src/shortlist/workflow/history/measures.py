"""What a budget finds, and all measures of the top of one ranking, under the names that tables show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.kernels.sorting import kth_largest
from shortlist.lists import Lists
from shortlist.tables.table import RowFacts

Floats = NDArray[np.float64]
#: The measures below that mean ranks are taken over, where they are known: those of the top of the list.
RANKED_BY = ("precision", "average precision", "positives at top", "NDCG", "impact share", "cost saved")


def measures(
    facts: RowFacts, score: Floats, budget: int, ranked: NDArray[np.bool_] | None = None
) -> dict[str, float]:
    """What the budget finds (per list), and how good the order is; only ``ranked`` rows can be looked at.

    Equal scores count as what a random order of them finds on average, so a constant score is chance. With
    lists the measures of order are means over lists. Needs at least one wanted row.
    """
    lists = facts.in_lists
    share = looked_at(score, budget, lists)
    found = found_within(facts, share if ranked is None else share * ranked)
    row = {"found": found["found"], **ratios(found)}
    k = min(budget, int(lists.sizes.max()))
    row |= _order(facts.wanted, score, facts.lists, k)
    if facts.worth is not None and facts.worth.any():
        row["cost saved"] = float(metrics.cost_saved_at_k(facts.worth, score, k, groups=facts.lists))
    return row


def found_within(facts: RowFacts, share: Floats) -> dict[str, float]:
    """Sums over the rows that are looked at, and over all rows; sums of several lists or periods add up."""
    y, worth = facts.wanted, facts.worth
    sums = {"found": float(share @ y), "reviewed": float(share.sum()), "wanted": float(y.sum())}
    if worth is not None:
        sums |= {"impact found": float(share @ worth), "impact": float(worth.sum())}
    return sums


def ratios(sums: dict[str, float]) -> dict[str, float]:
    """Precision, recall and the share of the impact, of such sums; NaN where there is nothing to divide by."""
    row = {
        "precision": _ratio(sums["found"], sums["reviewed"]),
        "recall": _ratio(sums["found"], sums["wanted"]),
    }
    if "impact" in sums:
        row |= {
            "impact found": sums["impact found"],
            "impact share": _ratio(sums["impact found"], sums["impact"]),
        }
    return row


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def _order(y: NDArray[np.bool_], score: Floats, lists: Lists | None, k: int) -> dict[str, float]:
    order = {
        "average precision": metrics.average_precision(y, score, groups=lists),
        "precision at P": metrics.precision_at_p(y, score, groups=lists),
        "positives at top": metrics.pos_at_top(y, score, groups=lists),
        "NDCG": metrics.ndcg_at_k(y.astype(np.float64), score, k, groups=lists),
    }
    mixed = y.any() and not y.all() if lists is None else _some_mixed_list(y, lists)
    if mixed:
        order["AUC"] = metrics.roc_auc(y, score, groups=lists)
    return {name: float(value) for name, value in order.items()}


def _some_mixed_list(y: NDArray[np.bool_], lists: Lists) -> bool:
    return any(0 < y[rows].sum() < rows.size for rows in lists)


def looked_at(score: Floats, budget: int, lists: Lists) -> Floats:
    """The chance that each row is among the first ``budget`` of its list, equal scores in random order.

    >>> looked_at(np.array([3.0, 1.0, 1.0, 0.0]), 2, Lists.single(4))
    array([1. , 0.5, 0.5, 0. ])
    """
    share = np.ones(score.size)
    for rows in lists:
        if rows.size > budget:
            share[rows] = _share(score[rows], budget)
    return share


def _share(score: Floats, budget: int) -> Floats:
    kth = kth_largest(score, budget)
    above, tied = score > kth, score == kth
    return above + tied * ((budget - above.sum()) / tied.sum())


def budgets_up_to(most: int, steps: int = 40) -> NDArray[np.int64]:
    """Budgets from 1 to ``most``, each step a like factor: curves look at small ones closely.

    >>> budgets_up_to(5)
    array([1, 2, 3, 4, 5])
    """
    return np.unique(np.round(np.geomspace(1, most, steps)).astype(np.int64))
