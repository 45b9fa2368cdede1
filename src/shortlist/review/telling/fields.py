"""The columns of a row as a reviewer reads them: values in words, and how unusual each is in this table."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import TableError
from shortlist.languages.words import ENGLISH, Language, Message
from shortlist.models.profile import Categories, Numbers
from shortlist.models.statements import Statement, part_text, state
from shortlist.tables import Feature, Roles, Schema
from shortlist.tables.columns.formats import Format
from shortlist.tables.columns.learn import learn_feature
from shortlist.tables.columns.values import MISSING, clean_text

GRID = np.linspace(0, 1, 1001)
#: A value is unusual outside the middle 90 % of the table, or in a category that few rows have.
UNUSUAL = 0.1
#: A value that fewer rows share is nobody's business but theirs: an account, a name, a narrative. Where few rows have a
#: value at all, a share of them is soon reached by a single one.
COMMON = 0.05
COMMON_ROWS = 5
MOST_COMMON = 3

Spread = Numbers | Categories
#: The parts of a date, as ``Feature`` reads them.
CALENDAR: dict[str, Callable[[Any], float]] = {
    "days": lambda moment: moment.toordinal() - dt.date(1970, 1, 1).toordinal(),
    "month": lambda moment: moment.month,
    "weekday": lambda moment: moment.isoweekday(),
    "hour": lambda moment: moment.hour + moment.minute / 60,
}
#: Parts of columns whose values are spread like numbers; those of the others are counted.
NUMERIC = ("number", "days", "hour")


@dataclass(frozen=True)
class Field:
    """One column of a row as a reviewer reads it."""

    name: str
    value: Any
    text: str
    usual: str  # the middle 90 %, or the most frequent values
    surprise: float  # -log10 of the share of rows whose value is as unusual as this one

    @property
    def is_unusual(self) -> bool:
        """Whether the value is outside what is usual."""
        return self.surprise > -np.log10(UNUSUAL)

    @property
    def bar(self) -> int:
        """How unusual, from 0 to 100, for a bar."""
        return round(100 * min(1.0, self.surprise / 4))


class Column:
    """A column of a queue: what it is, how its values are spread over all rows, and how they are written.

    said : how people say that it is written, such as "code"; empty: as its values look
    """

    def __init__(self, series: pl.Series, feature: Feature | None, said: str = "") -> None:
        self.name, self.feature, self.dtype = series.name, feature, series.dtype
        self.learned = Format.learn_from(series, feature)
        self.format = Format.read(said, self.learned) if said else self.learned
        self.rows = self.known = 0
        self.spreads: dict[str, Spread] = {}
        self._usual: dict[str, str] = {}  # by language: the same for every row that is shown
        self.add(series)

    def add(self, series: pl.Series) -> None:
        """Count rows that have arrived."""
        self._usual = {}
        parts = self._parts(series)
        for part, values in parts.items():
            before = self.spreads.get(part)
            if before is not None:
                self.spreads[part] = before.joined(values, self.known)
            else:
                self.spreads[part] = (
                    Numbers.of(values.to_numpy(), GRID) if part in NUMERIC else Categories.of(values)
                )
        sizes = [len(values) for values in parts.values()]
        self.rows += len(series)
        self.known += sizes[0] if sizes else len(series) - series.null_count()

    @property
    def missing(self) -> float:
        """The share of rows without a value."""
        return (self.rows - self.known) / self.rows if self.rows else 0.0

    def state(self, part: str, value: Any) -> Statement:
        """What is true of a part of a value among all rows."""
        # What names something is told as it is written: 00123 is not 123.
        as_written = self.feature is None or (self.format.names and not isinstance(value, str))
        said = value if as_written else self._read("category" if self.format.names else part, value)
        return state(self.name, part, said, self.spreads.get(part), missing=self.missing, rows=self.rows)

    def field(self, value: Any, language: Language) -> Field:
        """A value as it is shown."""
        surprise = 0.0 if value is None else self._surprise(value)
        return Field(self.name, value, self.write(value, language), self.usual(language), surprise)

    def write(self, value: Any, language: Language = ENGLISH) -> str:
        """A value in a language, by what the column is."""
        return language.write(value) if isinstance(value, bool) else self.format.write(value, language.locale)

    def usual(self, language: Language) -> str:
        """The middle 90 %, or the most frequent values where many rows share them."""
        if language.tag not in self._usual:
            self._usual[language.tag] = self._tell_usual(language)
        return self._usual[language.tag]

    def _tell_usual(self, language: Language) -> str:
        part, spread = next(iter(self.spreads.items()), ("", None))
        if isinstance(spread, Categories):
            least = max(COMMON, COMMON_ROWS / self.known) if self.known else 1.0
            common = [value for value in spread.most_frequent(MOST_COMMON) if spread.shares[value] >= least]
            told = [part_text(part, value, self.format, language) for value in common]
            return ", ".join([*told, *_and_others(spread, len(common))])
        if spread is None or not spread.quantiles:
            return ""
        low, high = spread.usual
        if part == "number":
            ends = self.format.write_range(low, high, language.locale)
        else:
            ends = part_text(part, low, self.format, language), part_text(part, high, self.format, language)
        return ends[0] if ends[0] == ends[1] else " – ".join(ends)

    def _surprise(self, value: Any) -> float:
        part, spread = next(iter(self.spreads.items()), ("", None))
        known = None if spread is None else self._read(part, value)
        if spread is None or known is None:
            return 0.0
        if isinstance(spread, Categories):
            return float(-np.log10(max(spread.share_as_rare(known), 1e-4)))
        return _far_out(spread, known)

    def _read(self, part: str, value: Any) -> Any:
        """A part of one value: as ``_all_parts`` reads it, without the cost of a series where its type tells all."""
        if value is None or (part == "number" and isinstance(value, int | float)):
            return None if value is None or not math.isfinite(value) else value
        if part == "flag" and isinstance(value, bool):
            return value
        if part == "category" and isinstance(value, str):
            text = value.strip()
            return None if text in MISSING else text
        if isinstance(value, dt.date) and part in CALENDAR:
            return CALENDAR[part](value)
        read = self._all_parts(pl.Series(self.name, [value], dtype=self.dtype)).get(part)
        return read[0] if read is not None and len(read) else None

    def _parts(self, series: pl.Series) -> dict[str, pl.Series]:
        """The known values of each part of the column; nothing of names and free text, where none is usual."""
        return {} if self.format.names else self._all_parts(series)

    def _all_parts(self, series: pl.Series) -> dict[str, pl.Series]:
        """The known values of each part, whatever the column is called."""
        if self.feature is None:
            return {}
        if self.feature.kind == "category":
            return {"category": clean_text(series).drop_nulls()}
        numbers = zip(self.feature.parts, self.feature.encode(series).numbers, strict=True)
        return {part: _known(part, values) for part, values in numbers}


class Usual:
    """What is usual in each column of a queue, as its page tells it.

    >>> frame = pl.DataFrame({"amount": [*range(99), 5000], "kind": ["a"] * 99 + ["b"]})
    >>> usual = Usual.learn(frame, Roles())
    >>> [field.name for field in usual.fields({"amount": 50, "kind": "b"})]
    ['kind', 'amount']
    """

    def __init__(self, columns: dict[str, Column]) -> None:
        self.columns = columns

    @classmethod
    def learn(
        cls,
        frame: pl.DataFrame,
        roles: Roles,
        schema: Schema | None = None,
        formats: Mapping[str, str] = MappingProxyType({}),
    ) -> Usual:
        """Look at the columns but the label; those that are not ranked by are learned as if they were.

        ``formats`` says what columns are where it is not as their values look, such as ``{"shop": "code"}``.
        """
        known = {feature.name: feature for feature in schema.features} if schema else {}
        shown = [name for name in frame.columns if name not in (roles.id, roles.label)]
        return cls(
            {
                name: Column(frame[name], known.get(name) or _feature(frame[name]), formats.get(name, ""))
                for name in shown
            }
        )

    def add(self, frame: pl.DataFrame) -> None:
        """Count rows that have arrived."""
        for name, column in self.columns.items():
            column.add(frame[name])

    def fields(self, row: Mapping[str, Any], language: Language = ENGLISH) -> list[Field]:
        """The columns of a row, most unusual first; equally unusual ones in the order of the table."""
        found = [column.field(row[name], language) for name, column in self.columns.items() if name in row]
        return sorted(found, key=lambda field: -round(field.surprise, 6) if field.is_unusual else 0)

    def state(self, schema: Schema, column: int, row: Mapping[str, Any]) -> Statement:
        """What is true of a row's value in a column of the matrix."""
        name = schema.feature_of_column[column].name
        return self.columns[name].state(schema.parts[column], row[name])

    def state_whole(self, name: str, row: Mapping[str, Any]) -> Statement:
        """What is true of a row's value in a column of the table, be it ranked by or not; of a date, its day."""
        feature = self.columns[name].feature
        return self.columns[name].state(feature.parts[0] if feature else "", row[name])

    def message(self, said: Statement) -> Message:
        """A statement, its numbers written as its column is."""
        return said.message(self.columns[said.name].format)


def _feature(series: pl.Series) -> Feature | None:
    """What a column is that is shown and not learned from; None for names, free text and nested values."""
    try:
        return learn_feature(series)
    except TableError:
        return None


def _known(part: str, values: pl.Series) -> pl.Series:
    if part not in NUMERIC:
        return values.drop_nulls()
    numbers = values.cast(pl.Float64).drop_nulls()
    return numbers.filter(numbers.is_finite())


def _and_others(spread: Categories, told: int) -> list[str]:
    """A sign that values are usual, too, that were not told: a row that has one is not called unusual."""
    others = spread.most_frequent(told + 1)[told:] if told else []
    return ["…" for value in others if spread.share_as_rare(value) >= UNUSUAL]


def _far_out(spread: Numbers, x: float) -> float:
    """How far out in the tails a number is; beyond all rows, how far in widths of the middle 90 %."""
    tail = min(1.0, 2 * min(1 - spread.share_below(x), 1 - spread.share_above(x)) + 1e-3)
    low, high = spread.usual
    beyond = max(low - x, x - high, 0.0) / ((high - low) or abs(high) or 1.0)
    return float(-np.log10(tail) + min(beyond, 10) / 20)
