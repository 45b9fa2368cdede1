"""Rank new rows by a model that was trained before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shortlist.models.shortlist import Shortlist
from shortlist.models.trained import TrainedModel


def score(
    model: TrainedModel | str | Path,
    new: Any,
    *,
    budget: int | None = None,
    keep_all: bool = False,
    memory: Any = None,
) -> Shortlist:
    """Rank new rows by a trained model or a model file, and keep the top; see :meth:`TrainedModel.score`.

    >>> from shortlist.datasets import make_claims
    >>> from shortlist.workflow import train
    >>> model = train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", model="logistic")
    >>> score(model, make_claims(500, random_state=1), budget=3).frame["rank"].to_list()
    [1, 2, 3]
    """
    trained = model if isinstance(model, TrainedModel) else TrainedModel.load(model)
    return trained.score(new, budget=budget, keep_all=keep_all, memory=memory)
