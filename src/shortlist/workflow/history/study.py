"""What backtest and compare ask alike: a history, how it is split, and which rankings take part."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.metrics.profit import check_cost
from shortlist.question import StudyQuestion
from shortlist.question.declare import Option, declared
from shortlist.tables import Roles, Table
from shortlist.tables.guard.notes import too_good
from shortlist.tables.io.sql import hide_password
from shortlist.validation import check_budget
from shortlist.workflow.candidates import check_names, options_of, usual_models, usual_rules
from shortlist.workflow.history.insight.slices import sliced_by
from shortlist.workflow.history.sentences.words import check_words
from shortlist.workflow.history.splits import Split, folds, walk_forward
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import CHANCE, Rankings, run_trials

#: Options that the setup tells in its own words, and the threads and memory, which change nothing that is found.
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
        "memory",
        "value",
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
    sliced: dict[str, pl.Series]  # columns that figures are told by

    def cautions(self, table: pl.DataFrame) -> tuple[str, ...]:
        """What to be wary of in the totals: a model that found all there was to find."""
        models = (row for row in table.to_dicts() if row["ranking"] in self.tally.trials.models)
        best = max(models, key=lambda row: float(row["found"]))
        luck = table.filter(pl.col("ranking") == CHANCE)["found"]
        by_luck = float(luck[0]) if luck.len() else 0.0
        return too_good(best["ranking"], best["found"], self.tally.possible, by_luck=by_luck)


def hold_study(question: StudyQuestion) -> Study:
    """Let every ranking score every period or fold of a history."""
    # What cannot be is told before the history is read.
    roles, budget = question.roles, question.budgets[0]
    _check_costs(question)
    check_words(question.words, question.currency)
    columns = check_names(question.baseline_columns, "baseline_columns")
    rules = [*(f"{column} desc" for column in columns), *check_names(question.baselines, "baselines")]
    rules = usual_rules(roles, rules)
    options = options_of(question, budget)
    rankings = Rankings.of(usual_models(roles, question.models, options), rules, options)
    table = question.read_history(by_parts=True)
    sliced = sliced_by(question.slices, table.frame)
    splits = split_history(table, question)
    trials = run_trials(table, splits, rankings, on_progress=question.on_progress)
    setup = {
        "history": _name(question.history),
        **roles.spoken,
        "rows": len(table),
        "wanted": int(table.wanted.sum()),
        "budget": budget,
        **({"budgets": [*question.budgets]} if len(question.budgets) > 1 else {}),
        "folds" if question.time is None else "periods": len(trials.splits),
        "every": question.every,
        "delay": question.delay or None,
        "models": [*rankings.models],
        "baselines": rules,
        "random_state": question.random_state,
        **_also_given(question),
        "shortlist version": __version__,
    }
    tally = Tally(trials, budget, question.random_state, question.review_cost)
    notes = (*table.notes, *_on_folds(table, len(splits), question), *trials.notes, *trials.left_out)
    return Study(tally, setup, notes, sliced)


def _on_folds(table: Table, held: int, question: StudyQuestion) -> tuple[str, ...]:
    """That there are fewer folds than asked for, and why, as a note."""
    if table.time is not None or held == question.n_folds:
        return ()
    if table.lists is not None:
        why = f"lists are held out whole, and there are {held:,}"
    else:
        why = f"each needs a wanted row and another one, and one kind has {held:,}"
    return (f"{held:,} folds instead of {question.n_folds:,}: {why}.",)


def _check_costs(question: StudyQuestion) -> None:
    for budget in question.budgets:
        check_budget(budget)
    if question.review_cost is None:
        return
    check_cost(question.review_cost)
    if question.roles.impact is None:
        raise InvalidInputError(
            "a cost of reviews is weighed against what they find; name the column that says how much a row is worth: "
            "--value COLUMN"
        )


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


def _name(history: Any) -> str:
    return hide_password(history) if isinstance(history, str) else type(history).__name__
