"""How commands speak: tables for people, JSON for programs, progress on a terminal only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from shortlist.tables import write_table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print a value as JSON; NumPy numbers, dates and frames are turned into plain ones."""
    print(json.dumps(value, default=_plain, indent=2, allow_nan=False, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    return str(value)


def print_table(frame: pl.DataFrame, title: str | None = None) -> None:
    """Print a frame; numbers stand right-aligned."""
    table = Table(title=title, title_justify="left", header_style="bold")
    for name, dtype in frame.schema.items():
        table.add_column(escape(name), justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(escape(_cell(value)) for value in row))
    out.print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)


def deliver(frame: pl.DataFrame, output: Path | None, *, as_json: Any = None) -> None:
    """Hand over a result: to the file that was asked for, as JSON, or as a table on the terminal."""
    if output is not None:
        write_table(frame, output)
    if as_json is not None:
        print_json(as_json)
    elif output is not None:
        err.print(f"wrote {frame.height:,} rows to {escape(str(output))}", soft_wrap=True)
    else:
        print_table(frame)


def note(message: str) -> None:
    """Tell the user something on the side, without disturbing what a program reads from us."""
    err.print(f"[yellow]note:[/] {escape(message)}", soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show that work goes on, on a terminal; nothing on a pipe."""
    if not err.is_terminal:
        yield
        return
    with err.status(escape(what)):
        yield
