"""Learn from labelled history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.exceptions import InvalidInputError
from shortlist.models.trained import TrainedModel
from shortlist.models.training import Progress, train_on
from shortlist.rankers.catalogue import Wish, default_model, find_model
from shortlist.tables import Roles, Table, load_table
from shortlist.validation import check_budget
from shortlist.workflow.signature import asks_like


@dataclass(frozen=True, eq=False)
class Lesson:
    """All that training needs, read and checked."""

    table: Table
    name: str  # in the catalogue
    wish: Wish
    on_progress: Progress | None

    def learn(self) -> TrainedModel:
        """Train the model."""
        return train_on(self.table, self.name, self.wish, on_progress=self.on_progress)


def prepare(
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
    model: str | None = None,
    tune: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Lesson:
    """Read the history and check what is asked for; arguments as in ``train``."""
    roles = Roles(
        id=id, label=label, impact=impact, list=list, time=time, ignore=ignore, impact_known=impact_known
    )
    name = model or model_for(roles)
    tunes = find_model(name).tunes  # an unknown name is told before the history is read
    if tune and not tunes:
        raise InvalidInputError(f"model {name!r} has nothing to tune; leave tune out, or use ap-boost.")
    check_budget(budget)
    wish = Wish(budget, random_state, n_jobs, tune)
    table = load_table(history, roles, wanted=wanted, skip_empty_labels=skip_empty_labels)
    return Lesson(table, name, wish, on_progress)


@asks_like(prepare)
def train(*args: Any, **options: Any) -> TrainedModel:
    """Train a ranker on labelled history.

    Parameters
    ----------
    history : file, folder, glob or data frame
    label : column that says which rows are wanted; ``wanted`` is its value for them if that is not plain
    impact : column that says how much a row matters; rows that are not wanted count 0
    impact_known : the impact is known before the outcome, as the amount of a claim is: learn from it too
    list : column whose values split rows into lists, each with a budget of its own
    id, time : columns that name a row and say when it happened; no features
    ignore : columns to leave out, by name or by patterns such as ``post_*``
    skip_empty_labels : leave out rows whose label is empty, where they would be refused
    budget : how many rows will be looked at (per list)
    model : a name of :data:`shortlist.rankers.catalogue.MODELS`; None: the default for what is given
    tune : try a few settings by cross-validation before training (models that can: ap-boost)
    on_progress : called as ``on_progress(done, total, value)`` while training (models that can: ap-boost)

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> model = train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
    >>> model.training["wanted"]
    60
    """
    return prepare(*args, **options).learn()


def model_for(roles: Roles) -> str:
    """The catalogue's default for labels, or for impacts where there is no label."""
    if roles.label is None and roles.impact is None:
        raise InvalidInputError("name the column that says which rows matter: label=... or impact=...")
    return default_model("impact" if roles.label is None else "label", lists=roles.list is not None)
