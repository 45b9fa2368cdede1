"""Learn from labelled history and rank new rows, in one go."""

from __future__ import annotations

from dataclasses import replace

from shortlist.models.shortlist import Shortlist
from shortlist.models.training import train_on
from shortlist.question import RankQuestion
from shortlist.question.answer import answers
from shortlist.question.options import USUAL_BUDGET
from shortlist.tables import load_table, read_table
from shortlist.validation import check_budget
from shortlist.workflow.train import choose_ranker


@answers(RankQuestion)
def rank(question: RankQuestion) -> Shortlist:
    """Train a ranker on labelled history and rank the new rows: ``train`` and ``score`` in one.

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> old, new = make_claims(2_000, random_state=0), make_claims(500, random_state=1).drop("fraud")
    >>> top = rank(old, new, label="fraud", id="claim_id", budget=5, model="logistic")
    >>> top.frame["claim_id"].len()
    5
    """
    # Training may take hours: the new rows are read first, and checked against the history before it starts.
    fresh = read_table(question.new)
    if question.budget is not None:
        whole = question.list is None and not question.keep_all
        check_budget(question.budget, fresh.height if whole else None)
    budget = question.budget or USUAL_BUDGET
    name, options = choose_ranker(question, budget)
    known = question.read_history()
    rows = load_table(fresh, known.roles, schema=known.schema, labelled=False)
    model = train_on(known, name, options, on_progress=question.on_progress)
    top = model.score_table(rows, budget, keep_all=question.keep_all)
    return replace(top, notes=(*known.notes, *top.notes))
