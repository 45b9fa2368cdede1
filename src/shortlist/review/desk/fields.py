"""The columns of a row as a reviewer reads them: values in words, and how unusual each is in this table."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.profile import Categories, Numbers
from shortlist.tables import Roles
from shortlist.tables.columns.words import number_text

#: Rows looked at; the middle 90 % of a hundred thousand rows is that of the table.
SAMPLE = 100_000
GRID = 1000
#: A value is unusual outside the middle 90 % of the table, or in a category that few rows have.
UNUSUAL = 0.1
MOST_CATEGORIES = 1000


@dataclass(frozen=True)
class Field:
    """One column of a row as a reviewer reads it."""

    name: str
    value: Any
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


@dataclass(frozen=True, eq=False)
class UsualNumbers:
    """What is usual in a column of numbers or dates."""

    grid: NDArray[np.float64]  # quantiles, so fine that counting them tells how many rows lie below a value
    is_date: bool

    @classmethod
    def of(cls, numbers: NDArray[np.float64], is_date: bool) -> UsualNumbers:
        """What is usual among known numbers; dates are days since 1970."""
        return cls(np.array(Numbers.of(numbers, np.linspace(0, 1, GRID), "nearest").quantiles), is_date)

    def surprise(self, value: Any) -> float:
        """How far out in the tails a value is; beyond all rows, how far in widths of the middle 90 %."""
        x = _number(value)
        if x is None or self.grid.size == 0:
            return 0.0
        below = np.searchsorted(self.grid, x, side="left") / self.grid.size
        above = 1 - np.searchsorted(self.grid, x, side="right") / self.grid.size
        tail = min(1.0, 2 * min(1 - below, 1 - above) + 1 / self.grid.size)
        low, high = self._middle
        beyond = max(low - x, x - high, 0.0) / ((high - low) or abs(high) or 1.0)
        return float(-np.log10(tail) + min(beyond, 10) / 20)

    @cached_property
    def text(self) -> str:
        """The middle 90 %."""
        if self.grid.size == 0:
            return ""
        low, high = (show(end, self.is_date) for end in self._middle)
        return low if low == high else f"{low} – {high}"

    @cached_property
    def _middle(self) -> tuple[float, float]:
        low, high = np.quantile(self.grid, [0.05, 0.95], method="nearest")
        return float(low), float(high)


@dataclass(frozen=True)
class UsualValues:
    """What is usual in a column of categories."""

    categories: Categories

    def surprise(self, value: Any) -> float:
        """How few rows have a value that is no more frequent."""
        return float(-np.log10(max(self.categories.share_as_rare(show(value)), 1e-4)))

    @cached_property
    def text(self) -> str:
        """The most frequent values."""
        return ", ".join(self.categories.most_frequent(3))


class Usual:
    """What is usual in each column of a queue, as its page tells it.

    >>> frame = pl.DataFrame({"amount": [*range(99), 5000], "kind": ["a"] * 99 + ["b"]})
    >>> usual = Usual.learn(frame, Roles())
    >>> [field.name for field in usual.fields({"amount": 50, "kind": "b"})]
    ['kind', 'amount']
    """

    def __init__(self, columns: dict[str, UsualNumbers | UsualValues | None]) -> None:
        self._columns = columns

    @classmethod
    def learn(cls, frame: pl.DataFrame, roles: Roles) -> Usual:
        """Look at the columns that have no role."""
        sample = frame.sample(SAMPLE, seed=0) if frame.height > SAMPLE else frame
        hidden = {roles.id, roles.label}
        return cls({name: _usual(sample[name]) for name in frame.columns if name not in hidden})

    def fields(self, row: dict[str, Any]) -> list[Field]:
        """The columns of a row, most unusual first; equally unusual ones in the order of the table."""
        found = [self._field(name, row[name]) for name in self._columns if name in row]
        return sorted(found, key=lambda field: -round(field.surprise, 6) if field.is_unusual else 0)

    def _field(self, name: str, value: Any) -> Field:
        column = self._columns[name]
        if column is None or value is None:
            return Field(name, value, "" if column is None else column.text, 0.0)
        return Field(name, value, column.text, column.surprise(value))


def show(value: Any, as_date: bool = False) -> str:
    """A value as people write it.

    >>> show(12400.0), show(0.12345), show(None), show(19723.0, as_date=True)
    ('12,400', '0.123', '–', '2024-01-01')
    """
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    if as_date and isinstance(value, float):
        moment = dt.datetime.fromtimestamp(value * 86_400, dt.UTC)
        return moment.date().isoformat()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number_text(value)
    return str(value)


def _usual(column: pl.Series) -> UsualNumbers | UsualValues | None:
    known = column.drop_nulls()
    is_date = column.dtype in (pl.Date, pl.Datetime)
    if column.dtype.is_numeric() or is_date:
        return UsualNumbers.of(_as_numbers(known), is_date)
    if known.len() == 0 or column.dtype.is_nested() or column.dtype.is_temporal():
        return None
    words = pl.Series(map(show, known)) if column.dtype == pl.Boolean else known.cast(pl.String)
    categories = Categories.of(words)
    if known.len() / 2 < len(categories.shares) > MOST_CATEGORIES:
        return None  # free text: every value is as unusual as the next
    return UsualValues(categories)


def _as_numbers(series: pl.Series) -> NDArray[np.float64]:
    if series.dtype.is_temporal():
        return series.cast(pl.Datetime("us")).to_physical().to_numpy() / 86_400e6
    values = series.cast(pl.Float64).to_numpy()
    return values[np.isfinite(values)]


def _number(value: Any) -> float | None:
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=dt.UTC).timestamp() / 86_400
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days
    if isinstance(value, int | float):
        return float(value) if np.isfinite(value) else None
    return None
