"""Learn from labelled history."""

from __future__ import annotations

from shortlist.exceptions import InvalidInputError
from shortlist.models.trained import TrainedModel
from shortlist.models.training import train_on
from shortlist.question import RankQuestion, TrainQuestion
from shortlist.question.answer import answers
from shortlist.rankers.catalogue import RankerOptions, default_model, find_model
from shortlist.tables import Roles
from shortlist.validation import check_budget


@answers(TrainQuestion)
def train(question: TrainQuestion) -> TrainedModel:
    """Train a ranker on labelled history.

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> model = train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
    >>> model.training["wanted"]
    60
    """
    name, options = choose_ranker(question, question.budget)
    return train_on(question.read_history(), name, options, on_progress=question.on_progress)


def choose_ranker(question: TrainQuestion | RankQuestion, budget: int) -> tuple[str, RankerOptions]:
    """The model's name and what shapes it; what cannot be is told before the history is read."""
    name = question.model or model_for(question.roles)
    if not find_model(name).tunes and question.tune:
        raise InvalidInputError(f"model {name!r} has nothing to tune; leave tune out, or use ap-boost.")
    check_budget(budget)
    return name, RankerOptions(budget, question.random_state, question.n_jobs, question.tune)


def model_for(roles: Roles) -> str:
    """The catalogue's default for labels, or for impacts where there is no label."""
    if roles.label is None and roles.impact is None:
        raise InvalidInputError("name the column that says which rows matter: label=... or impact=...")
    return default_model("impact" if roles.label is None else "label", lists=roles.list is not None)
