"""What a comparison found: its figures, and which charts and tables its page has, in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shortlist.report import Chart, Line, Page, Sheet
from shortlist.workflow.history.insight.chances import calibration_chart
from shortlist.workflow.history.insight.columns import importance_chart
from shortlist.workflow.history.result import (
    Result,
    budget_sheet,
    in_words,
    lines_of,
    paying_sheet,
    precision_by_rank,
    recall_by_budget,
    slice_sheets,
)
from shortlist.workflow.history.sentences.words import Words, part_of


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Rankings measured on the same folds.

    answer : which one to use and why, and whether the differences are more than noise
    pick : the model that the answer names
    table : one row per ranking: what was found in all, the mean of other measures over folds, mean rank, seconds to fit
    folds : every measure on every fold
    differences : the pick against every other ranking, by the goal, with 95 % intervals
    budgets : what each of several budgets finds, and whether the pick there is better, worse or within noise
    pays : up to which budget the reviews of each ranking pay for themselves
    curve : what every budget finds
    importance : how much each column moves the scores of the pick
    calibration : what the pick expected of rows in groups of like chances, and what was found
    slices : precision and recall for each group of rows, by the columns that were asked for
    """

    answer: str
    pick: str
    goal: str
    table: pl.DataFrame
    folds: pl.DataFrame
    differences: pl.DataFrame
    budgets: pl.DataFrame | None  # where several budgets were asked for
    pays: pl.DataFrame | None  # where reviews have a cost
    curve: pl.DataFrame
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
        """Draw precision within every budget with matplotlib; gives the axes."""
        return self._plot_lines(self.curve, "budget", "precision", ax)


def _page(result: Comparison) -> Page:
    """The conclusion, then models side by side, then every figure."""
    budget, words, part = result.setup["budget"], Words.of(result.setup), part_of(result.setup)
    return Page(
        title="Comparison: which model to use",
        answer=result.answer,
        notes=result.notes,
        charts=[
            _side_by_side(result),
            _against_the_pick(result),
            precision_by_rank(result.curve, budget, words),
            recall_by_budget(result.curve, budget, words),
            *_money(result.curve, budget, words, part),
            *importance_chart(result.importance, result.pick),
            *calibration_chart(result.calibration, words),
            _fit_time(result.table, part),
        ],
        sheets=[
            _over_all(result, part, words),
            Sheet(
                f"{result.pick} against the others",
                result.differences,
                says=f"Difference in {_goal(result.goal, words)}, {part} by {part}; intervals cover 95 %.",
            ),
            *_budgets(result, words),
            *paying_sheet(result.pays, result.setup, words),
            *slice_sheets(result.slices, result.pick, words),
            Sheet(f"By {part}", words.named(result.folds.rename({"fold": part})), fold=20),
        ],
        setup=result.setup,
    )


def _over_all(result: Comparison, part: str, words: Words) -> Sheet:
    says = (
        "What is found adds up; shares and measures of order are means. Mean rank: 1 is best, over "
        f"{part}s and measures."
    )
    # Measures of order are no shares, and all of them are read beside one another.
    return replace(in_words(f"Over all {part}s", result.table, words, says), percent=())


def _budgets(result: Comparison, words: Words) -> list[Sheet]:
    if result.budgets is None:
        return []
    # What the pick is stands last, and is not to be pushed over the edge.
    shown = result.budgets.drop("net value low", "net value high", strict=False)
    says = "The pick is the best model within each budget; noise: these rows cannot tell them apart."
    return budget_sheet(shown, result.setup, words, says)


def _goal(goal: str, words: Words) -> str:
    """What rankings are judged by, in the words of whoever asked."""
    return f"share of the {words.whole_worth}" if goal == "impact share" else goal


def _side_by_side(result: Comparison) -> Chart:
    goal = _goal(result.goal, Words.of(result.setup))
    line = Line(goal, result.table[result.goal].to_list(), *_spread(result))
    return Chart(
        "Models side by side",
        result.table["ranking"].to_list(),
        [line],
        x_label="ranking",
        y_label=goal,
        kind="bars",
        percent=True,
        says="Mean over {0}s; whiskers show the worst and the best {0}.".format(part_of(result.setup)),
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
        y_label=f"gain in {_goal(result.goal, Words.of(result.setup))}",
        kind="bars",
        percent=True,
        says="Whiskers are 95 % intervals; one that reaches below 0 says the gain may be noise.",
    )


def _money(curve: pl.DataFrame, budget: int, words: Words, part: str) -> list[Chart]:
    if "impact found" not in curve.columns:
        return []
    return [
        Chart(
            f"{words.worth_found[0].upper()}{words.worth_found[1:]}",
            *lines_of(curve.filter(pl.col("budget") <= 20 * budget), "impact found"),
            x_label="rows looked at",
            y_label=words.worth_found,
            log_x=True,
            mark=budget,
            says=f"Over all {part}s; the dashed line is your budget, {budget:,}.",
        )
    ]


def _fit_time(table: pl.DataFrame, part: str) -> Chart:
    known = table.filter(pl.col("fit seconds").is_not_null())
    line = Line("seconds", known["fit seconds"].to_list())
    return Chart(
        "Time to train",
        known["ranking"].to_list(),
        [line],
        x_label="model",
        y_label="seconds",
        kind="bars",
        says=f"Mean over {part}s, on the machine that made this page.",
    )
