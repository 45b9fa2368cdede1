"""How new rows differ from the rows that a model was trained on, in sentences."""

from __future__ import annotations

import numpy as np
import polars as pl

from shortlist.models.profile import ColumnProfile, Profile
from shortlist.tables import Table
from shortlist.tables.columns.words import number_text, percent

#: Fewer rows than this say little about how values are spread.
_FEWEST_ROWS = 30
_MOST_NOTES = 5


def drift_notes(table: Table, profile: Profile) -> list[str]:
    """Columns of the new rows whose values are spread otherwise than in training, the most marked first."""
    if len(table) < _FEWEST_ROWS:
        return []
    shifts = sorted(profile.shifts(table.X, table.schema), key=lambda shift: -shift[1])
    notes = [
        f"column {profile.columns[i].name!r} has shifted since training: {_change(table, i, profile.columns[i])} "
        f"(stability index {index:.2f})."
        for i, index in shifts[:_MOST_NOTES]
    ]
    if len(shifts) > _MOST_NOTES:
        notes.append(f"{len(shifts) - _MOST_NOTES} more columns have shifted; consider training anew.")
    return notes


def column_shifts(table: Table, profile: Profile | None) -> pl.DataFrame:
    """The stability index of every column, most shifted first."""
    every = () if profile is None else profile.indices(table.X, table.schema)
    rows = [{"column": table.schema.columns[i], "stability index": index} for i, index, _ in every]
    frame = pl.DataFrame(rows, schema={"column": pl.String, "stability index": pl.Float64})
    return frame.sort("stability index", descending=True, maintain_order=True)


def _change(table: Table, column: int, old: ColumnProfile) -> str:
    """What moved most: the gaps, the median, or a category's share."""
    values = table.X[:, column]
    missing = float(np.isnan(values).mean())
    if abs(missing - old.missing) > 0.2 or missing == 1:
        return f"{percent(missing)} of its values are missing, {percent(old.missing)} in training"
    if not table.schema.categorical[column]:
        median = float(np.nanmedian(values))
        return f"its median is {number_text(median)}, {number_text(old.quantiles[8])} in training"
    counts = old.counts(values, category=True)
    shares = counts / counts.sum()
    most = int(np.argmax(np.abs(shares[:-2] - np.asarray(old.shares[:-2]))))
    name = table.schema.value_text(column, old.bins[most])
    return f"{name!r} is {percent(shares[most])} of the rows, {percent(old.shares[most])} in training"
