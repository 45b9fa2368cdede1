"""Columns become numbers: each is read once, whole, and what a user should know of it is told in the same pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import TableError
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.words import listed

#: Rows of the matrix filled at a time: they are gathered column by column in the processor's cache, then turned.
_BLOCK_ROWS = 1 << 14


def encode_columns(
    features: Sequence[Feature], table: pl.DataFrame
) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """The rows as numbers, NaN where missing, and notes on the columns; raises SchemaError where they do not fit."""
    numbers: list[pl.Series] = []
    sources: list[Feature] = []
    notes: list[str] = []
    for feature in features:
        parts = feature.encode(table[feature.name])
        numbers += parts.numbers
        sources += [feature] * len(parts.numbers)
        notes += _notes_on(feature, table[feature.name], parts.unseen)
    return _matrix(numbers, sources, table), tuple(notes)


def _matrix(numbers: list[pl.Series], sources: list[Feature], table: pl.DataFrame) -> NDArray[np.float32]:
    """Written row by row: one column after the other would fetch every row of the matrix for every column."""
    out = np.empty((table.height, len(numbers)), dtype=np.float32)
    for start in range(0, table.height, _BLOCK_ROWS):
        rows = out[start : start + _BLOCK_ROWS]
        block = np.empty((len(numbers), len(rows)), dtype=np.float32)
        for into, column in zip(block, numbers, strict=True):
            into[:] = column.slice(start, _BLOCK_ROWS).cast(pl.Float32).to_numpy()
        if np.isinf(block).any():
            raise _infinite(block, sources, table, start)
        rows[:] = block.T
    return out


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


def _notes_on(feature: Feature, series: pl.Series, unseen: pl.Series | None) -> list[str]:
    if len(series) and series.null_count() == len(series):
        return [f"column {feature.name!r} has no values here."]
    if unseen is None or unseen.is_empty():
        return []
    counts = unseen.value_counts(sort=True, name="rows")
    shown = listed([f"{value!r} ({count})" for value, count in counts.iter_rows()])
    return [
        f"column {feature.name!r} has values that training did not have, in {len(unseen)} rows: {shown}; read as "
        "missing."
    ]
