"""The runs that were really made: what each shortlist held, and what came of its rows."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, SchemaError
from shortlist.question import MonitorQuestion
from shortlist.tables import read_table
from shortlist.tables.checks import read_chances
from shortlist.tables.columns.times import read_times
from shortlist.tables.columns.values import blanked, clean_text
from shortlist.tables.io.files import find_files
from shortlist.tables.io.sql import is_database_url
from shortlist.tables.label import wanted_rows
from shortlist.tables.numbers import read_numbers
from shortlist.workflow.monitor.columns import other_columns

#: The day in the name of a file, as in shortlist-2025-07-01.csv.
_DAY = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
#: A run is settled when so many of its outcomes have come back; younger ones would look poor.
SETTLED = 0.95


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What came back: one row per id, with ``wanted``, and ``impact``, ``chance`` of a check and ``when`` if known."""

    frame: pl.DataFrame
    is_whole: bool  # outcomes are known of all rows, or rows were drawn at random with known chances

    @property
    def is_dated(self) -> bool:
        """Whether it is known when each row came up."""
        return "when" in self.frame.columns


def read_outcomes(question: MonitorQuestion) -> Outcomes:
    """The outcomes that are known, by id; rows whose label is still empty are not."""
    id_, label = question.id, question.label
    if question.outcomes is None or id_ is None or label is None:
        raise InvalidInputError(
            "say where outcomes are, by which column they are joined and which one tells wanted rows: --outcomes FILE "
            "--id COLUMN --label COLUMN"
        )
    frame = blanked(read_table(question.outcomes), question.missing)
    needed = [id_, label, *([question.checked] if question.checked else [])]
    absent = [repr(name) for name in needed if name not in frame.columns]
    if absent:
        raise SchemaError(
            f"the outcomes have no column {', '.join(absent)}; they have {', '.join(frame.columns)}."
        )
    frame = frame.filter(clean_text(frame[label]).is_not_null())
    if frame.is_empty():
        raise InvalidInputError(f"no outcome has come back: {label!r} is empty in every row of the outcomes.")
    columns = {
        "id": clean_text(frame[id_]),
        "wanted": pl.Series(wanted_rows(frame[label], question.wanted, both=False)),
    }
    if question.worth is not None and question.worth in frame.columns:
        columns["impact"] = read_numbers(frame[question.worth], question.worth_role).cast(pl.Float64)
    if question.checked is not None:
        columns["chance"] = read_chances(frame[question.checked])
    if question.time is not None and question.time in frame.columns:
        columns["when"] = _dates(frame[question.time])
    known = pl.DataFrame(columns).unique("id", keep="last", maintain_order=True)
    return Outcomes(known, question.complete or question.checked is not None)


def read_runs(
    source: Any, question: MonitorQuestion, outcomes: Outcomes
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """One line per row of a shortlist, with its day, and what came of it; a row counts on its first day only.

    Of shortlists without rows, as of quiet days, there is a note; where all are, there are no lines.
    """
    files = _files(source, question)
    frames = [_line_up(frame, question, day) for frame, day in files if not frame.is_empty()]
    quiet = _quiet(len(files) - len(frames))
    if not frames:
        return pl.DataFrame(), quiet
    rows = pl.concat(frames, how="diagonal_relaxed").sort("when", maintain_order=True)
    first = rows.unique("id", keep="first", maintain_order=True)
    again = rows.height - first.height
    twice = f"on several shortlists: {counted(again, 'row')}; each counts on its first day."
    notes = (*quiet, *((twice,) if again else ()))
    kept = outcomes.frame.drop("when", strict=False)
    taken = [name for name in kept.columns if name in first.columns and name != "id"]
    joined = first.join(kept.drop(taken), on="id", how="left", maintain_order="left")
    worth = [pl.col("impact").fill_null(0.0).alias("worth")] if "impact" in joined.columns else []
    return joined.with_columns(pl.col("wanted").is_not_null().alias("known"), *worth), notes


def check_worth(rows: pl.DataFrame, question: MonitorQuestion) -> None:
    """The column that says what rows are worth is in one of the tables, whichever."""
    if question.worth is not None and "worth" not in rows.columns:
        raise SchemaError(
            f"the {question.worth_role} column {question.worth!r} is neither in the shortlists nor in the outcomes."
        )


def _quiet(n_empty: int) -> tuple[str, ...]:
    if not n_empty:
        return ()
    return (f"without rows, as of a quiet day: {counted(n_empty, 'shortlist')}; nothing was ranked there.",)


def _files(source: Any, question: MonitorQuestion) -> list[tuple[pl.DataFrame, dt.date | None]]:
    """The tables that shortlists were written to; each may hold one day or many."""
    tables: list[tuple[pl.DataFrame, dt.date | None]]
    if not isinstance(source, str | Path) or is_database_url(source):
        tables = [(read_table(source, may_be_empty=True), None)]
    else:
        paths = find_files(source).paths
        tables = [(read_table(path, may_be_empty=True), _day_of(path)) for path in paths]
    if question.time is None and any(day is None for _, day in tables):
        raise InvalidInputError(
            "nothing says on which day each shortlist was written. Name its column (--time COLUMN), or have the day in "
            "the names of files, such as shortlist-2025-07-01.csv."
        )
    return tables


def _day_of(path: Path) -> dt.date | None:
    found = _DAY.search(path.stem)
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _line_up(frame: pl.DataFrame, question: MonitorQuestion, day: dt.date | None) -> pl.DataFrame:
    """The columns of a shortlist that count, under names of ours."""
    frame = blanked(frame, question.missing)
    id_ = str(question.id)
    absent = [repr(name) for name in (id_, question.time) if name is not None and name not in frame.columns]
    if absent:
        raise SchemaError(
            f"a shortlist has no column {', '.join(absent)}; it has {', '.join(frame.columns)}."
        )
    when = _moments(frame, question, day)
    columns = {"id": clean_text(frame[id_]), "when": when}
    if "score" in frame.columns:
        columns["score"] = read_numbers(frame["score"], "score").cast(pl.Float64)
    if "expected_precision" in frame.columns:
        columns["expected"] = _expected(frame, when)
    if "model_version" in frame.columns:
        columns["version"] = frame["model_version"].cast(pl.String)
    if question.worth is not None and question.worth in frame.columns:
        columns["impact"] = read_numbers(frame[question.worth], question.worth_role).cast(pl.Float64)
    taken = {id_, question.time, question.label}
    return pl.DataFrame(columns | other_columns(frame, taken))


def _moments(frame: pl.DataFrame, question: MonitorQuestion, day: dt.date | None) -> pl.Series:
    if question.time is None:
        return pl.Series([day] * frame.height, dtype=pl.Date).cast(pl.Datetime("us"))
    moments = _dates(frame[question.time])
    empty = moments.null_count()
    if empty:
        raise InvalidInputError(
            f"time column {question.time!r} is empty in {counted(empty, 'row')} of a shortlist; "
            "every row needs the day of its run: fill the gaps or leave those rows out."
        )
    return moments


def _dates(values: pl.Series) -> pl.Series:
    moments = read_times(values)
    if not moments.dtype.is_temporal():
        raise InvalidInputError(f"time column {values.name!r} holds numbers; monitoring needs dates.")
    return moments.cast(pl.Datetime("us"))


def _expected(frame: pl.DataFrame, when: pl.Series) -> pl.Series:
    """How many wanted rows the model expects each row to add to its list, so that the mean over rows is a precision.

    With expected precision e at rank r, and e' at rank r' of the row before, it is (r e - r' e') / (r - r'). Tied rows
    have one expected precision, and share what they add.
    """
    expected = read_numbers(frame["expected_precision"], "expected precision").cast(pl.Float64)
    rows = _ranks(frame, when).with_columns(expected.alias("expected")).with_row_index("row")
    rows = rows.drop_nulls("expected").sort("list", "rank", maintain_order=True)
    rows = rows.with_columns(pl.struct("list", "expected").rle_id().alias("tie"))
    ties = rows.group_by("tie", maintain_order=True).agg(pl.col("list", "rank", "expected").last())
    rank, so_far = pl.col("rank"), pl.col("rank") * pl.col("expected")
    more, longer = (each - each.shift(1, fill_value=0.0).over("list") for each in (so_far, rank))
    added = rows.join(ties.select("tie", (more / longer).alias("added")), on="tie").select("row", "added")
    in_order = pl.DataFrame({"row": np.arange(frame.height, dtype=np.uint32)})
    return in_order.join(added, on="row", how="left", maintain_order="left")["added"]


def _ranks(frame: pl.DataFrame, when: pl.Series) -> pl.DataFrame:
    """The list and the rank of each row: a list begins where ranks do; without ranks a day is a list, in its order."""
    ranks = read_numbers(frame["rank"], "rank").cast(pl.Float64) if "rank" in frame.columns else None
    if ranks is None or ranks.null_count() or (ranks < 1).any():
        days = when.dt.date().rank("dense")
        return pl.DataFrame({"list": days}).with_columns(
            pl.int_range(1, pl.len() + 1).over("list").cast(pl.Float64).alias("rank")
        )
    # Where no rank comes twice there is one list, in whatever order its rows were written.
    begins = (ranks.diff() <= 0).fill_null(False) & ranks.is_duplicated().any()
    return pl.DataFrame({"list": begins.cum_sum(), "rank": ranks})


@dataclass(frozen=True, eq=False)
class Daily:
    """One entry per run: how many rows it listed, of how many the outcome is known, how many of those were wanted."""

    day: NDArray
    listed: NDArray[np.int64]
    known: NDArray[np.int64]
    found: NDArray[np.int64]
    expected: NDArray[np.float64]  # chance that a row is wanted, by the model; NaN where it gave none

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Which runs have (nearly) all their outcomes."""
        return self.known >= SETTLED * self.listed


def by_run(rows: pl.DataFrame) -> Daily:
    """The rows of runs, day by day."""
    expected = pl.col("expected").mean() if "expected" in rows.columns else pl.lit(None, dtype=pl.Float64)
    days = (
        rows.with_columns(pl.col("when").dt.date().alias("day"))
        .group_by("day", maintain_order=True)
        .agg(
            pl.len().alias("listed"),
            pl.col("known").sum(),
            (pl.col("wanted") & pl.col("known")).sum().alias("found"),
            expected.alias("expected"),
        )
        .sort("day")
    )
    return Daily(
        days["day"].to_numpy(),
        days["listed"].cast(pl.Int64).to_numpy(),
        days["known"].cast(pl.Int64).to_numpy(),
        days["found"].cast(pl.Int64).to_numpy(),
        days["expected"].cast(pl.Float64).fill_null(np.nan).to_numpy(),
    )
