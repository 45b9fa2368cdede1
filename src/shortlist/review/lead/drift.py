"""How far the rows that were added to a queue lie from those it was made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from shortlist.models.profile import Profile, Shift, sample_rows
from shortlist.review.desk.rows import Rows
from shortlist.tables import Schema


@dataclass(frozen=True)
class Drift:
    """The columns of the new rows beside those of the first, most shifted first."""

    first_rows: int
    new_rows: int
    shifts: tuple[Shift, ...]


#: The drift of a queue is that of its rows: it stays until more are added.
_KNOWN: WeakKeyDictionary[Rows, Drift] = WeakKeyDictionary()


def drift(rows: Rows, schema: Schema, first_rows: int) -> Drift | None:
    """The drift of a queue that started with ``first_rows``; None while no row was added."""
    new_rows = len(rows) - first_rows
    if new_rows == 0:
        return None
    known = _KNOWN.get(rows)
    if known is None or known.new_rows != new_rows:
        old = _matrix(rows, schema, sample_rows(first_rows).tolist())
        new = _matrix(rows, schema, (first_rows + sample_rows(new_rows)).tolist())
        shifts = Profile.of(old, schema).shifts(new, schema)
        known = Drift(first_rows, new_rows, tuple(sorted(shifts, key=lambda shift: -shift.stability)))
        _KNOWN[rows] = known
    return known


def _matrix(rows: Rows, schema: Schema, positions: Sequence[int]) -> NDArray[np.float32]:
    return schema.encode(rows.features(rows.frame(positions))).matrix
