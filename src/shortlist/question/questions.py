"""The questions: a field here is an argument of the function in Python and an option of the command."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from shortlist.question import options
from shortlist.tables import Roles, Table, load_table


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """What is asked of a history, whatever is done with it: its columns' parts, which rows count, how to work."""

    history: options.History = field(kw_only=False)
    label: options.Label = None
    wanted: options.Wanted = None
    skip_empty_labels: options.SkipEmptyLabels = False
    impact: options.Impact = None
    impact_known: options.ImpactKnown = False
    list: options.ListColumn = None
    id: options.Id = None
    ignore: options.Ignore = ()
    time: options.Time = None
    random_state: options.Seed = 0
    n_jobs: options.Jobs = None
    on_progress: options.OnProgress = None

    @property
    def roles(self) -> Roles:
        """The parts of the columns."""
        return roles_in(self)

    def read_history(self) -> Table:
        """The rows to learn from, read and checked."""
        return load_table(
            self.history, self.roles, wanted=self.wanted, skip_empty_labels=self.skip_empty_labels
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainQuestion(Question):
    """The model that the history teaches."""

    budget: options.Budget = options.USUAL_BUDGET
    model: options.ModelName = None
    tune: options.Tune = False


@dataclass(frozen=True, eq=False, kw_only=True)
class RankQuestion(Question):
    """Which of the new rows come first, by what the history teaches."""

    new: options.New = field(kw_only=False)
    budget: options.BudgetOrAll = None
    model: options.ModelName = None
    tune: options.Tune = False
    keep_all: options.KeepAll = False


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyQuestion(Question):
    """What rankings would have found in the history."""

    every: options.Every = None
    delay: options.Delay = 0
    n_folds: options.Folds = 5
    budget: options.Budget = options.USUAL_BUDGET
    models: options.Models = None
    baselines: options.Baselines = ()
    baseline_columns: options.BaselineColumns = ()

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
    list: options.ListColumn = None
    id: options.Id = None
    score: options.ScoreColumn = "score"
    against: options.Against = ()
    outcomes: options.Outcomes = None
    budget: options.Budget = options.USUAL_BUDGET

    @property
    def roles(self) -> Roles:
        """The parts of the columns."""
        return roles_in(self)


def roles_in(question: object) -> Roles:
    """The roles that a question has options for; a role is an option of the same name."""
    known = (role.name for role in fields(Roles))
    return Roles(**{name: getattr(question, name) for name in known if hasattr(question, name)})
