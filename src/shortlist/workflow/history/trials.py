"""The engine under backtest and compare: every ranking on every split, learning from the rows before or beside only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shortlist.exceptions import NoUnwantedRowsError, NoWantedRowsError
from shortlist.models.abilities import score_rows
from shortlist.models.profile import Profile
from shortlist.models.trained import TrainedModel
from shortlist.models.training import train_on
from shortlist.question.options import Progress
from shortlist.rankers.catalogue import RankerOptions, find_model
from shortlist.tables import Table
from shortlist.tables.table import RowFacts
from shortlist.validation import check_budget
from shortlist.workflow.history.measures import Floats
from shortlist.workflow.history.rules import Rule
from shortlist.workflow.history.splits import Split

CHANCE = "at random"


@dataclass(frozen=True, eq=False)
class Trial:
    """The scores that one ranking gives the rows of one split."""

    split: Split
    ranking: str
    score: Floats
    fit_seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Trials:
    """All scores, and the models of the last split."""

    facts: RowFacts
    splits: tuple[Split, ...]
    trials: tuple[Trial, ...]
    models: dict[str, TrainedModel]
    last_rows: Table  # the rows of the last split, as its models saw them
    notes: tuple[str, ...]

    def tested(self, split: Split) -> RowFacts:
        """What is known of the rows of a split; taken once."""
        return self._tested[split]

    @cached_property
    def _tested(self) -> dict[Split, RowFacts]:
        return {split: RowFacts.take(self.facts, split.test) for split in self.splits}

    @property
    def rankings(self) -> list[str]:
        """Names of the rankings: models, rules, chance."""
        return [*dict.fromkeys(trial.ranking for trial in self.trials)]

    def of(self, ranking: str) -> list[Trial]:
        """The trials of one ranking, in order of the splits."""
        return [trial for trial in self.trials if trial.ranking == ranking]


@dataclass(frozen=True)
class Rankings:
    """What takes part: models of the catalogue by name, rules, and chance."""

    models: tuple[str, ...]
    rules: tuple[Rule, ...]
    options: RankerOptions

    @classmethod
    def of(cls, models: Sequence[str], baselines: Sequence[str], options: RankerOptions) -> Rankings:
        """Checked before any work is done."""
        for name in models:
            find_model(name)
        check_budget(options.budget)
        return cls(tuple(dict.fromkeys(models)), tuple(map(Rule.parse, baselines)), options)


def run_trials(
    table: Table, splits: Sequence[Split], rankings: Rankings, *, on_progress: Progress | None = None
) -> Trials:
    """Let every ranking score every split.

    Categories, gaps and quantiles are learned anew from the training rows of each split, so nothing of the
    rows to be ranked is known. Splits whose training rows are all of one kind are left out, with a note.
    """
    rules = {rule.name: rule.score(table.frame) for rule in rankings.rules}
    trials: list[Trial] = []
    used: list[Split] = []
    notes: list[str] = []
    models: dict[str, TrainedModel] = {}
    rows = table
    for done, split in enumerate(splits):
        if on_progress is not None:
            on_progress(done, len(splits), None)
        try:
            models, rows = _learn(table, split, rankings)
        except (NoWantedRowsError, NoUnwantedRowsError):
            notes.append(f"{split.name} is left out: the rows to learn from are all of one kind.")
            continue
        used.append(split)
        trials += [
            Trial(split, name, score_rows(model.ranker, rows.features), model.training["fit seconds"])
            for name, model in models.items()
        ]
        trials += [Trial(split, name, score[split.test]) for name, score in rules.items()]
        trials.append(Trial(split, CHANCE, np.zeros(split.test.size)))
    _check_worth_it(table, used)
    return Trials(table, tuple(used), tuple(trials), models, rows, tuple(notes))


def _check_worth_it(table: Table, used: Sequence[Split]) -> None:
    """Refuse splits of which none can be learned for, or in which nothing can be found."""
    if not used:
        raise NoWantedRowsError(
            "no period has wanted rows and others before it to learn from. Choose longer periods (--every), or "
            "leave out --time for cross-validation."
        )
    if not any(table.wanted[split.test].any() for split in used):
        raise NoWantedRowsError(
            "no row of the periods that can be ranked is wanted, so nothing can be found in them. Leave out "
            "--time for cross-validation, or add labelled rows."
        )


def _learn(table: Table, split: Split, rankings: Rankings) -> tuple[dict[str, TrainedModel], Table]:
    if split.train.size == 0:
        raise NoWantedRowsError("there are no rows to learn from.")
    past = table.take(split.train).learned_again()
    profile = Profile.of(past.X, past.schema)
    models = {name: train_on(past, name, rankings.options, profile=profile) for name in rankings.models}
    return models, table.take(split.test).under(past.schema)
