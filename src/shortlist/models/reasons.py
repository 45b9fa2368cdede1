"""Why a row is on the shortlist, in words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.models.abilities import contributions
from shortlist.models.profile import Numbers, Profile
from shortlist.rankers.base import Ranker
from shortlist.tables import Table
from shortlist.tables.columns.words import number_text, percent

#: A value is called high or low if this share of the history lies on its other side.
_REMARKABLE = 0.8
#: Rows explained at a time: contributions take as much room as the rows themselves.
_BLOCK_ROWS = 10_000


def reasons(
    ranker: Ranker, table: Table, rows: NDArray[np.int64], profile: Profile, count: int = 3
) -> list[list[str]] | None:
    """The columns that lift each row's score most, strongest first; None where the ranker cannot tell.

    Only columns that raise a score are reasons to look at a row, so a row may have fewer than ``count``.
    """
    explained: list[list[str]] = []
    for start in range(0, rows.size, _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        parts = contributions(ranker, table.features.take(block))
        if parts is None:
            return None
        strongest = np.argsort(-parts, axis=1, kind="stable")[:, :count]
        explained += [
            [in_words(table, row, column, profile) for column in columns if part[column] > 0]
            for row, columns, part in zip(block, strongest, parts, strict=True)
        ]
    return explained


def in_words(table: Table, row: int, column: int, profile: Profile) -> str:
    """One value of one row, beside what history had."""
    schema, value = table.schema, float(table.X[row, column])
    feature, name = schema.feature_of_column[column], schema.label(column)
    if np.isnan(value):
        given = table.frame[feature.name][int(row)]
        return f"{name} missing" if given is None or feature.kind != "category" else f"{name} = {given} (new)"
    if feature.kind in ("category", "flag"):
        return f"{name} = {schema.value_text(column, value)}"
    if feature.kind == "date":
        return f"{name} {schema.value_text(column, value)}"
    return f"{name} {number_text(value)}{_place(profile.columns[column].numbers, value)}"


def _place(history: Numbers, value: float) -> str:
    for word, share in (("higher", history.share_below(value)), ("lower", history.share_above(value))):
        if share >= _REMARKABLE:
            return f" ({word} than {_percent(share)} of history)"
    return ""


def _percent(share: float) -> str:
    rounded_down = int(100 * share) / 100  # what is almost all is not all
    return "all" if share >= 1 else percent(rounded_down, digits=0)
