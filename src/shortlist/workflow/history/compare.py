"""Models side by side on the same folds: which one to use, and whether it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.question import StudyQuestion
from shortlist.question.answer import answers
from shortlist.workflow.history.compare_result import Comparison
from shortlist.workflow.history.costs import paying_budgets, with_net_values
from shortlist.workflow.history.insight.chances import calibration
from shortlist.workflow.history.insight.columns import importance
from shortlist.workflow.history.insight.slices import slices
from shortlist.workflow.history.intervals import paired_difference
from shortlist.workflow.history.measures import RANKED_BY, measures
from shortlist.workflow.history.sentences.conclusions import conclusion, per, profit
from shortlist.workflow.history.sentences.words import Words, part_of
from shortlist.workflow.history.study import Study, hold_study
from shortlist.workflow.history.trials import CHANCE, Trials

#: What a table of rankings has in addition where reviews have a cost.
_NET = ("net value", "net value low", "net value high")


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
    within = {budget: _compared(study, budget) for budget in dict.fromkeys(question.budgets)}
    first = within[tally.budget]
    table, pick, pays = first.table, first.pick, paying_budgets(tally)
    return Comparison(
        answer=_answer(within, pays, study.setup),
        pick=pick,
        goal=first.goal,
        table=table,
        folds=first.folds,
        differences=first.differences,
        budgets=_by_budget(within) if len(within) > 1 else None,
        pays=pays,
        curve=tally.curve(),
        importance=importance(trials.models[pick], trials.last_rows),
        calibration=calibration(trials, table["ranking"].to_list()),
        slices=slices(tally, pick, study.sliced),
        setup=study.setup,
        notes=(*study.notes, *study.cautions(tally.totals()), *first.skipped),
    )


@dataclass(frozen=True, eq=False)
class _Compared:
    """What one budget says of the rankings."""

    goal: str
    pick: str
    table: pl.DataFrame
    folds: pl.DataFrame
    differences: pl.DataFrame
    skipped: list[str]
    says: str


def _compared(study: Study, budget: int) -> _Compared:
    trials = study.tally.trials
    folds, skipped = _measured(trials, budget)
    goal = "impact share" if trials.by_impact else "precision"
    table = with_net_values(_means(folds, goal), study.tally, budget)
    pick = next(name for name in table["ranking"] if name in trials.models)
    differences = _differences(folds, table, pick, goal, _overlap(trials))
    says = conclusion(
        table,
        differences,
        pick,
        goal,
        models=[*trials.models],
        parts=f"{part_of(study.setup)}s",
        worth=Words.of(study.setup).whole_worth,
    )
    return _Compared(goal, pick, table, folds, differences, skipped, says)


def _answer(within: dict[int, _Compared], pays: pl.DataFrame | None, setup: dict[str, Any]) -> str:
    """The conclusion; of several budgets, that of each, the one that rankings were trained for first; what it costs."""
    several = len(within) > 1
    says = [
        f"Within {counted(budget, 'row')}: {each.says}" if several else each.says
        for budget, each in within.items()
    ]
    if pays is not None:
        says.append(_profit(within[setup["budget"]], pays, setup))
    return " ".join(says)


def _profit(first: _Compared, pays: pl.DataFrame, setup: dict[str, Any]) -> str:
    """What is left of what the pick finds within the first budget, and up to which budget its reviews pay."""
    found = first.table.row(by_predicate=pl.col("ranking") == first.pick, named=True)
    which = f", looking at {counted(setup['budget'], 'row')} {per(setup)}, ranked by {first.pick}, brings"
    return profit(which, found, pays, setup)


def _by_budget(within: dict[int, _Compared]) -> pl.DataFrame:
    """What each ranking finds within each budget, from small to large, and how it stands to the pick there."""
    parts = []
    for budget, each in sorted(within.items()):
        shown = ("found", "precision", "recall", "impact found", "impact share", *_NET)
        said = each.differences.select(pl.col("other").alias("ranking"), pl.col("says").alias("the pick is"))
        part = each.table.select("ranking", pl.selectors.by_name(*shown, require_all=False))
        part = part.join(said, on="ranking", how="left", maintain_order="left")
        parts.append(part.select(pl.lit(budget).alias("budget"), pl.all()))
    return pl.concat(parts)


def _measured(trials: Trials, budget: int) -> tuple[pl.DataFrame, list[str]]:
    """Every measure on every fold that has something to find."""
    rows, skipped = [], []
    for trial in trials.trials:
        facts = trials.tested(trial.split)
        if facts.wanted.any():
            row = {
                "fold": trial.split.title,
                "ranking": trial.ranking,
                **measures(facts, trial.score, budget),
            }
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
    # What is found adds up over folds, as in a backtest; shares and measures of order are means.
    sums = [name for name in ("found", "impact found") if name in folds.columns]
    means = (
        folds.group_by("ranking", maintain_order=True)
        .agg(pl.col(sums).sum(), pl.exclude("fold", "ranking", *sums).mean())
        .select(pl.selectors.by_name(*(name for name in folds.columns if name != "fold")))
    )
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
