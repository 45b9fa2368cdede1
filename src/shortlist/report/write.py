"""Pages as HTML: everything they need is in the one file."""

from __future__ import annotations

import datetime as dt
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import polars as pl

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.report.page import Page, Sheet
from shortlist.tables.columns.words import figure
from shortlist.tables.columns.words import percent as in_percent
from shortlist.tables.io.paths import named_path
from shortlist.tables.io.write import atomic_path

_MOST_ROWS = 200


def write_page(page: Page, path: str | Path, *, figures: dict[str, Any]) -> Path:
    """Write the page, and its figures under the same name with .json; each file appears whole or not at all."""
    target = check_page_path(path)
    with atomic_path(target) as beside:
        beside.write_text(render(page), encoding="utf-8")
    with atomic_path(target.with_suffix(".json")) as beside:
        beside.write_text(
            json.dumps(figures, indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8"
        )
    return target


def check_page_path(path: str | Path) -> Path:
    """A report is an HTML file; its figures take the same name with .json."""
    target = named_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InvalidInputError(f"a report is a page: give a name that ends in .html, not {path}.")
    return target


def render(page: Page) -> str:
    """The page as HTML.

    >>> text = render(Page("Claims", "All is <well>.", [], [], {"budget": 50}))
    >>> "All is &lt;well&gt;." in text, "http-equiv" in text
    (True, True)
    """
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "cell": cell,
        "script": _script,
        "tight": lambda text: text.replace(" %", "\u00a0%"),
    }
    template = environment.from_string(_asset("assets/page.html"))
    return template.render(
        page=page,
        sheets=[(sheet, sheet.frame.head(_MOST_ROWS).rows(), _numeric(sheet)) for sheet in page.sheets],
        charts=[chart.to_dict() for chart in page.charts],
        most_rows=_MOST_ROWS,
        style=_asset("vendor/uPlot.min.css") + _asset("assets/page.css"),
        scripts=[_asset("vendor/uPlot.iife.min.js"), _asset("assets/page.js")],
        version=__version__,
        today=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def cell(value: Any, percent: bool = False) -> str:
    """A value as people read it.

    >>> cell(0.6843, percent=True), cell(12345.6), cell(6.1461), cell(None), cell(True)
    ('68.4 %', '12,346', '6.15', '–', 'yes')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    if percent and math.isfinite(value):
        return in_percent(value, digits=1)
    return f"{value:.3g}" if 1 <= abs(value) < 1000 and not value.is_integer() else figure(value)


def _numeric(sheet: Sheet) -> list[bool]:
    """Which columns hold numbers; counts of which some are "about" so many are among them."""
    return [
        column.dtype.is_numeric()
        or (column.dtype == pl.String and bool(column.str.contains(r"^about [\d.,-]+$").any()))
        for column in sheet.frame
    ]


def _script(value: Any) -> str:
    """JSON that is safe within a script element, whatever text it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return files("shortlist.report").joinpath(name).read_text(encoding="utf-8")
