"""Learn from labelled history and rank new rows, in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shortlist.workflow.shortlist import Shortlist
from shortlist.workflow.train import Progress, train


def rank(
    history: Any,
    new: Any,
    *,
    label: str | None = None,
    impact: str | None = None,
    impact_known: bool = False,
    list: str | None = None,
    id: str | None = None,
    ignore: Sequence[str] = (),
    wanted: Any = None,
    budget: int = 50,
    model: str | None = None,
    tune: bool = False,
    keep_all: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: Progress | None = None,
) -> Shortlist:
    """Train a ranker on labelled history and rank the new rows: ``train`` and ``score`` in one.

    Parameters
    ----------
    history, new : files, folders, globs or data frames with the same columns; ``new`` needs no outcome
    keep_all : keep every new row in ranked order, not only the top
    others : as in :func:`shortlist.train`

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> old, new = make_claims(2_000, random_state=0), make_claims(500, random_state=1).drop("fraud")
    >>> top = rank(old, new, label="fraud", id="claim_id", budget=5, model="logistic")
    >>> top.frame["claim_id"].len()
    5
    """
    trained = train(
        history,
        label=label,
        impact=impact,
        impact_known=impact_known,
        list=list,
        id=id,
        ignore=ignore,
        wanted=wanted,
        budget=budget,
        model=model,
        tune=tune,
        random_state=random_state,
        n_jobs=n_jobs,
        on_progress=on_progress,
    )
    top = trained.score(new, keep_all=keep_all)
    return replace(top, notes=(*trained.notes, *top.notes))
