"""The history that backtest and compare work on, and how it is split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.catalogue import DEFAULT_MODEL, MODELS
from shortlist.tables import Roles, Table, load_table
from shortlist.workflow.splits import Split, folds, walk_forward
from shortlist.workflow.train import default_model


def load_history(
    history: Any, roles: Roles, *, wanted: Any, baselines: Sequence[str], baseline_columns: Sequence[str]
) -> tuple[Table, list[str]]:
    """The labelled rows, and all rules to compare with as ``"column desc"``.

    A column of the user's present scores (``baseline_columns``) is no feature: the question is whether a model
    does better than it, not with it.
    """
    kept = tuple(dict.fromkeys((*roles.ignore, *(c for c in baseline_columns if c not in roles.names))))
    roles = replace(roles, ignore=kept)
    table = load_table(history, roles, wanted=wanted)
    return table, [*(f"{column} desc" for column in baseline_columns), *baselines]


def split_history(
    table: Table, *, every: str | float | None, delay: float, n_folds: int, random_state: int
) -> list[Split]:
    """Periods where there is a time, else folds."""
    if table.time is not None:
        return walk_forward(table.time, every=every, delay=delay)
    return folds(table, n_folds=n_folds, random_state=random_state)


def usual_models(roles: Roles, models: Sequence[str] | None) -> list[str]:
    """The models asked for, "all" that can learn from what is given, or the default beside a plain one."""
    if isinstance(models, str):
        raise InvalidInputError(f"give models as a list of names: [{models!r}]")
    # Without a label, rows with any impact count as wanted, so every model has something to learn from.
    learnable = ("label", "impact") if roles.impact else ("label",)
    if models is not None and list(models) == ["all"]:
        return [name for name, model in MODELS.items() if model.learns_from in learnable]
    if models:
        return [*models]
    both = [default_model(roles), *(DEFAULT_MODEL[kind] for kind in learnable), "logistic"]
    return [*dict.fromkeys(both)]
