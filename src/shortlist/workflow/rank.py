"""Learn from labelled history and rank new rows, in one go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shortlist.models.shortlist import Shortlist
from shortlist.models.training import Progress
from shortlist.tables import load_table, read_table
from shortlist.validation import check_budget
from shortlist.workflow.train import prepare


def rank(
    history: Any,
    new: Any,
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
    budget: int | None = None,
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
    budget : how many rows to keep (per list); None: 50, or all where there are fewer
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
    # Training may take hours: the new rows are read first, and checked against the history before it starts.
    fresh = read_table(new)
    if budget is not None:
        check_budget(budget, fresh.height if list is None and not keep_all else None)
    lesson = prepare(
        history,
        label=label,
        impact=impact,
        impact_known=impact_known,
        list=list,
        id=id,
        time=time,
        ignore=ignore,
        wanted=wanted,
        skip_empty_labels=skip_empty_labels,
        budget=budget or 50,
        model=model,
        tune=tune,
        random_state=random_state,
        n_jobs=n_jobs,
        on_progress=on_progress,
    )
    known = lesson.table
    rows = load_table(fresh, known.roles, schema=known.schema, labelled=False)
    top = lesson.learn().score_table(rows, lesson.wish.budget, keep_all=keep_all)
    return replace(top, notes=(*known.notes, *top.notes))
