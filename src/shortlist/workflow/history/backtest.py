"""Walk through history as it would have happened: learn from the past, rank the next period, reveal, move on."""

from __future__ import annotations

from typing import Any

import polars as pl

from shortlist.models.abilities import Scored
from shortlist.models.profile import column_shifts
from shortlist.question import StudyQuestion
from shortlist.question.answer import answers
from shortlist.workflow.history.backtest_result import Backtest
from shortlist.workflow.history.costs import by_budget, paying_budgets
from shortlist.workflow.history.insight.chances import calibration
from shortlist.workflow.history.insight.columns import importance
from shortlist.workflow.history.insight.slices import slices
from shortlist.workflow.history.sentences.conclusions import backtest_answer, which_model
from shortlist.workflow.history.study import hold_study
from shortlist.workflow.history.trials import Trials


@answers(StudyQuestion)
def backtest(question: StudyQuestion) -> Backtest:
    """What models and the present rule would have found within the budget.

    With ``time``, each period is ranked by what the rows before it teach; without, each fold by the others:
    folds of whole lists where there is a list column, else stratified ones.

    The budget holds for each period or fold (per list, where there are lists).

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> claims = make_claims(3_000, random_state=0)
    >>> result = backtest(claims, label="fraud", id="claim_id", time="date", every="quarter", budget=20,
    ...                   models=["logistic"], baselines=["amount desc"])
    >>> result.table["ranking"].to_list()
    ['logistic', 'amount desc', 'at random']
    """
    study = hold_study(question)
    tally, trials = study.tally, study.tally.trials
    table = tally.totals()
    best = next(name for name in table["ranking"] if name in trials.models)
    model, last = trials.models[best], trials.of(best)[-1]
    top = model.score_table(trials.last_rows, tally.budget, scored=Scored(last.score, last.chance))
    pays = paying_budgets(tally)
    return Backtest(
        answer=backtest_answer(tally, table, study.setup, pays),
        table=table,
        periods=tally.periods(),
        curve=tally.curve(),
        reach=tally.reach(),
        worth_reach=None if trials.facts.impact is None else tally.reach(of="impact"),
        budgets=by_budget(tally, question.budgets) if len(question.budgets) > 1 else None,
        pays=pays,
        scores=_scores_by_period(trials, best, tally.budget),
        shifts=column_shifts(top.shifts),
        shortlist=_with_outcomes(top.frame, trials, trials.last_rows.wanted),
        importance=importance(model, trials.last_rows),
        calibration=calibration(trials, table["ranking"].to_list()),
        slices=slices(tally, table["ranking"][0], study.sliced),
        setup=study.setup,
        # Folds by lists differ as lists do; only a later period can drift.
        notes=(
            *study.notes,
            *study.cautions(table),
            *which_model(tally, table),
            *(top.notes if trials.facts.time is not None else ()),
        ),
    )


def _scores_by_period(trials: Trials, ranking: str, budget: int) -> pl.DataFrame:
    rows = []
    for trial in trials.of(ranking):
        score = pl.Series(trial.score).sort(descending=True)
        rows.append(
            {
                "period": trial.split.title,
                "median": score.median(),
                "top tenth": score.quantile(0.9),
                "last within budget": score[min(budget, len(score)) - 1],
                "partial": trial.split.partial,
            }
        )
    return pl.DataFrame(rows)


def _with_outcomes(frame: pl.DataFrame, trials: Trials, wanted: Any) -> pl.DataFrame:
    """The shortlist's own columns, with what is known of its rows, under the name ``was wanted``."""
    key = trials.last_rows.roles.id or "row"
    known = pl.DataFrame({key: pl.Series(trials.last_rows.ids), "was wanted": wanted})
    own = frame[:, : frame.columns.index("model_version")]
    return own.join(known.cast({key: own[key].dtype}), on=key, how="left", maintain_order="left")
