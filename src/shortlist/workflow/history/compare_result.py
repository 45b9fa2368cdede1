"""What a comparison found: its figures, and which charts and tables its page has, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from shortlist.report import Chart, Line, Page, Sheet
from shortlist.workflow.history.result import Result, lines_of, precision_by_rank, recall_by_budget


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Rankings measured on the same folds.

    answer : which one to use and why, and whether the differences are more than noise
    pick : the model that the answer names
    table : one row per ranking: the mean of each measure over folds, the mean rank, seconds to fit
    folds : every measure on every fold
    differences : the pick against every other ranking, by the goal, with 95 % intervals
    curve : what every budget finds
    """

    answer: str
    pick: str
    goal: str
    table: pl.DataFrame
    folds: pl.DataFrame
    differences: pl.DataFrame
    curve: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    def page(self) -> Page:
        """The report as a page of text, charts and tables."""
        return _page(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw precision within every budget with matplotlib; gives the axes."""
        return self._plot_lines(self.curve, "budget", "precision", ax)


def _page(result: Comparison) -> Page:
    """The conclusion, then models side by side, then every figure."""
    budget = result.setup["budget"]
    return Page(
        title="Comparison: which model to use",
        answer=result.answer,
        notes=result.notes,
        charts=[
            _side_by_side(result),
            _against_the_pick(result),
            precision_by_rank(result.curve, budget),
            recall_by_budget(result.curve, budget),
            *_money(result.curve, budget),
            _fit_time(result.table),
        ],
        sheets=[
            Sheet(
                "Means over folds", result.table, says="Rank 1 is best; mean rank is over folds and measures."
            ),
            Sheet(
                f"{result.pick} against the others",
                result.differences,
                says=f"Difference in {result.goal}, fold by fold; intervals cover 95 %.",
            ),
            Sheet("By fold", result.folds),
        ],
        setup=result.setup,
    )


def _side_by_side(result: Comparison) -> Chart:
    line = Line(result.goal, result.table[result.goal].to_list(), *_spread(result))
    return Chart(
        "Models side by side",
        result.table["ranking"].to_list(),
        [line],
        x_label="ranking",
        y_label=result.goal,
        kind="bars",
        percent=True,
        says="Mean over folds; whiskers show the worst and the best fold.",
    )


def _spread(result: Comparison) -> tuple[list[float | None], list[float | None]]:
    by_ranking = result.folds.group_by("ranking").agg(
        pl.col(result.goal).min().alias("low"), pl.col(result.goal).max().alias("high")
    )
    joined = result.table.select("ranking").join(by_ranking, on="ranking", maintain_order="left")
    return joined["low"].to_list(), joined["high"].to_list()


def _against_the_pick(result: Comparison) -> Chart:
    frame = result.differences.with_columns(
        pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in ("low", "high")
    )
    line = Line("difference", *(frame[name].to_list() for name in ("difference", "low", "high")))
    return Chart(
        f"How much better is {result.pick}?",
        frame["other"].to_list(),
        [line],
        x_label="other ranking",
        y_label=f"gain in {result.goal}",
        kind="bars",
        percent=True,
        says="Whiskers are 95 % intervals; one that reaches below 0 says the gain may be noise.",
    )


def _money(curve: pl.DataFrame, budget: int) -> list[Chart]:
    if "impact found" not in curve.columns:
        return []
    return [
        Chart(
            "Money found",
            *lines_of(curve.filter(pl.col("budget") <= 20 * budget), "impact found"),
            x_label="rows looked at",
            y_label="impact found",
            log_x=True,
            mark=budget,
            says=f"Over all folds; the dashed line is your budget, {budget:,}.",
        )
    ]


def _fit_time(table: pl.DataFrame) -> Chart:
    known = table.filter(pl.col("fit seconds").is_not_null())
    line = Line("seconds", known["fit seconds"].to_list())
    return Chart(
        "Time to train",
        known["ranking"].to_list(),
        [line],
        x_label="model",
        y_label="seconds",
        kind="bars",
        says="Mean over folds, on the machine that made this page.",
    )
