"""How commands speak: tables for people, JSON for programs, progress on a terminal only."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from shortlist.cli._log import is_quiet, log
from shortlist.counts import counted
from shortlist.tables import write_table
from shortlist.tables.columns.words import figure
from shortlist.tables.io.sql import hide_password
from shortlist.tables.plain import plain

if TYPE_CHECKING:
    from pathlib import Path

    from shortlist.models import Shortlist
    from shortlist.workflow.history.result import Result

#: Fewest places, its frame included, in which a column of sentences is still pleasant to read.
_FOLDED = 27
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print a value as JSON; NumPy numbers, dates and frames are turned into plain ones, NaN into null."""
    print(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False))


def print_table(
    frame: pl.DataFrame, title: str | None = None, *, fold: bool = False, figures: pl.DataFrame | None = None
) -> None:
    """Print a frame with as many columns as fit, or all of them; numbers stand right-aligned.

    Only the last column is folded, unless all may be: ids stay in one piece. ``figures``: the same columns before
    their numbers became words.
    """
    kinds = (frame if figures is None else figures).dtypes
    numeric = dict(zip(frame.columns, (kind.is_numeric() for kind in kinds), strict=True))
    cells = {name: [_cell(value) for value in frame[name].to_list()] for name in frame.columns}
    shown = frame.columns if fold else _columns_that_fit(cells, out.width)
    if title is not None:
        out.print(f"[bold]{escape(title)}[/]")
    table = Table(header_style="bold")
    for name in shown:
        table.add_column(
            escape(name),
            justify="right" if numeric[name] else "left",
            overflow="fold",
            no_wrap=len(shown) > 2 and name != shown[-1] and not fold,
        )
    for row in zip(*(cells[name] for name in shown), strict=True):
        table.add_row(*map(escape, row))
    out.print(table)
    if len(shown) < frame.width:
        more = frame.width - len(shown)
        columns = "column" if more == 1 else "columns"
        out.print(f"[dim]{more} more {columns}: widen the window, or see all with --json.[/]")


def print_names(frame: pl.DataFrame) -> None:
    """What the value "list" of an option shows; the option that asks for JSON is read only later."""
    if "--json" in sys.argv:
        print_json(frame)
    else:
        print_table(frame, fold=True)


def _columns_that_fit(cells: dict[str, list[str]], width: int) -> list[str]:
    """The first columns whose frames and texts stay within the width, at least two; one more if it can be folded."""
    lines = {name: [line for text in texts for line in text.splitlines()] for name, texts in cells.items()}
    widths = [max(map(len, [name, *texts])) + 3 for name, texts in lines.items()]
    fitting = max(2, int(np.searchsorted(np.cumsum(widths), width - 1, side="right")))
    room = width - 1 - sum(widths[:fitting])
    return list(cells)[: fitting + (room >= _FOLDED)]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return figure(value) if isinstance(value, float) else str(value)


def deliver(
    frame: pl.DataFrame,
    output: str | None,
    *,
    replace: bool = False,
    verbatim: bool = False,
    as_json: Any = None,
    spoken: pl.DataFrame | None = None,
) -> None:
    """Hand over a result: to the file that was asked for, as JSON, or as a table on the terminal.

    ``spoken``: the frame in words for people, where those of files and programs differ.
    """
    if output is not None:
        write_table(frame, output, replace=replace or None, formula_safe=not verbatim)
    if as_json is not None:
        print_json(as_json)
    elif output is not None:
        say(f"wrote {counted(frame.height, 'row')} to {hide_password(output)}")
    else:
        print_table(frame if spoken is None else spoken, figures=frame)


def deliver_shortlist(
    found: Shortlist, output: str | None, *, replace: bool, verbatim: bool, json: bool
) -> None:
    """Hand over a shortlist, with what its user should know on the side."""
    for message in found.notes:
        note(message)
    summary = {
        "model": found.model,
        "version": found.version,
        "notes": found.notes,
        "found": found_fields(found),
        "rows": found.frame,
    }
    if output is None and not json:
        print_table(_with_reasons_in_front(found.frame))
    else:
        deliver(found.frame, output, replace=replace, verbatim=verbatim, as_json=summary if json else None)
    if found.expectation is not None and not json:
        say(found.expectation)


def found_fields(shortlist: Shortlist) -> dict[str, float] | None:
    """How many of how many rows are expected to be wanted, as fields; None where the model does not know."""
    return None if shortlist.found is None else {"of": shortlist.within, **shortlist.found._asdict()}


def _with_reasons_in_front(frame: pl.DataFrame) -> pl.DataFrame:
    """The reasons of a row under each other in one column before its score: people read those first."""
    names = [name for name in frame.columns if name.startswith("reason_")]
    if not names:
        return frame
    why = pl.concat_str(names, separator="\n", ignore_nulls=True).alias("why")
    front = frame.columns[: frame.columns.index("score")]
    return frame.with_columns(why).select(*front, "why", pl.exclude(*front, "why", *names))


def deliver_result(
    result: Result, output: str | None, report: Path | None, *, replace: bool, verbatim: bool, json: bool
) -> None:
    """Hand over a backtest or a comparison: the answer first, then its table; the page where one is asked for."""
    result.setup["command"] = shlex.join(["shortlist", *map(hide_password, sys.argv[1:])])
    if report is not None:
        result.to_html(report)
    for message in result.notes:
        note(message)
    if not json:
        out.print(escape(result.answer), soft_wrap=True)
    as_json = result.to_dict() if json else None
    deliver(
        result.shown,
        output,
        replace=replace,
        verbatim=verbatim,
        as_json=as_json,
        spoken=result.spoken,
    )
    if report is not None:
        say(f"wrote {report} and {report.with_suffix('.json')}")


def say(message: str) -> None:
    """Tell what was done, on the side; names in it may hold anything."""
    log("done", message)
    if not is_quiet():
        err.print(escape(message), soft_wrap=True)


def note(message: str) -> None:
    """Tell the user something on the side, without disturbing what a program reads from us."""
    log("note", message)
    if not is_quiet():
        err.print(f"[yellow]note:[/] {escape(message)}", soft_wrap=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, float | None], None]]:
    """Show how far the work is and how long it will take, on a terminal; nothing on a pipe.

    Yields a function to tell how far it is.
    """
    if not err.is_terminal or is_quiet():
        yield lambda done, total, value: None
        return
    with _bar() as bar:
        task = bar.add_task(escape(what), total=None, reached="")

        def tell(done: int, total: int, value: float | None) -> None:
            bar.update(task, completed=done, total=total, reached="" if value is None else f"{value:.3f}")

        yield tell


def _bar() -> Progress:
    """What is done, of how much, the value reached and the time left; gone when the work is done."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[reached]}"),
        TimeRemainingColumn(compact=True),
    )
    return Progress(*columns, console=err, transient=True)
