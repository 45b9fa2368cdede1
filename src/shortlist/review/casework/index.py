"""The table of a queue, ready to be searched: columns with few different words are searched word by word."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.review.desk.rows import Rows
from shortlist.tables.columns.values import is_text

#: A column is searched word by word if this many rows share a word, on average.
SHARED = 4

Mask = NDArray[np.bool_]


class Index:
    """All rows of a queue as one table.

    >>> from shortlist.tables import Roles
    >>> index = Index(Rows(pl.DataFrame({"id": ["a", "b", "c"], "shop": ["North", "South", "North"]}), Roles(id="id")))
    >>> index.containing("shop", "nor").tolist(), index.equal("shop", "South").tolist()
    ([True, False, True], [False, True, False])
    """

    def __init__(self, rows: Rows) -> None:
        self.table, self.erased = rows.table, rows.erased
        self.columns = [name for name in self.table.columns if name != rows.roles.label]
        self._coded: dict[str, tuple[pl.Series, NDArray[np.uint32]] | None] = {}

    def __len__(self) -> int:
        return self.table.height

    def equal(self, column: str, value: Any) -> Mask:
        """Rows with this value; a missing value is like none."""
        coded = self._words(column)
        if coded is None or value is None:
            held = None if value is None else self.table.select(pl.col(column) == pl.lit(value)).to_series()
            return _mask(held, len(self))
        return _mask(coded[0] == value, coded[0].len())[coded[1]]

    def containing(self, column: str, text: str) -> Mask:
        """Rows whose text holds this one, in large or small letters."""
        coded = self._words(column)
        words = self.table[column] if coded is None else coded[0]
        found = words.to_frame("word").select(
            pl.col("word").cast(pl.String).str.contains_any([text], ascii_case_insensitive=True)
        )
        mask = _mask(found.to_series(), words.len())
        return mask if coded is None else mask[coded[1]]

    @cached_property
    def texts(self) -> list[str]:
        """Columns that hold text."""
        return [name for name in self.columns if is_text(self.table[name].dtype)]

    def _words(self, column: str) -> tuple[pl.Series, NDArray[np.uint32]] | None:
        """The different words of a text column and which one each row has; None where most rows have their own."""
        if column not in self._coded:
            self._coded[column] = _coded(self.table[column])
        return self._coded[column]


_INDEXES: WeakKeyDictionary[Rows, Index] = WeakKeyDictionary()


def index_of(rows: Rows) -> Index:
    """The index of these rows, made when it is first asked for, and anew when rows have arrived."""
    index = _INDEXES.get(rows)
    if index is None or len(index) != len(rows):
        index = _INDEXES[rows] = Index(rows)
    return index


def _coded(column: pl.Series) -> tuple[pl.Series, NDArray[np.uint32]] | None:
    if not is_text(column.dtype):
        return None
    text = column.cast(pl.String)
    words = text.unique().sort(nulls_last=True)
    if words.len() * SHARED > max(column.len(), 100):
        return None
    # Gaps have the code after the last word; the words end with one if there are any.
    known = words.drop_nulls()
    codes = text.cast(pl.Enum(known)).to_physical().fill_null(known.len())
    return words, codes.to_numpy()


def _mask(found: pl.Series | None, n_rows: int) -> Mask:
    return np.zeros(n_rows, dtype=bool) if found is None else found.fill_null(False).to_numpy()
