"""The rows of a queue as people see them: names, values, and how unusual each value is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import TableError
from shortlist.review.telling.fields import Usual
from shortlist.tables import Feature, Roles, Schema
from shortlist.tables.columns.values import is_text
from shortlist.tables.table import read_facts


class Rows:
    """Rows by position, in the order of the file; arrivals come after them.

    >>> rows = Rows(pl.DataFrame({"claim": ["a", "b"], "amount": [3.0, 5.0]}), Roles(id="claim"), "amount")
    >>> rows.position("b"), rows.value([0, 1])
    (1, 8.0)
    """

    def __init__(
        self,
        frame: pl.DataFrame,
        roles: Roles,
        value: str | None = None,
        schema: Schema | None = None,
        erased: Iterable[int] = (),
    ) -> None:
        self.roles, self.schema = roles, schema
        self.value_column = value
        self.erased = frozenset(erased)  # rows of which nothing is known any more, also some that will arrive
        self._formats: dict[str, str] = {}
        self._parts: list[pl.DataFrame] = []
        self._ids: list[NDArray | list[str]] = []
        self._values: list[NDArray[np.float64]] = []
        self._add(frame)

    def without(self, erased: Iterable[int], schema: Schema | None) -> Rows:
        """The same rows, with nothing known of some of them.

        >>> rows = Rows(pl.DataFrame({"claim": ["a", "b"], "amount": [3.0, 5.0]}), Roles(id="claim"), "amount")
        >>> left = rows.without([1], None)
        >>> left.id(1), left.fields(1), left.position("b"), left.value([0, 1])
        ('erased 1', {'claim': None, 'amount': None}, None, 3.0)
        """
        gone, start = self.erased.union(erased), 0
        first, *later = self._parts
        left = Rows(blank(first, gone, 0), self.roles, self.value_column, schema, gone)
        for part in later:
            start = len(left)
            left.append(blank(part, gone, start))
        left.write_as(self._formats)
        return left

    @cached_property
    def usual(self) -> Usual:
        """What is usual in each column, over all rows."""
        usual = Usual.learn(self._parts[0], self.roles, self.schema, self._formats)
        for part in self._parts[1:]:
            usual.add(part)
        return usual

    def write_as(self, formats: Mapping[str, str]) -> None:
        """What columns are, where people say so: names have no usual values, and are never high or low."""
        if formats != self._formats:
            self._formats = dict(formats)
            self.__dict__.pop("usual", None)

    def __len__(self) -> int:
        return sum(part.height for part in self._parts)

    @property
    def batches(self) -> tuple[int, ...]:
        """How many rows came together, and in every later batch."""
        return tuple(part.height for part in self._parts)

    def id(self, row: int) -> str:
        """What people call a row."""
        part, at = self._find(row)
        return str(self._ids[part][at])

    def position(self, id: str) -> int | None:
        """The row of this name, or None."""
        return self._positions.get(id)

    def fields(self, row: int) -> dict[str, Any]:
        """The columns of a row, in the order of the table."""
        part, at = self._find(row)
        return self._parts[part].row(at, named=True)

    def value(self, rows: Collection[int] | NDArray[np.int64]) -> float | None:
        """What these rows are worth together; None without a value column."""
        if self.value_column is None:
            return None
        at = rows if isinstance(rows, np.ndarray) else np.fromiter(rows, dtype=np.int64, count=len(rows))
        with np.errstate(over="ignore"):  # values that no number can hold the sum of: pages write a dash
            return float(self._all_values[at].sum())

    @property
    def values(self) -> NDArray[np.float64]:
        """What each row is worth; empty without a value column."""
        return self._all_values

    def check_values(self) -> None:
        """Refuse rows that are worth infinitely much: their sum would tell nothing."""
        for part, values in zip(self._parts, self._values, strict=True):
            _check_finite(values, part, self.value_column)

    def features(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The columns that rows are ranked by."""
        taken = [name for name in self.roles.names if name in frame.columns]
        return frame.drop(taken)

    def check_new(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Rows that may be appended, with the columns of this table; refuses what does not fit."""
        first = self._parts[0]
        needed = [name for name in first.columns if name != self.roles.label]
        missing = [name for name in needed if name not in frame.columns]
        if missing:
            raise TableError(
                f"the new rows lack the columns {', '.join(missing)}. Add them, empty where unknown."
            )
        ids = _id_texts(frame, self.roles, len(self), ())
        repeated = [str(id) for id in ids if str(id) in self._positions]
        if repeated:
            raise TableError(
                f"{len(repeated)} of the new rows are in the queue already, {repeated[0]!r} for one. "
                "Append only rows that are new."
            )
        _check_finite(_values(frame, self.value_column), frame, self.value_column)
        label = self.roles.label
        if label in first.columns and label not in frame.columns:
            frame = frame.with_columns(pl.lit(None).alias(label))
        try:
            return frame.select(_cast(frame[name], dtype) for name, dtype in first.schema.items())
        except pl.exceptions.PolarsError as error:
            raise TableError(f"the new rows do not fit: {str(error).splitlines()[0]}") from None

    def append(self, frame: pl.DataFrame) -> None:
        """Take rows that ``check_new`` let through."""
        self._add(frame)
        if "usual" in self.__dict__:
            self.usual.add(frame)

    def _add(self, frame: pl.DataFrame) -> None:
        frame = _plain(frame)
        self._ids.append(_id_texts(frame, self.roles, len(self), self.erased))
        self._values.append(_values(frame, self.value_column))
        self._parts.append(frame)
        for made in ("_positions", "_starts", "_all_values", "table"):
            self.__dict__.pop(made, None)

    def frame(self, rows: Sequence[int]) -> pl.DataFrame:
        """Some rows as a table."""
        return self.table[list(rows)]

    @cached_property
    def table(self) -> pl.DataFrame:
        """All rows."""
        return pl.concat(self._parts)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {str(id): row for row, id in enumerate(id for ids in self._ids for id in ids)}

    @cached_property
    def _all_values(self) -> NDArray[np.float64]:
        return np.concatenate(self._values)

    @cached_property
    def _starts(self) -> list[int]:
        return np.cumsum([0, *(part.height for part in self._parts)]).tolist()

    def _find(self, row: int) -> tuple[int, int]:
        if len(self._parts) == 1:
            return 0, row
        part = bisect_right(self._starts, row) - 1
        return part, row - self._starts[part]


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype in (pl.Date, pl.Datetime) and is_text(column.dtype):
        column = Feature(column.name, "date").dates(column)
    return column.cast(dtype)


def blank(frame: pl.DataFrame, erased: Iterable[int], first: int) -> pl.DataFrame:
    """Rows without the values of those that were erased; ``first`` is the number of the first of them."""
    gone = _within(frame, erased, first)
    if not gone:
        return frame
    stays = pl.Series(~np.isin(np.arange(frame.height), gone))
    return _plain(frame).select(pl.when(stays).then(pl.col(name)).alias(name) for name in frame.columns)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Words as text: a column of categories knows them all, also those that no row has any more."""
    coded = [name for name, dtype in frame.schema.items() if dtype in (pl.Categorical, pl.Enum)]
    return frame.with_columns(pl.col(coded).cast(pl.String)) if coded else frame


def _within(frame: pl.DataFrame, rows: Iterable[int], first: int) -> list[int]:
    return [row - first for row in rows if 0 <= row - first < frame.height]


def _id_texts(frame: pl.DataFrame, roles: Roles, first: int, erased: Iterable[int]) -> NDArray | list[str]:
    gone = _within(frame, erased, first)
    if gone:
        known = np.delete(np.arange(frame.height), gone)
        names = np.empty(frame.height, dtype=object)
        names[gone] = [f"erased {first + at}" for at in gone]
        names[known] = read_facts(frame[known], roles, labelled=False).ids if roles.id else known + 1 + first
        return names
    ids = read_facts(frame, roles, labelled=False).ids
    return ids if roles.id is not None else ids + first


def _values(frame: pl.DataFrame, column: str | None) -> NDArray[np.float64]:
    if column is None:
        return np.zeros(0)
    if column not in frame.columns:
        raise TableError(f"there is no column {column!r} to add up; the columns: {', '.join(frame.columns)}.")
    values = frame[column].cast(pl.Float64, strict=False)
    if values.null_count() > frame[column].null_count():
        raise TableError(f"the value column {column!r} must hold numbers; it is {frame[column].dtype}.")
    return values.fill_nan(0).fill_null(0).to_numpy()


def _check_finite(values: NDArray[np.float64], frame: pl.DataFrame, column: str | None) -> None:
    endless = np.flatnonzero(~np.isfinite(values))
    if endless.size:
        raise TableError(
            f"the value column {column!r} is infinite in {endless.size:,} of {frame.height:,} rows, the first of them "
            f"row {endless[0] + 1:,}; replace these by a number, or leave them empty."
        )
