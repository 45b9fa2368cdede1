"""What a backtest found: its figures, and which charts and tables its page has, in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shortlist.report import Chart, Line, Page, Sheet
from shortlist.workflow.history.insight.chances import calibration_chart
from shortlist.workflow.history.insight.columns import importance_chart
from shortlist.workflow.history.result import (
    SHARES,
    Result,
    budget_sheet,
    in_words,
    lines_of,
    paying_sheet,
    precision_by_rank,
    recall_by_budget,
    slice_sheets,
    worth_by_budget,
)
from shortlist.workflow.history.sentences.words import Words, each_part, part_of


@dataclass(frozen=True, eq=False, repr=False)
class Backtest(Result):
    """What would have been found within the budget, by each ranking.

    table : one row per ranking: found, precision, recall and impact in all, with 95 % intervals
    periods : the same for each period (or fold)
    curve : the same for every budget
    reach : the budget that each ranking needs to find half, 80 % and 90 % of what is wanted
    worth_reach : the same for shares of the impact
    budgets : what each of several budgets finds, with intervals
    pays : up to which budget the reviews of each ranking pay for themselves
    scores : of the best model in each period: median, top tenth, last row within the budget, and if it is partial
    shifts : how much each column of the last period differs from the rows before it (stability index)
    shortlist : the last period's shortlist by the best model, with reasons and outcomes
    importance : how much each column moves the scores of the best model
    calibration : what the best model expected of rows in groups of like chances, and what was found
    slices : precision and recall for each group of rows, by the columns that were asked for
    """

    answer: str
    table: pl.DataFrame
    periods: pl.DataFrame
    curve: pl.DataFrame
    reach: pl.DataFrame
    worth_reach: pl.DataFrame | None  # of the impact, where it is known
    budgets: pl.DataFrame | None  # where several budgets were asked for
    pays: pl.DataFrame | None  # where reviews have a cost
    scores: pl.DataFrame
    shifts: pl.DataFrame
    shortlist: pl.DataFrame
    importance: pl.DataFrame
    calibration: pl.DataFrame
    slices: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def shown(self) -> pl.DataFrame:
        """What a terminal shows below the answer: all budgets, where there are several."""
        return self.table if self.budgets is None else self.budgets

    def page(self) -> Page:
        """The report as a page of text, charts and tables."""
        return _page(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw recall against budget with matplotlib; gives the axes."""
        return self._plot_lines(self.curve, "budget", "recall", ax)


def _page(result: Backtest) -> Page:
    """The answer, then what was found where, then the last shortlist and the setup."""
    unit, words = part_of(result.setup), Words.of(result.setup)
    model = next(name for name in result.table["ranking"] if name in result.setup["models"])
    return Page(
        title="Backtest: what would have been found",
        answer=result.answer,
        notes=result.notes,
        charts=[
            _side_by_side(result.table, words),
            recall_by_budget(result.curve, result.setup["budget"], words),
            *worth_by_budget(result.curve, result.setup["budget"], words),
            precision_by_rank(result.curve, result.setup["budget"], words),
            *_found_over_time(result.periods, unit, words),
            *importance_chart(result.importance, model),
            *calibration_chart(result.calibration, words),
            *(_drift(result) if unit == "period" else ()),
        ],
        sheets=[
            in_words("In all", result.table, words),
            *budget_sheet(result.budgets, result.setup, words),
            *paying_sheet(result.pays, result.setup, words),
            Sheet(
                f"Budget to reach a share of the {words.many}",
                result.reach,
                says=f"Rows to look at in {each_part(result.setup)} to find that share of the {words.many}.",
            ),
            *_worth_reach(result, words),
            Sheet(
                f"The shortlist of the last {unit}",
                words.named(_named(result)),
                SHARES,
                says=f"By {model}, with the strongest reasons first and what is known of each row today.",
                fold=10,
            ),
            *slice_sheets(result.slices, result.table["ranking"][0], words),
            replace(in_words(f"By {unit}", result.periods, words), fold=20),
        ],
        setup=result.setup,
    )


def _worth_reach(result: Backtest, words: Words) -> list[Sheet]:
    if result.worth_reach is None:
        return []
    says = f"Rows to look at in {each_part(result.setup)} to find that share of the {words.whole_worth}."
    return [Sheet(f"Budget to reach a share of the {words.worth}", result.worth_reach, says=says)]


def _named(result: Backtest) -> pl.DataFrame:
    """The shortlist with ids and lists as text: numbers there are names, without commas."""
    names = [result.setup[role] for role in ("id", "list") if role in result.setup]
    return result.shortlist.with_columns(pl.col(names).cast(pl.String))


def _side_by_side(table: pl.DataFrame, words: Words) -> Chart:
    """Bars of the share found, with intervals."""
    what = "impact share" if "impact share" in table.columns else "recall"
    label = f"share of {words.many if what == 'recall' else words.worth} found"
    of = "" if what == "recall" else f" of the {words.whole_worth}"
    line = Line(label, *(table[name].to_list() for name in (what, f"{what} low", f"{what} high")))
    return Chart(
        "Side by side",
        table["ranking"].to_list(),
        [line],
        x_label="ranking",
        y_label=label,
        kind="bars",
        percent=True,
        says=f"What the budget finds{of}; whiskers are 95 % intervals.",
    )


def _found_over_time(periods: pl.DataFrame, unit: str, words: Words) -> list[Chart]:
    """What was found, added up: wanted rows, and what they are worth where that is known."""
    titles = {"impact found": words.worth_found, "found": f"{words.many} found"}
    return [
        Chart(
            f"{title[0].upper()}{title[1:]} over time",
            *lines_of(periods.with_columns(pl.col(what).cum_sum().over("ranking")), what, x="period"),
            x_label=unit,
            y_label=f"{title}, added up",
            says="Added up over time, within the budget.",
        )
        for what, title in titles.items()
        if what in periods.columns
    ]


def _drift(result: Backtest) -> list[Chart]:
    return [*_score_drift(result.scores), *_column_drift(result.shifts)]


def _score_drift(scores: pl.DataFrame) -> list[Chart]:
    if scores.height < 2:
        return []
    says = "The best model's scores of rows it had not seen, period by period; a jump: new rows are unlike old ones."
    if scores["partial"].any():
        # Of fewer rows the last within the budget scores less, however alike they are: that is no drift.
        scores = scores.with_columns(pl.when(~pl.col("partial")).then("last within budget"))
        says += " A partial period has no last row within the budget here: fewer rows compete for it."
    lines = [Line(name, scores[name].to_list()) for name in ("median", "top tenth", "last within budget")]
    return [
        Chart("Score drift", scores["period"].to_list(), lines, x_label="period", y_label="score", says=says)
    ]


def _column_drift(shifts: pl.DataFrame) -> list[Chart]:
    top = shifts.head(12)
    if top.is_empty():
        return []
    line = Line("stability index", top["stability index"].to_list())
    says = (
        "How much the columns of the last period differ from the rows before; above 0.25 is a marked shift."
    )
    return [
        Chart(
            "Column drift",
            top["column"].to_list(),
            [line],
            x_label="column",
            y_label="stability index",
            kind="bars",
            says=says,
        )
    ]
