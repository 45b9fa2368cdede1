"""Rows that were looked at only because chance drew them: what they say of all rows that nobody looked at.

Outcomes come back for rows that people look at, and those are no sample of all rows. A random check with chance c
stands for 1/c rows that were not looked at for their rank; a row looked at for its rank stands for itself. Sums with
these weights are right on average for all rows (Horvitz and Thompson).
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.tables.numbers import read_numbers

#: So many standard errors off, the number of rows that checks stand for is not what chance makes of it.
_FAR_OFF = 4.0


def read_chances(values: pl.Series) -> pl.Series:
    """The chance that each row had of being drawn as a random check; null where it was looked at for its rank."""
    chances = read_numbers(values, "checked").cast(pl.Float64)
    if ((chances <= 0) | (chances > 1)).any():
        raise InvalidInputError(
            f"column {values.name!r} must hold the chance that a row was drawn as a random check, above 0 and at most "
            "1; leave it empty for rows that were looked at for their rank."
        )
    return chances


def row_weights(chances: pl.Series) -> NDArray[np.float64]:
    """How many rows each row stands for.

    >>> row_weights(pl.Series([0.5, None]))
    array([2., 1.])
    """
    return (1 / chances.fill_null(1.0)).to_numpy()


def on_checks(chances: pl.Series, n_rows: int) -> tuple[str, ...]:
    """What is told of the rows that were looked at: ``chances`` are theirs, ``n_rows`` all that there are."""
    drawn = chances.drop_nulls().to_numpy()
    if not drawn.size:
        raise InvalidInputError(
            f"column {chances.name!r} marks no row as a random check, so nobody knows what the rows are like that "
            "nobody looked at. Draw some at random, or leave --checked out to learn from the others as they are."
        )
    ranked, stand_for = len(chances) - drawn.size, float((1 / drawn).sum())
    says = (
        f"learned from {counted(ranked, 'row')} looked at for their rank and {counted(drawn.size, 'random check')}, "
        f"each weighed by one over its chance: the checks stand for about {counted(round(stand_for), 'row')}."
    )
    error = float(np.sqrt(((1 - drawn) / drawn**2).sum()))
    others = n_rows - ranked
    if n_rows == len(chances) or abs(stand_for - others) <= _FAR_OFF * error + 1:
        return (says,)
    return (
        says,
        f"{counted(others, 'row')} were not looked at for their rank, which is far from the number that the "
        f"checks stand for: are the chances in column {chances.name!r} right, and are all rows in the history?",
    )
