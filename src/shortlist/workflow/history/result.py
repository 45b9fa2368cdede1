"""What backtests and comparisons share: figures as plain values, a page, charts, a look in notebooks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.metrics.displays import pyplot
from shortlist.report import Chart, Line, Page, Sheet, write_page
from shortlist.tables.columns.words import figure
from shortlist.tables.plain import plain
from shortlist.workflow.history.sentences.words import Words, each_part

#: Columns that are written in percent.
SHARES = ("precision", "recall", "impact share", "chance", "expected_precision")


class Result:
    """Base of results; subclasses are dataclasses with ``answer``, ``table`` and the frames behind them."""

    answer: str
    table: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    @abstractmethod
    def page(self) -> Page:
        """The report as a page of text, charts and tables."""

    @property
    def shown(self) -> pl.DataFrame:
        """What a terminal shows below the answer."""
        return self.table

    @property
    def spoken(self) -> pl.DataFrame:
        """The same in the words of whoever asked."""
        return Words.of(self.setup).named(self.shown)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values for JSON; frames become lists of rows, NaN becomes None."""
        return {each.name: plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]

    def to_html(self, path: str | Path) -> Path:
        """Write the report as one page that needs nothing else, and its figures as JSON beside it."""
        return write_page(self.page(), path, figures=self.to_dict())

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.answer)}</p>{self.table._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.answer}\n{self.table}"

    @staticmethod
    def _plot_lines(frame: pl.DataFrame, x: str, y: str, ax: Any = None) -> Any:
        if ax is None:
            _, ax = pyplot().subplots()
        for (ranking,), part in frame.group_by("ranking", maintain_order=True):
            ax.plot(part[x], part[y], label=str(ranking))
        ax.set(xlabel=x, ylabel=y, xscale="log")
        ax.legend()
        return ax


def worth_by_budget(curve: pl.DataFrame, budget: int, words: Words) -> list[Chart]:
    """How much budget finds how much of what wanted rows are worth, where that is known."""
    if "impact share" not in curve.columns:
        return []
    chart = Chart(
        f"Share of {words.worth} against budget",
        *lines_of(curve, "impact share"),
        x_label="rows looked at",
        y_label=f"share of {words.worth} found",
        log_x=True,
        percent=True,
        mark=budget,
        says=f"Of the {words.whole_worth}; the dashed line is your budget, {budget:,}.",
    )
    return [chart]


def recall_by_budget(curve: pl.DataFrame, budget: int, words: Words) -> Chart:
    """How much budget reaches how much recall."""
    return Chart(
        "Recall against budget",
        *lines_of(curve, "recall"),
        x_label="rows looked at",
        y_label=f"share of {words.many} found",
        log_x=True,
        percent=True,
        mark=budget,
        says=f"The dashed line is your budget, {budget:,}.",
    )


def precision_by_rank(curve: pl.DataFrame, budget: int, words: Words) -> Chart:
    """How clean the top of the list is."""
    shown = curve.filter(pl.col("budget") <= 2 * budget)
    return Chart(
        "Precision by rank",
        *lines_of(shown, "precision"),
        x_label="first rows of the list",
        y_label=f"share that are {words.many}",
        percent=True,
        mark=budget,
        says="How many of the first rows were worth the look.",
    )


def lines_of(frame: pl.DataFrame, column: str, x: str = "budget") -> tuple[list, list[Line]]:
    """The x values, and a line for each ranking."""
    parts = frame.partition_by("ranking", maintain_order=True)
    return parts[0][x].to_list(), [Line(part["ranking"][0], part[column].to_list()) for part in parts]


def slice_sheets(slices: pl.DataFrame, ranking: str, words: Words) -> list[Sheet]:
    """A table for each column that figures are told by."""
    says = f"Of {ranking}, within the budget for all rows; intervals cover 95 %. Where they are wide, rows are too few."
    parts = slices.partition_by("column", maintain_order=True) if slices.height else []
    shares = ("precision", "recall")
    return [
        Sheet(
            f"By {part['column'][0]}",
            words.named(with_intervals(part.drop("column"), shares)[0]),
            shares,
            says=says,
        )
        for part in parts
    ]


def in_words(title: str, frame: pl.DataFrame, words: Words, says: str = "") -> Sheet:
    """A table with intervals, in the words of its reader; below its title also what intervals and shares are."""
    shown, shares = with_intervals(frame, SHARES)
    told = [says] if says else []
    if any(name.endswith(" interval") for name in shown.columns):
        told.append("Intervals cover 95 %.")
    if "impact share" in frame.columns:
        told.append(f"Shares of {words.worth} are of the {words.whole_worth}.")
    shares = (*shares, f"share of {words.worth}")
    return Sheet(title, words.named(_money_first(shown)), shares, says=" ".join(told))


def _money_first(shown: pl.DataFrame) -> pl.DataFrame:
    """What rows are worth before precision and recall, where it is known: wide tables are seen from the left."""
    worth = [name for name in shown.columns if name.startswith(("impact ", "net value"))]
    others = [name for name in shown.columns if name not in worth]
    place = others.index("found") + 1 if "found" in others else len(others)
    return shown.select(*others[:place], *worth, *others[place:])


def budget_sheet(
    budgets: pl.DataFrame | None, setup: dict[str, Any], words: Words, says: str = ""
) -> list[Sheet]:
    """What each of several budgets finds, where several were asked for; ``says``: what to know of it beside."""
    if budgets is None:
        return []
    says = f"All were trained for the first budget, {setup['budget']:,}. {says}".rstrip()
    return [in_words("Budgets side by side", budgets, words, says)]


def paying_sheet(pays: pl.DataFrame | None, setup: dict[str, Any], words: Words) -> list[Sheet]:
    """Up to which budget the reviews of each ranking pay for themselves, where they have a cost."""
    if pays is None:
        return []
    says = (
        f"Rows to look at in {each_part(setup)} up to which the net value grows at "
        f"{words.money(setup['review_cost'])} a review; the next ones cost more than they find."
    )
    return [in_words("Up to which budget reviews pay for themselves", pays, words, says)]


def with_intervals(table: pl.DataFrame, shares: tuple[str, ...]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Low and high as one column of text beside each value; ``shares`` are written in percent."""
    shown = table
    for name in [c.removesuffix(" low") for c in table.columns if c.endswith(" low")]:
        ends = table.select(f"{name} low", f"{name} high").iter_rows()
        texts = [_interval(*each, percent=name in shares) for each in ends]
        value = name if name in shown.columns else f"{name} found"
        place = shown.columns.index(value) + 1
        shown = shown.drop(f"{name} low", f"{name} high").insert_column(
            place, pl.Series(f"{value} interval", texts)
        )
    return shown, shares


def _interval(low: float | None, high: float | None, *, percent: bool) -> str:
    if low is None or high is None:
        return "–"
    if percent:
        return f"{100 * low:.1f} to {100 * high:.1f} %"
    if max(abs(low), abs(high)) >= 1000:  # a small end beside a large one is written as that is
        low, high = round(low), round(high)
    return f"{figure(low)} to {figure(high)}"
