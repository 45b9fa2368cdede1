"""The rows of a queue as people see them: names, values, and how unusual each value is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import TableError
from shortlist.review.desk.fields import Usual
from shortlist.tables import Feature, Roles
from shortlist.tables.columns.values import is_text
from shortlist.tables.table import read_facts


class Rows:
    """Rows by position, in the order of the file; arrivals come after them.

    >>> rows = Rows(pl.DataFrame({"claim": ["a", "b"], "amount": [3.0, 5.0]}), Roles(id="claim"), "amount")
    >>> rows.position("b"), rows.value([0, 1])
    (1, 8.0)
    """

    def __init__(self, frame: pl.DataFrame, roles: Roles, value: str | None = None) -> None:
        self.roles = roles
        self.value_column = value
        self._parts = [frame]
        self._ids = [_id_texts(frame, roles, 0)]
        self._values = [_values(frame, value)]
        self.usual = Usual.learn(frame, roles)

    def __len__(self) -> int:
        return sum(part.height for part in self._parts)

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

    def value(self, rows: Sequence[int]) -> float | None:
        """What these rows are worth together; None without a value column."""
        if self.value_column is None:
            return None
        places = [self._find(row) for row in rows]
        return float(sum(self._values[part][at] for part, at in places))

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
        ids = _id_texts(frame, self.roles, len(self))
        repeated = [str(id) for id in ids if str(id) in self._positions]
        if repeated:
            raise TableError(
                f"{len(repeated)} of the new rows are in the queue already, {repeated[0]!r} for one. "
                "Append only rows that are new."
            )
        label = self.roles.label
        if label in first.columns and label not in frame.columns:
            frame = frame.with_columns(pl.lit(None).alias(label))
        try:
            return frame.select(_cast(frame[name], dtype) for name, dtype in first.schema.items())
        except pl.exceptions.PolarsError as error:
            raise TableError(f"the new rows do not fit: {str(error).splitlines()[0]}") from None

    def append(self, frame: pl.DataFrame) -> None:
        """Take rows that ``check_new`` let through."""
        ids = _id_texts(frame, self.roles, len(self))
        self.__dict__.pop("_positions", None)
        self._ids.append(ids)
        self._values.append(_values(frame, self.value_column))
        self._parts.append(frame)
        self.__dict__.pop("_starts", None)

    def frame(self, rows: Sequence[int]) -> pl.DataFrame:
        """Some rows as a table."""
        return pl.concat(self._parts)[list(rows)]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {str(id): row for row, id in enumerate(id for ids in self._ids for id in ids)}

    @cached_property
    def _starts(self) -> list[int]:
        return np.cumsum([0, *(part.height for part in self._parts)]).tolist()

    def _find(self, row: int) -> tuple[int, int]:
        part = bisect_right(self._starts, row) - 1
        return part, row - self._starts[part]


def _cast(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype in (pl.Date, pl.Datetime) and is_text(column.dtype):
        column = Feature(column.name, "date").dates(column)
    return column.cast(dtype)


def _id_texts(frame: pl.DataFrame, roles: Roles, first: int) -> NDArray | list[str]:
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
