"""What a page is made of; how it looks is the template's business."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

Numbers = list[float | None]


@dataclass(frozen=True)
class Line:
    """One series of a chart, with the ends of its interval where there is one."""

    name: str
    values: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Chart:
    """Lines over numbers, or lines or bars over names.

    x : numbers, or names
    mark : a place on the x axis worth a vertical line, such as the budget
    percent : values are shares
    """

    title: str
    x: list[Any]
    lines: list[Line]
    x_label: str
    y_label: str
    kind: Literal["lines", "bars"] = "lines"
    log_x: bool = False
    percent: bool = False
    mark: float | None = None
    says: str = ""  # what to look for

    def to_dict(self) -> dict[str, Any]:
        """The chart as plain values for the script that draws it."""
        return {
            **{name: getattr(self, name) for name in ("title", "x", "kind", "percent", "mark")},
            "xLabel": self.x_label,
            "yLabel": self.y_label,
            "logX": self.log_x,
            "lines": [vars(line) for line in self.lines],
        }


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table; ``percent`` names the columns that are shares. Rows after the first ``fold`` are folded away."""

    title: str
    frame: pl.DataFrame
    percent: tuple[str, ...] = ()
    says: str = ""
    fold: int | None = None


@dataclass(frozen=True, eq=False)
class Page:
    """A report: the answer first, then charts, tables, and the setup to reproduce it."""

    title: str
    answer: str
    charts: list[Chart]
    sheets: list[Sheet]
    setup: dict[str, Any]  # "command" makes this page again
    notes: tuple[str, ...] = field(default=())
