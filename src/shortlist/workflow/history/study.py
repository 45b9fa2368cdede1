"""What backtest and compare ask alike: a history, how it is split, and which rankings take part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.question import StudyQuestion
from shortlist.question.declare import Option, declared
from shortlist.rankers.catalogue import MODELS, Kind, RankerOptions, default_model
from shortlist.tables import Roles, Table
from shortlist.tables.io.sql import hide_password
from shortlist.workflow.history.splits import Split, folds, walk_forward
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import Rankings, run_trials
from shortlist.workflow.train import model_for

#: Options that the setup tells in its own words, and the threads, which change nothing that is found.
_TOLD = {
    *(role.name for role in fields(Roles)),
    *(
        "budget",
        "n_folds",
        "every",
        "delay",
        "models",
        "baselines",
        "baseline_columns",
        "random_state",
        "n_jobs",
    ),
}
#: Names in the setup, where that of the option means something else there: how many rows are wanted.
_OTHER_NAMES = {"wanted": "wanted value"}


@dataclass(frozen=True, eq=False)
class Study:
    """What was found, what was asked, and what the user should know."""

    tally: Tally
    setup: dict[str, Any]
    notes: tuple[str, ...]


def hold_study(question: StudyQuestion) -> Study:
    """Let every ranking score every period or fold of a history."""
    # What cannot be is told before the history is read.
    roles, budget = question.roles, question.budget
    models = usual_models(roles, question.models)
    columns = _check_names(question.baseline_columns, "baseline_columns")
    rules = [*(f"{column} desc" for column in columns), *_check_names(question.baselines, "baselines")]
    rankings = Rankings.of(models, rules, RankerOptions(budget, question.random_state, question.n_jobs))
    table = question.read_history()
    trials = run_trials(table, split_history(table, question), rankings, on_progress=question.on_progress)
    setup = {
        "history": _name(question.history),
        **roles.to_dict(),
        "rows": len(table),
        "wanted": int(table.wanted.sum()),
        "budget": budget,
        "folds" if question.time is None else "periods": len(trials.splits),
        "every": question.every,
        "delay": question.delay or None,
        "models": [*rankings.models],
        "baselines": rules,
        "random_state": question.random_state,
        **_also_given(question),
        "shortlist version": __version__,
    }
    return Study(Tally(trials, budget, question.random_state), setup, (*table.notes, *trials.notes))


def _also_given(question: StudyQuestion) -> dict[str, Any]:
    """Options that differ from their defaults and have no line of their own in the setup."""
    options = [each for each in declared(type(question)) if isinstance(each.about, Option)]
    given = {each.name: getattr(question, each.name) for each in options if each.name not in _TOLD}
    usual = {each.name: each.default for each in options}
    return {_OTHER_NAMES.get(name, name): value for name, value in given.items() if value != usual[name]}


def split_history(table: Table, question: StudyQuestion) -> list[Split]:
    """Periods where there is a time, else folds."""
    if table.time is not None:
        return walk_forward(table.time, every=question.every, delay=question.delay)
    if question.every is not None or question.delay:
        raise InvalidInputError("periods and delays need a time column; name it: --time COLUMN")
    return folds(table, n_folds=question.n_folds, random_state=question.random_state)


def usual_models(roles: Roles, models: Sequence[str] | None) -> list[str]:
    """The models asked for, "all" that can learn from what is given, or the default beside a plain one."""
    # Without a label, rows with any impact count as wanted, so every model has something to learn from.
    learnable: tuple[Kind, ...] = ("label", "impact") if roles.impact else ("label",)
    asked = [] if models is None else _check_names(models, "models")
    if asked == ["all"]:
        return [name for name, model in MODELS.working().items() if model.learns_from in learnable]
    defaults = (default_model(kind, lists=roles.list is not None) for kind in learnable)
    usual = [model_for(roles), *defaults, "logistic"]
    return [*dict.fromkeys(asked or usual)]


def _check_names(names: Sequence[str], what: str) -> list[str]:
    if isinstance(names, str):
        raise InvalidInputError(f"give {what} as a list of names: [{names!r}]")
    return [*names]


def _name(history: Any) -> str:
    return hide_password(history) if isinstance(history, str) else type(history).__name__
