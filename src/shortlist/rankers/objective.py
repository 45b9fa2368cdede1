"""From a ranker's parameters and checked rows to the goal it works towards."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.lists import Groups
from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision, CostSaved, Goal, Objective
from shortlist.objectives.base import ListWeight
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch

#: What rankers of impacts maximise, and are judged by, when nothing else is said.
DEFAULT_OBJECTIVE = CostSaved(k=10)


def judged(
    ranker: Ranker, y: ArrayLike, score: NDArray[np.float64], groups: Groups | None, weight: NDArray | None
) -> float:
    """How good these scores are by what the ranker works for; average precision where it does not say."""
    given: Objective | None = getattr(ranker, "objective", None)
    objective = given or (DEFAULT_OBJECTIVE if ranker._takes_impact else AveragePrecision())
    if weight is not None and isinstance(objective, AveragePrecision):
        # Ranks are sums of weights there: worth alone would let wanted rows count against unweighted others.
        return average_precision(y, score, sample_weight=weight, groups=groups)
    return objective.bind(y, groups, sample_weight=weight).value(score)


def bind_batch(
    objective: Objective | None, batch: Batch, list_weight: ListWeight, sample_weight: NDArray | None = None
) -> Goal:
    """The objective on these rows; an error where no order of any list could gain anything."""
    goal = (objective or DEFAULT_OBJECTIVE).bind(
        batch.y, batch.lists, list_weight=list_weight, sample_weight=sample_weight
    )
    if not goal.all_weights.any():
        raise NoWantedRowsError(
            f"none of the {batch.y.size} rows counts: impact x weight is 0 in every list. "
            "Training needs at least one row with an impact above 0 in a list that counts. Label one."
        )
    return goal


def takes_impact(objective: Objective | None) -> bool:
    """Whether y is an impact (True) or marks the wanted rows."""
    if objective is None:
        return True
    if isinstance(objective, type) or not hasattr(objective, "takes_impact"):
        raise InvalidInputError(
            f"objective must be one of shortlist.objectives, such as CostSaved(k=10); got {objective!r}."
        )
    return objective.takes_impact
