"""Rows that come as text lines, JSON or CSV: good lines become a frame, bad ones are set aside with a reason."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.values import MISSING


@dataclass(frozen=True)
class Refusal:
    """Something that could not be taken, where it was found, and why."""

    where: str
    reason: str
    content: str

    @property
    def says(self) -> str:
        """The refusal in words; reasons of files name these themselves.

        >>> Refusal("rows.jsonl, line 2", "not a JSON object", "3").says
        'rows.jsonl, line 2: not a JSON object'
        """
        return self.reason if self.where in self.reason else f"{self.where}: {self.reason}"

    def to_dict(self) -> dict[str, str]:
        """The refusal as plain values."""
        return {"where": self.where, "reason": self.reason, "content": self.content}


@dataclass(frozen=True)
class ParsedLines:
    """The rows of good lines, and the refusals of the others."""

    frame: pl.DataFrame
    refused: list[Refusal] = field(default_factory=list)


def is_json(line: str) -> bool:
    """Whether lines that begin with this one are JSON; otherwise they are CSV and this is the header."""
    return line.lstrip().startswith("{")


def parse_json(lines: Iterable[tuple[int, str]], name: str) -> ParsedLines:
    """Rows from numbered lines with one JSON object each.

    >>> parsed = parse_json([(1, '{"amount": 3}'), (2, '{"amount": 4')], "rows.jsonl")
    >>> parsed.frame.height, parsed.refused[0].where
    (1, 'rows.jsonl, line 2')
    """
    rows, refused = [], []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            reason = f"not a whole JSON object ({error})"
        else:
            reason = "" if isinstance(row, dict) else "not a JSON object: {...}"
        if reason:
            refused.append(Refusal(f"{name}, line {number}", reason, line.rstrip("\n")))
        else:
            rows.append(row)
    frame = pl.from_dicts(rows, infer_schema_length=None, strict=False) if rows else pl.DataFrame()
    return ParsedLines(frame, refused)


def parse_csv(lines: Iterable[tuple[int, str]], header: str, name: str) -> ParsedLines:
    """Rows from numbered CSV lines under a header, as text; a line with another number of fields is refused.

    Types are the schema's business: told from one window alone, 007 would be a number and lose its zeros.

    >>> parsed = parse_csv([(1, "007;3"), (2, "008;4;5")], "id;amount", "rows")
    >>> parsed.frame.rows(), parsed.refused[0].reason
    ([('007', '3')], '3 fields where the header has 2')
    """
    separator = max(",;\t|", key=header.count)
    columns = _columns(header, separator, name)
    rows, refused = [], []
    for number, line in lines:
        if not line.strip() or line.strip() == header.strip():
            continue
        try:
            row = _fields(line, separator)
            reason = f"{len(row)} fields where the header has {len(columns)}"
        except csv.Error as error:
            row, reason = [], f"not a line of CSV ({error})"
        if len(row) == len(columns):
            rows.append([None if value in MISSING else value for value in row])
        else:
            refused.append(Refusal(f"{name}, line {number}", reason, line.rstrip("\n")))
    schema = dict.fromkeys(columns, pl.String)
    return ParsedLines(pl.DataFrame(rows, schema, orient="row") if rows else pl.DataFrame(), refused)


def _columns(header: str, separator: str, name: str) -> list[str]:
    try:
        columns = _fields(header, separator)
    except csv.Error as error:
        raise TableError(f"{name} begins with neither JSON nor a line of column names ({error}).") from None
    if len({*columns}) < len(columns):
        raise TableError(f"{name} has two columns of the same name: {header.strip()}. Rename one.")
    return columns


def _fields(line: str, separator: str) -> list[str]:
    return next(csv.reader([line.rstrip("\r\n")], delimiter=separator, strict=True))
