"""Columns become numbers: each is read once, whole, and what a user should know of it is told in the same pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import TableError
from shortlist.tables.columns.feature import Feature, Parts
from shortlist.tables.columns.words import listed
from shortlist.tables.problems import Problems

#: Rows of the matrix filled at a time: they are gathered column by column in the processor's cache, then turned. No
#: power of two: the values of a row would then lie in the same few places of the cache, and turning took twice as long.
_BLOCK_ROWS = 10_000
#: Different values of a column that are counted for a remark on it.
_MOST_VALUES = 100_000


@dataclass(frozen=True, eq=False)
class Remark:
    """What a user should know of one column of new rows; remarks on parts of a table can be joined.

    empty : how many rows have no value
    odd : what was read as missing, by what is said of it: each value with the number of its rows
    """

    column: str
    rows: int
    empty: int
    odd: dict[str, pl.DataFrame]

    @classmethod
    def on(cls, feature: Feature, series: pl.Series, parts: Parts) -> Remark:
        """The remark on a column that was encoded."""
        said = {
            "has values that training did not have": parts.unseen,
            "has words for what is not known": parts.gaps,
        }
        odd = {
            what: values.alias("value").value_counts(sort=True, name="rows")
            for what, values in said.items()
            if values is not None and len(values)
        }
        return cls(feature.name, len(series), series.null_count(), odd)

    def joined(self, other: Remark) -> Remark:
        """The remark on the rows of both."""
        both = [*dict.fromkeys((*self.odd, *other.odd))]
        odd = {what: _summed([each.odd[what] for each in (self, other) if what in each.odd]) for what in both}
        return replace(self, rows=self.rows + other.rows, empty=self.empty + other.empty, odd=odd)

    @property
    def notes(self) -> list[str]:
        """The remark in words."""
        if self.rows and self.empty == self.rows:
            return [f"column {self.column!r} has no values here."]
        return [
            f"column {self.column!r} {what}, in {counted(int(values['rows'].sum()), 'row')}: {_listed(values)}; read "
            "as missing."
            for what, values in self.odd.items()
        ]


def _summed(counts: list[pl.DataFrame]) -> pl.DataFrame:
    """Values with the rows of all counts, most frequent first; of very many the rarest are counted together."""
    if len(counts) == 1:
        return counts[0]
    added = pl.concat(counts, how="vertical_relaxed").group_by("value", maintain_order=True).sum()
    ranked = added.sort("rows", descending=True, maintain_order=True)
    if ranked.height <= _MOST_VALUES:
        return ranked
    rest = ranked[_MOST_VALUES:].select(
        value=pl.lit("...").cast(ranked["value"].dtype), rows=pl.col("rows").sum()
    )
    return pl.concat([ranked[:_MOST_VALUES], rest.head(1)])


def _listed(values: pl.DataFrame) -> str:
    return listed([f"{value!r} ({count})" for value, count in values.iter_rows()])


def encode_columns(
    features: Sequence[Feature], table: pl.DataFrame
) -> tuple[NDArray[np.float32], tuple[Remark, ...]]:
    """The rows as numbers, NaN where missing, and remarks on the columns; raises SchemaError where they do not fit."""
    numbers: list[pl.Series] = []
    sources: list[Feature] = []
    remarks: list[Remark] = []
    problems = Problems()
    for feature in features:
        with problems.collected():
            parts = feature.encode(table[feature.name])
            numbers += parts.numbers
            sources += [feature] * len(parts.numbers)
            remarks.append(Remark.on(feature, table[feature.name], parts))
    problems.check()
    return _matrix(numbers, sources, table), tuple(remarks)


def _matrix(numbers: list[pl.Series], sources: list[Feature], table: pl.DataFrame) -> NDArray[np.float32]:
    """Written row by row: one column after the other would fetch every row of the matrix for every column."""
    out = np.empty((table.height, len(numbers)), dtype=np.float32)
    columns = [*map(_as_it_lies, numbers)]
    for start in range(0, table.height, _BLOCK_ROWS):
        rows = out[start : start + _BLOCK_ROWS]
        block = np.empty((len(numbers), len(rows)), dtype=np.float32)
        for into, column in zip(block, columns, strict=True):
            part = column[start : start + _BLOCK_ROWS]
            into[:] = part if isinstance(part, np.ndarray) else part.cast(pl.Float32).to_numpy()
        if np.isinf(block).any():
            raise _infinite(block, sources, table, start)
        rows[:] = block.T
    return out


def _as_it_lies(column: pl.Series) -> pl.Series | NDArray[np.float32]:
    """The numbers of a column where they can be had without a copy, or else the column."""
    at_hand = column.dtype == pl.Float32 and column.n_chunks() == 1 and not column.null_count()
    return column.to_numpy() if at_hand else column


def _infinite(
    block: NDArray[np.float32], sources: list[Feature], table: pl.DataFrame, first_row: int
) -> TableError:
    infinite = np.isinf(block)
    column = int(np.argmax(infinite.any(axis=1)))
    name, row = sources[column].name, first_row + int(np.argmax(infinite[column]))
    return TableError(
        f"column {name!r} has infinite values, or ones too large for float32, the first in row {row + 1:,} "
        f"({table[name][row]}); replace them by a number, or leave them empty."
    )
