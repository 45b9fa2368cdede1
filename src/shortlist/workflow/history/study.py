"""What backtest and compare ask alike: a history, how it is split, and which rankings take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.models.training import Progress
from shortlist.rankers.catalogue import MODELS, Kind, Wish, default_model
from shortlist.tables import Roles, Table, load_table
from shortlist.tables.io.sql import hide_password
from shortlist.workflow.history.splits import Split, folds, walk_forward
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import Contest, run_trials
from shortlist.workflow.train import model_for


@dataclass(frozen=True, eq=False)
class Study:
    """What was found, what was asked, and what the user should know."""

    tally: Tally
    setup: dict[str, Any]
    notes: tuple[str, ...]


def hold_study(
    history: Any,
    *,
    label: str | None = None,
    impact: str | None = None,
    impact_known: bool = False,
    list: str | None = None,
    id: str | None = None,
    time: str | None = None,
    ignore: Sequence[str] = (),
    wanted: Any = None,
    skip_empty_labels: bool = False,
    budget: int = 50,
    every: str | float | None = None,
    delay: float = 0,
    n_folds: int = 5,
    models: Sequence[str] | None = None,
    baselines: Sequence[str] = (),
    baseline_columns: Sequence[str] = (),
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Study:
    """Let every ranking score every period or fold of a history; arguments as in ``backtest``."""
    # Present scores are no features: the question is whether a model does better than them, not with them.
    roles = Roles(
        id=id,
        label=label,
        impact=impact,
        list=list,
        time=time,
        ignore=(*([ignore] if isinstance(ignore, str) else ignore), *baseline_columns),
        impact_known=impact_known,
    )
    rules = [*(f"{column} desc" for column in baseline_columns), *_check_names(baselines, "baselines")]
    contest = Contest.of(usual_models(roles, models), rules, Wish(budget, random_state, n_jobs))
    table = load_table(history, roles, wanted=wanted, skip_empty_labels=skip_empty_labels)
    splits = split_history(table, every=every, delay=delay, n_folds=n_folds, random_state=random_state)
    trials = run_trials(table, splits, contest, on_progress=on_progress)
    name = hide_password(history) if isinstance(history, str) else type(history).__name__
    asked = {"history": name, **roles.to_dict()}
    setup = {
        **asked,
        "rows": len(table),
        "wanted": int(table.wanted.sum()),
        "budget": budget,
        "folds" if time is None else "periods": len(trials.splits),
        "every": every,
        "delay": delay or None,
        "models": [*contest.models],
        "baselines": rules,
        "random_state": random_state,
        "shortlist version": __version__,
    }
    return Study(Tally(trials, budget, random_state), setup, (*table.notes, *trials.notes))


def split_history(
    table: Table, *, every: str | float | None, delay: float, n_folds: int, random_state: int
) -> list[Split]:
    """Periods where there is a time, else folds."""
    if table.time is not None:
        return walk_forward(table.time, every=every, delay=delay)
    if every is not None or delay:
        raise InvalidInputError("periods and delays need a time column; name it: --time COLUMN")
    return folds(table, n_folds=n_folds, random_state=random_state)


def usual_models(roles: Roles, models: Sequence[str] | None) -> list[str]:
    """The models asked for, "all" that can learn from what is given, or the default beside a plain one."""
    # Without a label, rows with any impact count as wanted, so every model has something to learn from.
    learnable: tuple[Kind, ...] = ("label", "impact") if roles.impact else ("label",)
    asked = [] if models is None else _check_names(models, "models")
    if asked == ["all"]:
        return [name for name, model in MODELS.items() if model.learns_from in learnable]
    defaults = (default_model(kind, lists=roles.list is not None) for kind in learnable)
    usual = [model_for(roles), *defaults, "logistic"]
    return [*dict.fromkeys(asked or usual)]


def _check_names(names: Sequence[str], what: str) -> list[str]:
    if isinstance(names, str):
        raise InvalidInputError(f"give {what} as a list of names: [{names!r}]")
    return [*names]
