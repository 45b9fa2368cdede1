"""Rows that come as text lines, JSON or CSV: good lines become a frame, bad ones are set aside with a reason."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl


@dataclass(frozen=True)
class Refusal:
    """Something that could not be taken, where it was found, and why."""

    where: str
    reason: str
    content: str

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
    """Rows from numbered CSV lines under a header; a line with another number of fields is refused."""
    width = len(next(csv.reader([header])))
    good, refused = [], []
    for number, line in lines:
        if not line.strip() or line.strip() == header.strip():
            continue
        fields = len(next(csv.reader([line])))
        if fields != width:
            reason = f"{fields} fields where the header has {width}"
            refused.append(Refusal(f"{name}, line {number}", reason, line.rstrip("\n")))
        else:
            good.append(line.rstrip("\r\n"))
    text = "\n".join([header.rstrip("\r\n"), *good])
    frame = pl.read_csv(io.StringIO(text), infer_schema_length=None) if good else pl.DataFrame()
    return ParsedLines(frame, refused)
