"""Models side by side on the same folds: which one to use, and whether it matters."""

from __future__ import annotations

import numpy as np
import polars as pl

from shortlist.exceptions import InvalidInputError
from shortlist.question import StudyQuestion
from shortlist.question.answer import answers
from shortlist.workflow.history.compare_result import Comparison
from shortlist.workflow.history.conclusions import conclusion
from shortlist.workflow.history.intervals import paired_difference
from shortlist.workflow.history.measures import RANKED_BY, measures
from shortlist.workflow.history.study import hold_study
from shortlist.workflow.history.trials import CHANCE, Trials


@answers(StudyQuestion)
def compare(question: StudyQuestion) -> Comparison:
    """Measure models on the same folds and say which to use.

    The budget holds for each fold or period (per list, where there are lists). The goal is precision within the
    budget, or the share of the impact where there is one.

    Examples
    --------
    >>> from shortlist.datasets import make_claims
    >>> result = compare(make_claims(1_500, random_state=0), label="fraud", id="claim_id", budget=20,
    ...                  models=["logistic"], baselines=["amount desc"], n_folds=3)
    >>> result.pick, result.folds.height
    ('logistic', 9)
    """
    study = hold_study(question)
    tally, trials = study.tally, study.tally.trials
    folds, skipped = _measured(trials, tally.budget)
    goal = "impact share" if trials.facts.impact is not None else "precision"
    table = _means(folds, goal)
    pick = next(name for name in table["ranking"] if name in trials.models)
    differences = _differences(folds, table, pick, goal, _overlap(trials))
    return Comparison(
        answer=conclusion(table, differences, pick, goal, models=[*trials.models]),
        pick=pick,
        goal=goal,
        table=table,
        folds=folds,
        differences=differences,
        curve=tally.curve(),
        setup=study.setup,
        notes=(*study.notes, *skipped),
    )


def _measured(trials: Trials, budget: int) -> tuple[pl.DataFrame, list[str]]:
    """Every measure on every fold that has something to find."""
    rows, skipped = [], []
    for trial in trials.trials:
        facts = trials.tested(trial.split)
        if facts.wanted.any():
            row = {"fold": trial.split.name, "ranking": trial.ranking, **measures(facts, trial.score, budget)}
            rows.append({**row, "fit seconds": trial.fit_seconds})
        elif trial.ranking == CHANCE:
            skipped.append(f"{trial.split.name} is not measured: none of its rows is wanted.")
    if not rows:
        raise InvalidInputError("no fold has a wanted row to find; use fewer folds or longer periods.")
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None), skipped


def _means(folds: pl.DataFrame, goal: str) -> pl.DataFrame:
    """Means over folds and the mean rank, best first by the goal; average precision decides between equals."""
    names = [name for name in RANKED_BY if name in folds.columns]
    ranks = folds.with_columns(pl.col(names).rank("average", descending=True).over("fold"))
    mean_rank = ranks.group_by("ranking", maintain_order=True).agg(
        pl.mean_horizontal(pl.col(names).mean()).alias("mean rank")
    )
    means = folds.drop("fold").group_by("ranking", maintain_order=True).mean()
    joined = means.join(mean_rank, on="ranking", maintain_order="left")
    order = [name for name in (goal, "average precision") if name in joined.columns]
    return joined.sort(order, descending=True, nulls_last=True, maintain_order=True)


def _overlap(trials: Trials) -> float:
    """Test rows over training rows where folds share their training rows; 0 walking forward."""
    if trials.facts.time is not None:
        return 0.0
    return float(np.mean([split.test.size / split.train.size for split in trials.splits]))


def _differences(
    folds: pl.DataFrame, table: pl.DataFrame, pick: str, goal: str, overlap: float
) -> pl.DataFrame:
    values = {name: folds.filter(pl.col("ranking") == name)[goal].to_list() for name in table["ranking"]}
    rows = []
    for other in (name for name in table["ranking"] if name != pick):
        middle, low, high = paired_difference(
            *(
                pl.Series(values[name], dtype=pl.Float64).fill_null(np.nan).to_list()
                for name in (pick, other)
            ),
            overlap=overlap,
        )
        sign = "better" if low > 0 else "worse" if high < 0 else "noise"
        rows.append(
            {"pick": pick, "other": other, "difference": middle, "low": low, "high": high, "says": sign}
        )
    return pl.DataFrame(rows, infer_schema_length=None)
