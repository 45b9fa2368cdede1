"""How a file of lines is written: encoding, separator, decimal sign, and where its columns are named."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.values import MISSING
from shortlist.tables.io.formulas import unmarked_name
from shortlist.tables.io.readable import check_width
from shortlist.tables.problems import tell

_SEPARATORS = ",;\t|"
_SAMPLE_CHARACTERS = 1 << 18
_SAMPLE_ROWS = 1000
_LONGEST_LINE = 10_000_000
_CHUNK = 1 << 20
#: A title and what is told beside it stand in the first rows.
_TITLE_ROWS = 20
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(e[+-]?\d+)?", re.IGNORECASE)
_DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+(e[+-]?\d+)?", re.IGNORECASE)
_LEADING_ZERO = re.compile(r"0\d+")
_POINTS_BETWEEN_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_FIRST_LINE = re.compile(r"\"?sep=(.)\"?\s*?(\r\n|\n|\r)", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a file is written: found out from its first rows, the encoding from all of it."""

    encoding: str
    separator: str
    decimal_comma: bool
    columns: tuple[str, ...]
    #: Columns of digits that are names, such as 00123: numbers would lose their zeros.
    digits: frozenset[str]
    #: Columns of numbers with points between thousands.
    thousands: frozenset[str] = field(default_factory=frozenset)
    #: Lines end in carriage returns alone, as some programs for the Mac write them.
    carriage_returns: bool = False
    #: Lines above the one with the names of columns.
    skip: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether polars can read the file as it is."""
        return self.encoding == "utf-8-sig" and not self.carriage_returns and not self.thousands

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of polars that say the same."""
        return {
            "separator": self.separator,
            "decimal_comma": self.decimal_comma,
            "null_values": [*MISSING],
            "new_columns": [*self.columns],
            "schema_overrides": dict.fromkeys((*self.digits, *self.thousands), pl.String),
            "skip_lines": self.skip,
        }


def sniff(path: Path) -> Dialect:
    """Find out how a file is written."""
    encoding = _encoding(path)
    sample, whole = _sample(path, encoding)
    told = _FIRST_LINE.match(sample)
    sample = sample[told.end() :] if told else sample
    separator = told[1] if told else _likeliest_separator(sample, whole, _usual(path))
    (line, header), *numbered = below_title(_rows(sample, separator, whole), path)
    rows = [row for _, row in numbered]
    check_width(len(header), str(path))
    columns = column_names(header, path)
    values = [value.strip() for row in rows for value in row]
    by_column = dict(zip(columns, zip(*rows, strict=False), strict=False))
    comma = separator != "," and _mostly_comma(values)
    return Dialect(
        encoding=encoding,
        separator=separator,
        decimal_comma=comma,
        columns=columns,
        digits=frozenset(
            name
            for name, column in by_column.items()
            if any(_LEADING_ZERO.fullmatch(value.strip()) for value in column)
        ),
        thousands=_with_thousands(by_column, values, comma) if separator != "," else frozenset(),
        carriage_returns="\r" in sample and "\n" not in sample,
        skip=line + (told is not None),
    )


def _sample(path: Path, encoding: str) -> tuple[str, bool]:
    """The first rows, more of them where the first line is long, and whether they are all there are."""
    with open_text(path, encoding) as file:
        line = file.readline(_LONGEST_LINE)
        if len(line) == _LONGEST_LINE:
            raise TableError(
                f"the first line of {path} is longer than {_LONGEST_LINE:,} characters; a table begins with the names "
                "of its columns."
            )
        size = max(_SAMPLE_CHARACTERS, 4 * len(line))
        sample = line + file.read(size)
    if not sample.strip():
        raise TableError(f"{path} is empty; it needs a line of column names and at least one row.")
    return sample, len(sample) - len(line) < size


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[io.TextIOWrapper]:
    """The characters of a file, uncompressed."""
    with (
        _opened(path) as file,
        io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="") as text,
    ):
        yield text


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, uncompressed, a part at a time."""
    with _opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file whose bytes come uncompressed; where they cannot, whoever reads them is told so."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"cannot read {path}: {error}. Is the file complete, and may you read it?") from None


def _encoding(path: Path) -> str:
    """UTF-8 if all of the file is; UTF-16 by its mark or zeros; else Windows' Latin-1, which takes almost any byte."""
    start = next(chunks(path), b"")
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
        for chunk in chunks(path):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _usual(path: Path) -> str:
    return "\t" if ".tsv" in (each.lower() for each in path.suffixes) else ","


def _likeliest_separator(sample: str, whole: bool, usual: str) -> str:
    def fit(sign: str) -> tuple[float, bool, int]:
        rows = [row for _, row in _rows(sample, sign, whole)]
        return _fit(rows, preferred=sign == usual)

    return max(_SEPARATORS, key=fit)


def _rows(sample: str, separator: str, whole: bool) -> list[tuple[int, list[str]]]:
    """The first rows that are not blank, each with the lines above it; the last may be cut off and is left out."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
    rows, above = [], 0
    try:
        for row in islice(reader, _SAMPLE_ROWS):
            if row:
                rows.append((above, row))
            above = reader.line_num
    except csv.Error:  # a value that has no end within the sample, or none at all
        return rows or [(0, [sample])]
    return rows if whole or len(rows) < 2 else rows[:-1]


def _fit(rows: list[list[str]], *, preferred: bool) -> tuple[float, bool, int]:
    """How well a separator explains the rows: the share of them that are as wide as most are."""
    width, alike = Counter(map(len, rows)).most_common(1)[0]
    if width == 1:
        return (0.0, preferred, 0)
    return (alike / len(rows), preferred, width)


def below_title(rows: list[tuple[int, list[str]]], path: Path) -> list[tuple[int, list[str]]]:
    """The rows from the one that names the columns on; titles above it are as good as empty."""
    width = Counter(len(row) for _, row in rows).most_common(1)[0][0]
    for place, (line, row) in enumerate(rows[:_TITLE_ROWS]):
        if 2 * sum(bool(cell.strip()) for cell in row) > width:
            if place and _names_columns(row, width):
                tell(f"{path}: the columns are named in line {line + 1}; what stands above it is left out.")
                return rows[place:]
            break
    return rows


def _names_columns(row: list[str], width: int) -> bool:
    """Whether a row could name columns: every cell has a text of its own that is no number."""
    names = [cell.strip() for cell in row]
    return len(names) == width and all(names) and len({*names}) == width and not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+$€£]?[\d.,' ]+%?", text))


def column_names(header: list[str], path: Path) -> tuple[str, ...]:
    """The names of columns, a number for one that has none; no two may be alike."""
    names = [unmarked_name(name.strip()) or f"column_{number}" for number, name in enumerate(header, start=1)]
    repeated = [f"{uses} columns named {name!r}" for name, uses in Counter(names).items() if uses > 1]
    if repeated:
        raise TableError(f"{path} has {' and '.join(repeated)}; rename all but one.")
    return tuple(names)


def _mostly_comma(values: list[str]) -> bool:
    commas = sum(bool(_DECIMAL_COMMA.fullmatch(value)) for value in values)
    points = sum(
        bool(_DECIMAL_POINT.fullmatch(value)) and not _POINTS_BETWEEN_THOUSANDS.fullmatch(value)
        for value in values
    )
    return commas > points


def _with_thousands(by_column: dict[str, tuple[str, ...]], values: list[str], comma: bool) -> frozenset[str]:
    """Columns that write 71.610 for 71610, as places do that put semicolons between columns.

    Every number from a thousand on has its points, and nothing in the file has a point before a fraction.
    """
    fractions = any(
        _DECIMAL_POINT.fullmatch(value) and not _POINTS_BETWEEN_THOUSANDS.fullmatch(value) for value in values
    )
    if fractions and not comma:
        return frozenset()
    return frozenset(name for name, column in by_column.items() if _has_thousands(column))


def _has_thousands(column: tuple[str, ...]) -> bool:
    known = [value.strip() for value in column if value.strip() not in MISSING]
    apart = [value for value in known if _POINTS_BETWEEN_THOUSANDS.fullmatch(value)]
    others = (value for value in known if not _POINTS_BETWEEN_THOUSANDS.fullmatch(value))
    return bool(apart) and all(re.fullmatch(r"[+-]?\d{1,3}(,\d+)?", value) for value in others)
