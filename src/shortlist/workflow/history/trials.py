"""The engine under backtest and compare: every ranking on every split, learning from the rows before or beside only."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import NoUnwantedRowsError, NoWantedRowsError
from shortlist.models.abilities import chances
from shortlist.models.profile import Profile
from shortlist.models.trained import TrainedModel
from shortlist.models.training import train_on
from shortlist.question.options import Progress
from shortlist.rankers.catalogue import Model, RankerOptions
from shortlist.rankers.estimators import model_of
from shortlist.tables import Table
from shortlist.tables.table import RowFacts
from shortlist.validation import check_budget
from shortlist.workflow.candidates import check_weighs
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
    chance: Floats | None = None  # where the model ranks by expected value
    calibrated: Floats | None = None  # the chance that each row is wanted, where the model knows it


@dataclass(frozen=True, eq=False)
class Trials:
    """All scores, and the models of the last split."""

    facts: RowFacts
    splits: tuple[Split, ...]
    trials: tuple[Trial, ...]
    models: dict[str, TrainedModel]
    last_rows: Table  # the rows of the last split, as its models saw them
    notes: tuple[str, ...]  # on splits that are left out
    left_out: tuple[str, ...] = ()  # notes on models that are
    by_count: bool = False  # wanted rows alone were asked for, whatever they are worth

    @property
    def by_impact(self) -> bool:
        """Whether rankings are judged by the impact that they find."""
        return self.facts.impact is not None and not self.by_count

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
    """What takes part: models by name, rules, and chance."""

    models: dict[str, Model]
    rules: tuple[Rule, ...]
    options: RankerOptions

    @classmethod
    def of(cls, models: Sequence[Any], baselines: Sequence[str], options: RankerOptions) -> Rankings:
        """Checked before any work is done."""
        entries = [model_of(asked) for asked in models]
        for name, model in entries:
            check_weighs(name, model, options)
        check_budget(options.budget)
        return cls(_by_name(entries), tuple(map(Rule.parse, baselines)), options)


def _by_name(entries: Sequence[tuple[str, Model]]) -> dict[str, Model]:
    """Entries by name; of estimators of one class, all but the first are numbered."""
    named: dict[str, Model] = {}
    for name, entry in entries:
        if name in named and named[name] is not entry:
            name = f"{name} {sum(other.partition(' ')[0] == name for other in named) + 1}"  # noqa: PLW2901
        named[name] = entry
    return named


def run_trials(
    table: Table, splits: Sequence[Split], rankings: Rankings, *, on_progress: Progress | None = None
) -> Trials:
    """Let every ranking score every split.

    Categories, gaps and quantiles are learned anew from the training rows of each split, so nothing of the
    rows to be ranked is known. Splits that no model can learn for are left out, and so are models that some split
    gives nothing to learn from (impacts that are all 0) where it does others, each with a note.
    """
    rules = {rule.name: rule.score(table.frame) for rule in rankings.rules}
    trials: list[Trial] = []
    used: list[Split] = []
    notes: list[str] = []
    unable: dict[str, str] = {}
    models: dict[str, TrainedModel] = {}
    rows = table
    for done, split in enumerate(splits):
        if on_progress is not None:
            on_progress(done, len(splits), None)
        if _of_one_kind(table.wanted[split.train], rankings):
            notes.append(f"{split.name} is left out: the rows to learn from are all of one kind.")
            continue
        learned, rows_now, why = _learn(table, split, rankings, unable)
        if not learned:
            notes.append(f"{split.name} is left out: {', and '.join(why.values())}.")
            continue
        models, rows = learned, rows_now
        unable |= {name: f"{name} takes no part: for {split.name} {told}." for name, told in why.items()}
        used.append(split)
        trials += [_trial(split, name, model, rows) for name, model in models.items()]
        trials += [Trial(split, name, score[split.test]) for name, score in rules.items()]
        trials.append(Trial(split, CHANCE, np.zeros(split.test.size)))
    _check_worth_it(table, used, notes)
    return Trials(
        table,
        tuple(used),
        tuple(trial for trial in trials if trial.ranking not in unable),
        models,
        rows,
        tuple(notes),
        left_out=tuple(unable.values()),
        by_count=rankings.options.value_power == 0,
    )


def _trial(split: Split, name: str, model: TrainedModel, rows: Table) -> Trial:
    scored = model.scored(rows)
    known = chances(model.ranker, scored.score) if scored.chance is None else scored.chance
    return Trial(split, name, scored.score, model.training["fit seconds"], scored.chance, known)


def _of_one_kind(wanted: NDArray[np.bool_], rankings: Rankings) -> bool:
    """Whether rows teach nothing for being alike; where all are wanted, impacts still differ."""
    if not wanted.any():
        return True
    return bool(wanted.all()) and any(model.learns_from == "label" for model in rankings.models.values())


def _check_worth_it(table: Table, used: Sequence[Split], notes: Sequence[str]) -> None:
    """Refuse splits of which none can be learned for, or in which nothing can be found."""
    in_time = table.time is not None
    if not used and not notes[-1].endswith("of one kind."):
        raise NoWantedRowsError(
            f"{notes[-1]} So it is for all others; name a model that learns from the label."
        )
    if not used:
        raise NoWantedRowsError(
            "no period has wanted rows and others before it to learn from. Choose longer periods (--every), or "
            "leave out --time for cross-validation."
            if in_time
            else "no fold has wanted rows and others beside it to learn from. Add labelled rows."
        )
    if not any(table.wanted[split.test].any() for split in used):
        instead = "Leave out --time for cross-validation, or add" if in_time else "Add"
        raise NoWantedRowsError(
            f"no row of the {'periods' if in_time else 'folds'} that can be ranked is wanted, so nothing can be found "
            f"in them. {instead} labelled rows."
        )


def _learn(
    table: Table, split: Split, rankings: Rankings, unable: Container[str]
) -> tuple[dict[str, TrainedModel], Table, dict[str, str]]:
    """The models that can learn from a split, the rows to rank, and of each of the others why not; but the unable."""
    past = table.take(split.train).learned_again()
    profile = Profile.of(past.X, past.schema)
    models, why = dict[str, TrainedModel](), dict[str, str]()
    for name, entry in rankings.models.items():
        if name in unable:
            continue
        try:
            models[name] = train_on(past, name, rankings.options, entry=entry, profile=profile)
        except (NoWantedRowsError, NoUnwantedRowsError) as error:
            reason = str(error).partition(". ")[0].rstrip(".")
            why[name] = f"{name} has nothing to learn from ({reason})"
    return models, table.take(split.test).under(past.schema), why
