"""What a backtest found: its figures, and which charts and tables its page has, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from shortlist.report import Chart, Line, Page, Sheet
from shortlist.workflow.history.result import Result, lines_of, precision_by_rank, recall_by_budget

_SHARES = ("precision", "recall", "impact share", "expected_precision")


@dataclass(frozen=True, eq=False, repr=False)
class Backtest(Result):
    """What would have been found within the budget, by each ranking.

    table : one row per ranking: found, precision, recall and impact in all, with 95 % intervals
    periods : the same for each period (or fold)
    curve : the same for every budget
    reach : the budget that each ranking needs to find half, 80 % and 90 % of what is wanted
    scores : how the best model's scores lie in each period: median, top tenth and the last row within the budget
    shifts : how much each column of the last period differs from the rows before it (stability index)
    shortlist : the last period's shortlist by the best model, with reasons and outcomes
    """

    answer: str
    table: pl.DataFrame
    periods: pl.DataFrame
    curve: pl.DataFrame
    reach: pl.DataFrame
    scores: pl.DataFrame
    shifts: pl.DataFrame
    shortlist: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    def page(self) -> Page:
        """The report as a page of text, charts and tables."""
        return _page(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw recall against budget with matplotlib; gives the axes."""
        return self._plot_lines(self.curve, "budget", "recall", ax)


def _page(result: Backtest) -> Page:
    """The answer, then what was found where, then the last shortlist and the setup."""
    unit = "period" if "time" in result.setup else "fold"
    return Page(
        title="Backtest: what would have been found",
        answer=result.answer,
        notes=result.notes,
        charts=[
            _side_by_side(result.table),
            recall_by_budget(result.curve, result.setup["budget"]),
            precision_by_rank(result.curve, result.setup["budget"]),
            _found_over_time(result.periods, unit),
            *(_drift(result) if unit == "period" else ()),
        ],
        sheets=[
            Sheet("In all", *_with_intervals(result.table), says="Intervals cover 95 %."),
            Sheet(
                "Budget to reach",
                result.reach,
                says=f"Rows to look at in each {unit} (per list) to find that share.",
            ),
            Sheet(
                f"The shortlist of the last {unit}",
                _named(result),
                _SHARES,
                says="By the best model, with the strongest reasons first and what is known of each row today.",
            ),
            Sheet(f"By {unit}", result.periods, _SHARES),
        ],
        setup=result.setup,
    )


def _named(result: Backtest) -> pl.DataFrame:
    """The shortlist with ids and lists as text: numbers there are names, without commas."""
    names = [result.setup[role] for role in ("id", "list") if role in result.setup]
    return result.shortlist.with_columns(pl.col(names).cast(pl.String))


def _side_by_side(table: pl.DataFrame) -> Chart:
    """Bars of the share found, with intervals."""
    what = "impact share" if "impact share" in table.columns else "recall"
    words = {"recall": "share of wanted rows found", "impact share": "share of impact found"}
    line = Line(words[what], *(table[name].to_list() for name in (what, f"{what} low", f"{what} high")))
    return Chart(
        "Side by side",
        table["ranking"].to_list(),
        [line],
        x_label="ranking",
        y_label=words[what],
        kind="bars",
        percent=True,
        says="What the budget finds; whiskers are 95 % intervals.",
    )


def _found_over_time(periods: pl.DataFrame, unit: str) -> Chart:
    what = "impact found" if "impact found" in periods.columns else "found"
    added = periods.with_columns(pl.col(what).cum_sum().over("ranking"))
    words = {"found": "wanted rows found", "impact found": "impact found"}
    return Chart(
        "Money found" if what == "impact found" else "Found over time",
        *lines_of(added, what, x="period"),
        x_label=unit,
        y_label=f"{words[what]}, added up",
        says="Added up over time, within the budget.",
    )


def _drift(result: Backtest) -> list[Chart]:
    return [*_score_drift(result.scores), *_column_drift(result.shifts)]


def _score_drift(scores: pl.DataFrame) -> list[Chart]:
    if scores.height < 2:
        return []
    lines = [Line(name, scores[name].to_list()) for name in scores.columns[1:]]
    says = "The best model's scores of rows it had not seen, period by period; a jump: new rows are unlike old ones."
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


def _with_intervals(table: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Low and high as one column of text beside each value."""
    shown = table
    for name in [c.removesuffix(" low") for c in table.columns if c.endswith(" low")]:
        texts = [_interval(*ends) for ends in table.select(f"{name} low", f"{name} high").iter_rows()]
        place = shown.columns.index(name) + 1
        shown = shown.drop(f"{name} low", f"{name} high").insert_column(
            place, pl.Series(f"{name} interval", texts)
        )
    return shown, _SHARES


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f} %"
