"""What backtests and comparisons share: figures as plain values, a page, charts, a look in notebooks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.metrics.displays import pyplot
from shortlist.report import Chart, Line, Page, write_page
from shortlist.tables.plain import plain


class Result:
    """Base of results; subclasses are dataclasses with ``answer``, ``table`` and the frames behind them."""

    answer: str
    table: pl.DataFrame
    setup: dict[str, Any]
    notes: tuple[str, ...]

    @abstractmethod
    def page(self) -> Page:
        """The report as a page of text, charts and tables."""

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


def recall_by_budget(curve: pl.DataFrame, budget: int) -> Chart:
    """How much budget reaches how much recall."""
    return Chart(
        "Recall against budget",
        *lines_of(curve, "recall"),
        x_label="rows looked at",
        y_label="share of wanted rows found",
        log_x=True,
        percent=True,
        mark=budget,
        says=f"The dashed line is your budget, {budget:,}.",
    )


def precision_by_rank(curve: pl.DataFrame, budget: int) -> Chart:
    """How clean the top of the list is."""
    shown = curve.filter(pl.col("budget") <= 2 * budget)
    return Chart(
        "Precision by rank",
        *lines_of(shown, "precision"),
        x_label="first rows of the list",
        y_label="share that is wanted",
        percent=True,
        mark=budget,
        says="How many of the first rows were worth the look.",
    )


def lines_of(frame: pl.DataFrame, column: str, x: str = "budget") -> tuple[list, list[Line]]:
    """The x values, and a line for each ranking."""
    parts = frame.partition_by("ranking", maintain_order=True)
    return parts[0][x].to_list(), [Line(part["ranking"][0], part[column].to_list()) for part in parts]
