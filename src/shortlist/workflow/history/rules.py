"""Rankings that people use without a model: a score they have, or a column to sort by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import SchemaError
from shortlist.tables.numbers import read_numbers


@dataclass(frozen=True)
class Rule:
    """Sort by a column; rows without a value come last.

    >>> Rule.parse("amount asc").score(pl.DataFrame({"amount": [3, None, 5]}))
    array([-3., -6., -5.])
    """

    column: str
    descending: bool = True

    @classmethod
    def parse(cls, text: str) -> Rule:
        """``"amount"``, ``"amount desc"`` or ``"amount asc"``."""
        column, _, order = text.strip().rpartition(" ")
        if column and order.lower() in ("asc", "desc"):
            return cls(column.strip(), order.lower() == "desc")
        return cls(text.strip())

    @property
    def name(self) -> str:
        """The rule as people write it."""
        return f"{self.column} {'desc' if self.descending else 'asc'}"

    def score(self, frame: pl.DataFrame) -> NDArray[np.float64]:
        """Larger = sooner."""
        if self.column not in frame.columns:
            raise SchemaError(
                f"there is no column {self.column!r} to sort by; the columns are {', '.join(frame.columns)}. "
                'Write "COLUMN desc" or "COLUMN asc".'
            )
        values = read_numbers(frame[self.column], "baseline").cast(pl.Float64).fill_null(np.nan).to_numpy()
        score = values if self.descending else -values
        known = score[~np.isnan(score)]
        return np.where(np.isnan(score), known.min() - 1 if known.size else 0.0, score)
