"""The questions: a field here is an argument of the function in Python and an option of the command."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

from shortlist.exceptions import InvalidInputError
from shortlist.question import options
from shortlist.tables import Roles, Table, load_table
from shortlist.tables.guard.notes import guard_notes
from shortlist.tables.memory import Plan, plan_for


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """What is asked of a history, whatever is done with it: its columns' parts, which rows count, how to work."""

    #: What is done with the history, as ``plan_for`` calls it.
    work: ClassVar[str] = "train"

    history: options.History = field(kw_only=False)
    label: options.Label = None
    wanted: options.Wanted = None
    skip_empty_labels: options.SkipEmptyLabels = False
    impact: options.Impact = None
    impact_known: options.ImpactKnown = False
    value: options.Value = None
    value_power: options.ValuePower = 1.0
    least_chance: options.LeastChance = 0.0
    list: options.ListColumn = None
    id: options.Id = None
    ignore: options.Ignore = ()
    category: options.Category = ()
    missing: options.Missing = ()
    ignore_text: options.IgnoreText = False
    time: options.Time = None
    random_state: options.Seed = 0
    n_jobs: options.Jobs = None
    memory: options.Memory = None
    on_progress: options.OnProgress = None

    @property
    def roles(self) -> Roles:
        """The parts of the columns."""
        return roles_in(self)

    def read_history(self, *, by_parts: bool = False, plan: Plan | None = None) -> Table:
        """The rows to learn from, read and checked, with notes on what makes them too good to be true.

        Raises TooLargeError before they are read where they do not fit into memory.

        by_parts : parts of them will learn for themselves, each without a look at the others
        plan : what was decided already, that they fit
        """
        plan = plan or plan_for(self.work, self.history, self.memory, only_whole="")
        table = load_table(
            self.history,
            self.roles,
            wanted=self.wanted,
            skip_empty_labels=self.skip_empty_labels,
            by_parts=by_parts,
        )
        return replace(table, notes=(*table.notes, *guard_notes(table), *plan.notes))


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainQuestion(Question):
    """The model that the history teaches."""

    dask: options.Dask = None
    spark: options.Spark = None
    checked: options.Checked = None
    budget: options.Budget = options.USUAL_BUDGET
    model: options.ModelName = None
    tune: options.Tune = False


@dataclass(frozen=True, eq=False, kw_only=True)
class RankQuestion(Question):
    """Which of the new rows come first, by what the history teaches."""

    new: options.New = field(kw_only=False)
    checked: options.Checked = None
    budget: options.BudgetOrAll = None
    model: options.ModelName = None
    tune: options.Tune = False
    keep_all: options.KeepAll = False


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyQuestion(Question):
    """What rankings would have found in the history."""

    work: ClassVar[str] = "backtest"

    every: options.Every = None
    delay: options.Delay = 0
    n_folds: options.Folds = 5
    budget: options.Budgets = options.USUAL_BUDGET
    review_cost: options.ReviewCost = None
    words: options.Words = None
    currency: options.Currency = None
    models: options.Models = None
    baselines: options.Baselines = ()
    baseline_columns: options.BaselineColumns = ()
    slices: options.Slices = ()

    @property
    def budgets(self) -> tuple[int, ...]:
        """All budgets that were asked for; rankings are judged by the first."""
        return (self.budget,) if isinstance(self.budget, int) else tuple(self.budget)

    @property
    def roles(self) -> Roles:
        """The parts of the columns; present scores are no features, as a model is to do better than them."""
        roles = super().roles
        return replace(roles, ignore=(*roles.ignore, *self.baseline_columns))


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluateQuestion:
    """How good a ranking was, now that outcomes are known."""

    scored: options.Scored = field(kw_only=False)
    label: options.Label = None
    wanted: options.Wanted = None
    skip_empty_labels: options.SkipEmptyLabels = False
    impact: options.Impact = None
    value: options.ValueFound = None
    list: options.ListColumn = None
    id: options.Id = None
    missing: options.Missing = ()
    score: options.ScoreColumn = "score"
    against: options.Against = ()
    outcomes: options.Outcomes = None
    budget: options.Budget = options.USUAL_BUDGET
    memory: options.Memory = None

    @property
    def roles(self) -> Roles:
        """The parts of the columns."""
        return roles_in(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class MonitorQuestion:
    """How shortlists did that were really written, now that outcomes have come back."""

    shortlists: options.Shortlists = field(kw_only=False)
    outcomes: options.ReturnedOutcomes = None
    label: options.Label = None
    wanted: options.Wanted = None
    impact: options.Impact = None
    value: options.ValueFound = None
    id: options.Id = None
    missing: options.Missing = ()
    time: options.DayColumn = None
    every: options.PeriodLength = None
    checked: options.Checked = None
    complete: options.Complete = False
    promise: options.Promise = None
    challenger: options.Challenger = None

    @property
    def worth(self) -> str | None:
        """The column that says what rows are worth."""
        return self.impact or self.value

    @property
    def worth_role(self) -> str:
        """What its user called that column."""
        return "value" if self.impact is None else "impact"


def roles_in(question: object) -> Roles:
    """The roles that a question has options for; a role is an option of the same name.

    A value is an impact that is known beforehand.
    """
    known = (role.name for role in fields(Roles))
    given = {name: getattr(question, name) for name in known if hasattr(question, name)}
    value = getattr(question, "value", None)
    if value is None:
        return Roles(**given)
    if given["label"] is None:
        raise InvalidInputError(
            "value says what a row is worth if it is wanted; name the column that says which were: --label COLUMN"
        )
    if given["impact"] not in (None, value):
        raise InvalidInputError(
            f"impact is {given['impact']!r} and value {value!r}; give one of them: --value where it is known "
            "beforehand, --impact where it is known only afterwards."
        )
    return Roles(**{**given, "impact": value, "impact_known": True})
