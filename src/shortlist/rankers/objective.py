"""From a ranker's parameters and checked rows to the goal it works towards."""

from __future__ import annotations

from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.objectives import Goal, Objective
from shortlist.objectives.base import ListWeight
from shortlist.rankers.base import DEFAULT_OBJECTIVE, Batch


def bind_batch(
    objective: Objective | None, batch: Batch, list_weight: ListWeight, sample_weight: NDArray | None = None
) -> Goal:
    """The objective on these rows; an error where no order of any list could gain anything."""
    goal = (objective or DEFAULT_OBJECTIVE).bind(
        batch.y, batch.lists, list_weight=list_weight, sample_weight=sample_weight
    )
    if not goal.weights.any():
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
