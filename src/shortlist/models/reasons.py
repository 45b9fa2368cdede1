"""Why a row is on the shortlist, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.abilities import contributions
from shortlist.models.profile import Categories, Profile
from shortlist.models.statements import Statement, state
from shortlist.rankers.base import Ranker
from shortlist.tables import Feature, Table
from shortlist.tables.columns.formats import Format
from shortlist.tables.columns.values import clean_text

#: Rows explained at a time: contributions take as much room as the rows themselves.
_BLOCK_ROWS = 10_000


def reasons(
    ranker: Ranker,
    table: Table,
    rows: NDArray[np.int64],
    profile: Profile,
    count: int = 3,
    *,
    written: pl.DataFrame | None = None,
) -> list[list[str]] | None:
    """The columns that lift each row's score most, strongest first; None where the ranker cannot tell.

    Only columns that raise a score are reasons to look at a row, so a row may have fewer than ``count``.
    ``written``: rows that show how values are written; None: those of the table.
    """
    explained: list[list[str]] = []
    beside = BesideHistory(table, profile, written)
    for start in range(0, rows.size, _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        parts = contributions(ranker, table.features.take(block))
        if parts is None:
            return None
        strongest = np.argsort(-parts, axis=1, kind="stable")[:, :count]
        explained += [
            [beside.in_words(int(row), int(column)) for column in columns if part[column] > 0]
            for row, columns, part in zip(block, strongest, parts, strict=True)
        ]
    return explained


class BesideHistory:
    """The values of new rows, told beside what training had."""

    def __init__(self, table: Table, profile: Profile, written: pl.DataFrame | None = None) -> None:
        self.table, self.profile = table, profile
        self.written = table.frame if written is None else written
        self._formats: dict[str, Format] = {}

    def format(self, feature: Feature) -> Format:
        """How a column is written; learned when it is first asked for, because few columns are a reason."""
        name = feature.name
        if name not in self._formats:
            self._formats[name] = Format.learn_from(self.written[name], feature)
        return self._formats[name]

    def in_words(self, row: int, column: int) -> str:
        """One value of one row, beside what history had."""
        feature = self.table.schema.feature_of_column[column]
        if feature.kind == "text":
            return self._words(row, column)
        said = self._category(row, column) if feature.kind == "category" else self._number(row, column)
        return str(said.message(self.format(feature)))

    def _words(self, row: int, column: int) -> str:
        """What of a text lifts its row, in the words of the text."""
        feature, part = self.table.schema.feature_of_column[column], self.table.schema.parts[column]
        text = feature.texts(self.table.frame[feature.name][row : row + 1])[0]
        found = feature.text_weights.telling(text, part) if text is not None else []
        if found:
            return f"{feature.name}: {', '.join(map(repr, found))}"
        return (
            f"{feature.name} missing"
            if text is None
            else f"{feature.name} has no word that speaks against it"
        )

    def _number(self, row: int, column: int) -> Statement:
        schema, known = self.table.schema, self.profile.columns[column]
        feature, part = schema.feature_of_column[column], schema.parts[column]
        value = float(self.table.X[row, column])
        names = part == "number" and self.format(feature).names  # none of which is high, low or usual
        said = state(
            feature.name,
            part,
            None if np.isnan(value) else value,
            None if names else known.numbers,
            missing=known.missing,
        )
        if part != "number" or said.value is None:
            return said
        # History was counted in float32; what is shown has all its digits, and zeros in front where it is a code.
        given = self.table.frame[feature.name][row : row + 1]
        return replace(said, value=given[0] if feature.code else feature.encode(given).numbers[0][0])

    def _category(self, row: int, column: int) -> Statement:
        schema, known = self.table.schema, self.profile.columns[column]
        feature = schema.feature_of_column[column]
        value = clean_text(self.table.frame[feature.name][row : row + 1])[0]
        names = [feature.categories[int(code)] for code in known.bins]
        shares = dict(zip(names, known.shares, strict=False))
        counted = value in shares or value not in feature.categories
        others = Categories({name: share / (1 - known.missing) for name, share in shares.items()})
        return state(feature.name, "category", value, others if counted else None, missing=known.missing)
