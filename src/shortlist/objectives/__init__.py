"""Objectives: measures of the top of a ranking, as objects that any learner can optimise.

A learner never knows which objective it optimises. It asks for three things of one list: the *total* of a
ranking, the *ideal* total, and how the total changes when two rows swap; and for a *weight* of each list.
The value of a list is total / ideal, the value of many lists the weighted mean.

All objectives here share one form, which is what makes one swap kernel serve them all: with rows in ranked
order, swapping the rows at ranks a < b changes the total by ::

    (gain[b] - gain[a]) * (upper[a] - lower[b])

where ``gain`` is what a row is worth and ``upper``, ``lower`` come from one pass over the list. For
objectives that sum gain x discount, both are the discount; for average precision they hold the precision
gained and the precisions shifted in between.
"""

from typing import TYPE_CHECKING

from shortlist.later import names_of

if TYPE_CHECKING:  # at run time names are loaded on first use: a trained model needs none of the kernels
    from shortlist.objectives.base import Goal, Objective
    from shortlist.objectives.impacts import NDCG, CostSaved
    from shortlist.objectives.labels import AUC, AveragePrecision, PrecisionAtK

_HOME = {
    "AUC": "shortlist.objectives.labels",
    "AveragePrecision": "shortlist.objectives.labels",
    "CostSaved": "shortlist.objectives.impacts",
    "Goal": "shortlist.objectives.base",
    "NDCG": "shortlist.objectives.impacts",
    "Objective": "shortlist.objectives.base",
    "PrecisionAtK": "shortlist.objectives.labels",
}

__all__ = ["AUC", "NDCG", "AveragePrecision", "CostSaved", "Goal", "Objective", "PrecisionAtK"]

if not TYPE_CHECKING:  # a type checker would take any name for one that may be there
    __getattr__, __dir__ = names_of(__name__, _HOME)
