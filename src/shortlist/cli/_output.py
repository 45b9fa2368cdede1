"""How commands speak: tables for people, JSON for programs, progress on a terminal only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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
    """Print a frame with as many columns as fit; numbers stand right-aligned."""
    cells = {name: [_cell(value) for value in frame[name]] for name in frame.columns}
    shown = _columns_that_fit(cells, out.width)
    if title is not None:
        out.print(f"[bold]{escape(title)}[/]")
    table = Table(header_style="bold")
    for name in shown:
        table.add_column(
            escape(name), justify="right" if frame[name].dtype.is_numeric() else "left", overflow="fold"
        )
    for row in zip(*(cells[name] for name in shown), strict=True):
        table.add_row(*map(escape, row))
    out.print(table)
    if len(shown) < frame.width:
        out.print(
            f"[dim]{frame.width - len(shown)} more columns: widen the window, or write all to a file with -o.[/]"
        )


def _columns_that_fit(cells: dict[str, list[str]], width: int) -> list[str]:
    """The first columns whose frames and texts stay within the width; at least two."""
    widths = [max(map(len, [name, *texts])) + 3 for name, texts in cells.items()]
    fitting = int(np.searchsorted(np.cumsum(widths), width - 1, side="right"))
    return list(cells)[: max(2, fitting)]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}"


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
def progress(what: str) -> Iterator[Callable[[int, int, float | None], None]]:
    """Show that work goes on, on a terminal; nothing on a pipe. Yields a function to tell how far it is."""
    if not err.is_terminal:
        yield lambda done, total, value: None
        return
    with err.status(escape(what)) as status:

        def tell(done: int, total: int, value: float | None) -> None:
            reached = "" if value is None else f", {value:.3f}"
            status.update(escape(f"{what}: {done} of {total}{reached}"))

        yield tell
