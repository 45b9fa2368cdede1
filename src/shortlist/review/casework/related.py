"""Rows that share a value with a row: how many there are, what was said of them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shortlist.review.casework.index import Index, index_of
from shortlist.review.desk.rows import Rows
from shortlist.verdicts import Verdict

#: A value that more than this share of all rows have says little about which rows belong together.
COMMON = 0.05


@dataclass(frozen=True)
class Related:
    """The other rows with the same value in one column."""

    column: str
    value: Any
    others: int
    wanted: int
    not_wanted: int
    worth: float | None  # of all these rows; None without a value column
    is_common: bool


def related(
    rows: Rows, said: Mapping[int, Verdict], row: int, columns: Iterable[str] | None = None
) -> list[Related]:
    """What other rows share with a row, rarest first; ``columns`` names those to look at, in that order.

    >>> import polars as pl
    >>> from shortlist.tables import Roles
    >>> frame = pl.DataFrame({"id": ["a", "b", "c"], "shop": ["North"] * 2 + ["South"], "amount": [1.0, 2.0, 4.0]})
    >>> (shop,) = related(Rows(frame, Roles(id="id"), "amount"), {1: Verdict.WANTED}, 0)
    >>> shop.column, shop.others, shop.wanted, shop.worth
    ('shop', 1, 1, 2.0)
    """
    index, values = index_of(rows), rows.fields(row)
    named = [name for name in index.columns if name != rows.roles.id] if columns is None else list(columns)
    known = [name for name in named if values.get(name) is not None]
    found = [_related(index, rows, said, row, name, values[name]) for name in known]
    shared = [each for each in found if each.others or columns is not None]
    return shared if columns is not None else sorted(shared, key=lambda each: each.others)


def _related(
    index: Index, rows: Rows, said: Mapping[int, Verdict], row: int, column: str, value: Any
) -> Related:
    same = index.equal(column, value)
    same[row] = False
    others = np.flatnonzero(same)
    told = [verdict for other, verdict in said.items() if same[other]]
    return Related(
        column,
        value,
        others.size,
        told.count(Verdict.WANTED),
        told.count(Verdict.NOT_WANTED),
        rows.value(others),
        others.size > COMMON * len(index),
    )
