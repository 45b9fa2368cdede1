"""Learn from labelled history and rank new rows, in one go."""

from __future__ import annotations

from dataclasses import replace

from shortlist.models.shortlist import Shortlist, quiet_notes
from shortlist.models.trained import ALL_AT_ONCE
from shortlist.question import RankQuestion
from shortlist.question.answer import answers
from shortlist.question.options import USUAL_BUDGET
from shortlist.rankers.catalogue import RankerOptions
from shortlist.tables import load_table, read_table
from shortlist.tables.guard.notes import known_notes
from shortlist.tables.io.frames import index_of
from shortlist.tables.memory import Plan, plan_for
from shortlist.validation import check_budget
from shortlist.workflow.train import plan_training, ranker_options, train_best, train_planned


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
    budget = USUAL_BUDGET if question.budget is None else check_budget(question.budget)
    options = ranker_options(question, budget)
    only_whole = ALL_AT_ONCE if question.keep_all else None
    plan = plan_for("score", question.new, question.memory, only_whole=only_whole)
    training = plan_training(question, options)
    if plan.by_batch or training.by_batch:
        return _rank_batches(question, options, training)
    # Training may take hours: the new rows are read first, and checked against the history before it starts.
    fresh = read_table(question.new, may_be_empty=True)
    known = question.read_history(plan=training)
    rows = load_table(fresh, known.roles, schema=known.schema, labelled=False)
    model = train_best(question, known, options)
    top = model.score_table(rows, budget, keep_all=question.keep_all)
    quiet = quiet_notes(rows, question.budget)
    notes = (*model.notes, *known_notes(rows, known), *top.notes, *quiet, *plan.notes)
    return replace(top, notes=notes, index=index_of(question.new))


def _rank_batches(question: RankQuestion, options: RankerOptions, training: Plan) -> Shortlist:
    """The same where rows do not fit into memory: the new ones are looked at when the model is there."""
    model = train_planned(question, options, training)
    how = {"keep_all": question.keep_all, "memory": question.memory, "on_progress": question.on_progress}
    top = model.score(question.new, budget=question.budget, **how)
    return replace(top, notes=(*model.notes, *top.notes))
