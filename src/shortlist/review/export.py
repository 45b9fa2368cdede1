"""Verdicts out of a queue, and into one."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.exceptions import TableError
from shortlist.review.desk.rows import Rows
from shortlist.review.log.events import Event, Judged, Override, Shown
from shortlist.review.log.state import State, verdict_of
from shortlist.tables import write_table
from shortlist.tables.io.files import format_of
from shortlist.tables.io.formulas import marked
from shortlist.tables.roles import did_you_mean
from shortlist.verdicts import Verdict

#: The id of a row, what was said of it, and a note.
Said = tuple[str, Verdict, str]

COLUMNS: dict[str, Any] = {
    "id": pl.String,
    "verdict": pl.String,
    "who": pl.String,
    "when": pl.Datetime("ms", "UTC"),
    "rank": pl.Int64,
    "score": pl.Float64,
    "drawn": pl.String,
    "note": pl.String,
    "reason": pl.String,
    "model version": pl.Int64,
}


def verdict_table(state: State, rows: Rows) -> pl.DataFrame:
    """The verdicts in force, oldest first; imported ones without rank and score."""
    lines = [_line(event, state, rows) for event in state.verdict.values()]
    return pl.DataFrame(lines, schema=COLUMNS, orient="row")


def write_verdicts(
    frame: pl.DataFrame, target: str | Path, *, replace: bool | None = None, formula_safe: bool = True
) -> None:
    """Write verdicts as ``write_table`` does."""
    dated = _dated(frame, Path(target).suffix)
    write_table(dated, target, replace=replace, formula_safe=formula_safe)


def table_bytes(frame: pl.DataFrame, format: str) -> bytes:
    """What a file of this format would hold, without a file: a server that has no more of them can still answer."""
    ending, content = f".{format}", io.BytesIO()
    kind = format_of(Path(f"table{ending}"))
    assert kind is not None
    assert kind.sink is not None
    lazy = _dated(frame, ending).lazy()
    kind.sink(marked(lazy) if kind.formulas else lazy, content, ending)
    return content.getvalue()


def _dated(frame: pl.DataFrame, ending: str) -> pl.DataFrame:
    """Times as spreadsheets know them."""
    if ending.lower() not in (".csv", ".tsv"):
        return frame
    return frame.with_columns(pl.col(COLUMNS["when"]).dt.strftime("%Y-%m-%dT%H:%M:%SZ"))


def read_verdicts(frame: pl.DataFrame, *, id: str = "id", verdict: str = "verdict") -> list[Said]:
    """Verdicts of a table; empty ones are left out."""
    _check_columns(frame, id, verdict)
    notes: Iterable[Any] = frame["note"] if "note" in frame.columns else [""] * frame.height
    return [
        (str(name), Verdict.read(said), "" if note is None else str(note))
        for name, said, note in zip(frame[id], frame[verdict], notes, strict=True)
        if said is not None and str(said).strip()
    ]


def _check_columns(frame: pl.DataFrame, *names: str) -> None:
    """Refuse verdicts without the columns that say whose they are and what."""
    for name in names:
        if name not in frame.columns:
            raise TableError(
                f"there is no column {name!r} in the verdicts.{did_you_mean(name, frame.columns)} "
                "Name it with --id or --verdict."
            )


def _line(event: Event, state: State, rows: Rows) -> tuple[Any, ...]:
    body = event.body
    shown = state.shown[body.answers].body if isinstance(body, Judged) else None
    at = dt.datetime.fromtimestamp(event.at, dt.UTC)
    row = event.row or 0
    head = (rows.id(row), str(verdict_of(event)), event.who, at)
    note, reason = getattr(body, "note", ""), getattr(body, "reason", "")
    if not isinstance(shown, Shown):
        return (
            *head,
            None,
            None,
            "override" if isinstance(body, Override) else "imported",
            note,
            reason,
            None,
        )
    return (*head, shown.rank, shown.score, str(shown.drawn), note, reason, shown.version)
