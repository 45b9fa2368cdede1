"""What backtests and comparisons share: figures as plain values, a page, a chart, a look in notebooks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.metrics.displays import pyplot
from shortlist.report import Page, write_page
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
