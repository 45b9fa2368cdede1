"""What a budget finds: the share of each row that is looked at, and sums of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.sorting import kth_largest
from shortlist.lists import Lists

Floats = NDArray[np.float64]


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
