"""CSV and its kin: rows are read as their dialect says; ragged rows are refused by line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl
import polars.selectors as cs

from shortlist.exceptions import TableError
from shortlist.tables.columns.dates import ISO_FORMATS, as_dates, date_formats, hours_from_greenwich
from shortlist.tables.columns.numerals import Numerals
from shortlist.tables.columns.values import clean_text
from shortlist.tables.io.dialect import Dialect, chunks, open_text, sniff
from shortlist.tables.io.formulas import unmark, unmarked
from shortlist.tables.io.readable import check_sizes
from shortlist.tables.problems import tell

#: Rows from which types are told at first; text further down makes a second, full pass.
_INFER_ROWS = 10_000
_INFER_ROWS_LAZILY = 100_000
#: Lines that a message names.
_MOST_LINES = 10


def read_delimited(path: Path) -> pl.DataFrame:
    """All rows of one file."""
    dialect = sniff(path)
    source = _in_utf8(path, dialect)
    try:
        frame = pl.read_csv(source, infer_schema_length=_INFER_ROWS, **dialect.options)
    except pl.exceptions.PolarsError:
        blank_lines(path, dialect)  # a ragged row is the likeliest reason
        frame = _read_slowly(path, source, dialect)
    return _finished(frame, path, dialect)


def scan_delimited(path: Path) -> pl.LazyFrame:
    """The rows of one file, lazily; one that is not plain UTF-8 is read at once, as polars scans no other."""
    dialect = sniff(path)
    if not dialect.is_plain:
        return read_delimited(path).lazy()
    rows = pl.scan_csv(path, infer_schema_length=_INFER_ROWS_LAZILY, glob=False, **dialect.options)
    return rows.with_columns(unmark(cs.string()))


def sink_delimited(rows: pl.LazyFrame, file: IO[bytes], ending: str) -> None:
    """Write rows with commas between the values, or with tabs where the ending says so."""
    rows.sink_csv(file, separator="\t" if ending == ".tsv" else ",", check_extension=False)


def blank_lines(path: Path, dialect: Dialect) -> tuple[list[int], int]:
    """Which records under the header are blank lines, and how many records there are.

    Raises TableError with the numbers of lines if records have not as many fields as the header.
    """
    blank, ragged, width, record, above = [], [], len(dialect.columns), -1, dialect.skip
    with open_text(path, dialect.encoding) as file:
        for _ in range(dialect.skip):
            file.readline()
        reader = csv.reader(file, delimiter=dialect.separator)
        try:
            for record, row in enumerate(reader, start=-1):
                last = dialect.skip + reader.line_num
                if not row:
                    blank.append(record)
                elif len(row) != width:
                    ragged.append((above + 1, last, len(row)))
                above = last
        except csv.Error as error:
            raise TableError(f"{path}, line {above + 1}: {error}. Is a closing quote missing?") from None
    if ragged:
        raise _ragged(path, ragged, dialect)
    return blank, record + 1


def may_be_ragged(frame: pl.DataFrame) -> bool:
    """Whether the last column has gaps, as short rows and blank lines leave; most files have none."""
    return frame.width > 1 and frame[frame.columns[-1]].null_count() > 0


def _ragged(path: Path, ragged: list[tuple[int, int, int]], dialect: Dialect) -> TableError:
    first, last, fields = ragged[0]
    where = f"line {last}" if first == last else f"lines {first} to {last}, which a quoted value joins"
    advice = f"Mend that line; a value that contains {dialect.separator!r} belongs in double quotes."
    if first < last:
        advice = f"Is a closing quote missing in line {first}?"
    elif len(ragged) > 1:
        others = ", ".join(str(line) for _, line, _ in ragged[1:_MOST_LINES])
        more = ", ..." if len(ragged) > _MOST_LINES else ""
        advice = (
            f"So it is in {len(ragged) - 1:,} more (lines {others}{more}). {advice.replace('that', 'each')}"
        )
    return TableError(
        f"{path}, {where}: {fields} fields where the header has {len(dialect.columns)}. {advice}"
    )


def _is_even(path: Path, dialect: Dialect) -> bool:
    """Whether counting separators alone shows that no row is short: far quicker than reading the rows."""
    if dialect.skip:
        return False
    separators = lines = 0
    last = b""
    for last in chunks(path):
        if b'"' in last or b"\r" in last:
            return False
        separators += last.count(dialect.separator.encode())
        lines += last.count(b"\n")
    lines += not last.endswith(b"\n")
    return separators == lines * (len(dialect.columns) - 1)


def _read_slowly(path: Path, source: Path | bytes, dialect: Dialect) -> pl.DataFrame:
    try:
        return pl.read_csv(source, infer_schema_length=None, **dialect.options)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"cannot read {path}: {reason}. Is a closing quote missing?") from None


def _finished(frame: pl.DataFrame, path: Path, dialect: Dialect) -> pl.DataFrame:
    if may_be_ragged(frame) and not _is_even(path, dialect):
        blank, _ = blank_lines(path, dialect)
        frame = frame.filter(~np.isin(np.arange(frame.height), blank))
    check_sizes(frame)  # what comes next looks into every value
    frame = unmarked(frame)
    decimal = "," if dialect.decimal_comma or dialect.thousands else None
    return frame.with_columns(
        _typed(column, None if column.name in dialect.digits else decimal)
        for column in frame.iter_columns()
        if column.dtype == pl.String
    )


def _typed(column: pl.Series, decimal: str | None) -> pl.Series:
    """ISO dates become dates, numbers of a file with decimal commas numbers; a column without values has no type."""
    if column.null_count() == len(column):
        return column.cast(pl.Null)
    text = clean_text(column)
    written = Numerals.of(text, decimal) if decimal else None
    if written is not None and not written.unit:
        if not written.sure:
            tell(f"column {column.name!r}: points stand between thousands.")
        return written.read(text)
    formats = date_formats(text, ISO_FORMATS)
    if (
        not formats or (hours_from_greenwich(text) != 0).any()
    ):  # a type for moments would lose the zone of each
        return column
    dates = as_dates(text, formats[0])
    return dates.cast(pl.Date) if formats[0] == ISO_FORMATS[0] else dates


def _in_utf8(path: Path, dialect: Dialect) -> Path | bytes:
    if dialect.is_plain:
        return path
    with open_text(path, dialect.encoding) as file:
        text = file.read()
    return (text.replace("\r", "\n") if dialect.carriage_returns else text).encode()
