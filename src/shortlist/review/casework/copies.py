"""Near copies of a row: the same claim sent twice, the same payment split; decided together on demand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.review.casework.index import Index, Mask, index_of
from shortlist.review.desk.rows import Rows

#: Of so many columns one may differ.
PER_DIFFERENCE = 8
#: Numbers that differ by less, as a share of the larger, count as equal.
CLOSE = 0.01
MOST_COPIES = 50


@dataclass(frozen=True)
class Copy:
    """A row that is nearly the same, and the values in which it differs at all."""

    row: int
    id: str
    differences: dict[str, Any]


def near_copies(rows: Rows, row: int, taken: Iterable[int] = ()) -> list[Copy]:
    """Rows that agree with a row in all columns but one in eight, closest first; without those in ``taken``.

    Numbers agree within one percent. The id does not count, nor what each row has for itself.

    >>> import polars as pl
    >>> from shortlist.tables import Roles
    >>> frame = pl.DataFrame({"id": ["a", "b", "c"], "amount": [100.0, 100.5, 700.0], "shop": ["North"] * 3})
    >>> [(copy.id, copy.differences) for copy in near_copies(Rows(frame, Roles(id="id")), 0)]
    [('b', {'amount': 100.5})]
    """
    index, values = index_of(rows), rows.fields(row)
    columns = [name for name in index.columns if name != rows.roles.id]
    agreeing = np.zeros(len(index), dtype=np.int16)
    for name in columns:
        agreeing += _agrees(index, name, values[name])
    agreeing[[row, *taken, *rows.erased]] = -1
    found = np.flatnonzero(agreeing >= len(columns) - len(columns) // PER_DIFFERENCE)
    closest = found[np.argsort(-agreeing[found], kind="stable")][:MOST_COPIES]
    return [_copy(rows, int(other), columns, values) for other in closest]


def _agrees(index: Index, column: str, value: Any) -> Mask | NDArray[np.bool_]:
    series = index.table[column]
    if value is None:
        return series.is_null().to_numpy()
    if isinstance(value, bool | str | dt.date) or not series.dtype.is_numeric():
        return index.equal(column, value)
    number = float(value)  # exact decimals do not multiply by floats, and unsigned numbers have no difference
    near = (series.cast(pl.Float64) - number).abs() <= CLOSE * max(abs(number), 1e-12)
    return near.fill_null(False).to_numpy()


def _copy(rows: Rows, other: int, columns: list[str], values: dict[str, Any]) -> Copy:
    own = rows.fields(other)
    return Copy(other, rows.id(other), {name: own[name] for name in columns if own[name] != values[name]})
