"""CSV and its kin: separator, encoding and decimal sign are found out; ragged rows are refused by line."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.values import ISO_FORMATS, MISSING, as_dates, clean_text, date_formats

_SEPARATORS = ",;\t|"
_SAMPLE_CHARACTERS = 1 << 18
_SAMPLE_ROWS = 1000
_CHUNK = 1 << 20
#: Rows from which types are told at first; text further down makes a second, full pass.
_INFER_ROWS = 10_000
_INFER_ROWS_LAZILY = 100_000
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+(e[+-]?\d+)?", re.IGNORECASE)
_LEADING_ZERO = re.compile(r"0\d+")


@dataclass(frozen=True)
class Dialect:
    """How a file is written: found out from its first rows, the encoding from all of it."""

    encoding: str
    separator: str
    decimal_comma: bool
    columns: tuple[str, ...]
    #: Columns of digits that are names, such as 00123: numbers would lose their zeros.
    digits: frozenset[str]
    #: Lines end in carriage returns alone, as some programs for the Mac write them.
    carriage_returns: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether polars can read the file as it is."""
        return self.encoding == "utf-8-sig" and not self.carriage_returns

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of polars that say the same."""
        return {
            "separator": self.separator,
            "decimal_comma": self.decimal_comma,
            "null_values": [*MISSING],
            "new_columns": [*self.columns],
            "schema_overrides": dict.fromkeys(self.digits, pl.String),
        }


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
    return pl.scan_csv(path, infer_schema_length=_INFER_ROWS_LAZILY, glob=False, **dialect.options)


def sink_delimited(rows: pl.LazyFrame, file: IO[bytes], ending: str) -> None:
    """Write rows with commas between the values, or with tabs where the ending says so."""
    rows.sink_csv(file, separator="\t" if ending == ".tsv" else ",", check_extension=False)


def sniff(path: Path) -> Dialect:
    """Find out how a file is written."""
    encoding = _encoding(path)
    with _text(path, encoding) as file:
        sample = file.read(_SAMPLE_CHARACTERS)
    if not sample.strip():
        raise TableError(f"{path} is empty; it needs a line of column names and at least one row.")
    whole = len(sample) < _SAMPLE_CHARACTERS
    separator = max(
        _SEPARATORS, key=lambda sign: _fit(_rows(sample, sign, whole), preferred=sign == _usual(path))
    )
    header, *rows = _rows(sample, separator, whole)
    columns = _names(header, path)
    values = [value.strip() for row in rows for value in row]
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal_comma=separator != "," and _mostly_comma(values),
        columns=columns,
        digits=frozenset(
            name
            for name, column in zip(columns, zip(*rows, strict=False), strict=False)
            if any(_LEADING_ZERO.fullmatch(value.strip()) for value in column)
        ),
        carriage_returns="\r" in sample and "\n" not in sample,
    )


def blank_lines(path: Path, dialect: Dialect) -> tuple[list[int], int]:
    """Which records under the header are blank lines, and how many records there are.

    Raises TableError with the number of the line if a record has not as many fields as the header.
    """
    blank, width, record, above = [], len(dialect.columns), -1, 0
    with _text(path, dialect.encoding) as file:
        reader = csv.reader(file, delimiter=dialect.separator)
        try:
            for record, row in enumerate(reader, start=-1):
                if not row:
                    blank.append(record)
                elif len(row) != width:
                    raise _ragged(path, (above + 1, reader.line_num), len(row), dialect)
                above = reader.line_num
        except csv.Error as error:
            raise TableError(
                f"{path}, line {reader.line_num}: {error}. Is a closing quote missing?"
            ) from None
    return blank, record + 1


def may_be_ragged(frame: pl.DataFrame) -> bool:
    """Whether the last column has gaps, as short rows and blank lines leave; most files have none."""
    return frame.width > 1 and frame[frame.columns[-1]].null_count() > 0


def _ragged(path: Path, lines: tuple[int, int], fields: int, dialect: Dialect) -> TableError:
    first, last = lines
    where = f"line {last}" if first == last else f"lines {first} to {last}, which a quoted value joins"
    advice = f"Mend that line; a value that contains {dialect.separator!r} belongs in double quotes."
    if first < last:
        advice = f"Is a closing quote missing in line {first}?"
    elif len(dialect.columns) == 1:
        advice = "Is there a title above the line of column names? Remove it."
    return TableError(
        f"{path}, {where}: {fields} fields where the header has {len(dialect.columns)}. {advice}"
    )


def _is_even(path: Path, dialect: Dialect) -> bool:
    """Whether counting separators alone shows that no row is short: far quicker than reading the rows."""
    separators = lines = 0
    last = b""
    for last in _chunks(path):
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
    return frame.with_columns(_typed(column) for column in frame.iter_columns() if column.dtype == pl.String)


def _typed(column: pl.Series) -> pl.Series:
    """ISO dates become dates, and a column without values has no type."""
    if column.null_count() == len(column):
        return column.cast(pl.Null)
    text = clean_text(column)
    formats = date_formats(text, ISO_FORMATS)
    if not formats:
        return column
    dates = as_dates(text, formats[0])
    return dates.cast(pl.Date) if formats[0] == ISO_FORMATS[0] else dates


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _text(path: Path, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(_open(path), encoding=encoding, errors="replace", newline="")


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with _open(path) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except (OSError, EOFError) as error:
        raise TableError(f"cannot read {path}: {error}. Is the file complete, and may you read it?") from None


def _encoding(path: Path) -> str:
    """UTF-8 if all of the file is; UTF-16 by its mark or zeros; else Windows' Latin-1, which takes almost any byte."""
    start = next(_chunks(path), b"")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding, high_bytes in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if high_bytes.count(0) > len(high_bytes) / 2:  # most letters are those of ASCII
            return encoding
    for encoding in ("utf-8-sig", "cp1252"):
        if _decodes(path, encoding):
            return encoding
    return "latin-1"


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for chunk in _chunks(path):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _in_utf8(path: Path, dialect: Dialect) -> Path | bytes:
    if dialect.is_plain:
        return path
    with _text(path, dialect.encoding) as file:
        text = file.read()
    return (text.replace("\r", "\n") if dialect.carriage_returns else text).encode()


def _usual(path: Path) -> str:
    return "\t" if ".tsv" in (each.lower() for each in path.suffixes) else ","


def _rows(sample: str, separator: str, whole: bool) -> list[list[str]]:
    """The first rows that are not blank; the last one may be cut off and is left out."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
    try:
        rows = [row for row in islice(reader, _SAMPLE_ROWS) if row]
    except csv.Error:
        return [next(csv.reader([sample], delimiter=separator))]
    return rows if whole or len(rows) < 2 else rows[:-1]


def _fit(rows: list[list[str]], *, preferred: bool) -> tuple[float, bool, int]:
    """How well a separator explains the rows: the share of them that are as wide as the header."""
    width = len(rows[0])
    if width == 1:
        return (0.0, preferred, 0)
    return (sum(len(row) == width for row in rows) / len(rows), preferred, width)


def _names(header: list[str], path: Path) -> tuple[str, ...]:
    names = [name.strip() or f"column_{number}" for number, name in enumerate(header, start=1)]
    for name, uses in Counter(names).items():
        if uses > 1:
            raise TableError(f"{path} has {uses} columns named {name!r}; rename all but one.")
    return tuple(names)


def _mostly_comma(values: list[str]) -> bool:
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(value)) for value in values)
    points = sum(bool(_DECIMAL_POINT.fullmatch(value)) for value in values)
    return commas > points
