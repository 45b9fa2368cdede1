"""Rows evenly spread over a table whose length nobody knows yet."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

#: Rows that are kept at most; half of them at least, where there are so many.
MOST_ROWS = 100_000


class EvenSample:
    """Every n-th row of a table that comes in batches; n doubles when there are too many.

    >>> sample = EvenSample(most=3)
    >>> for start in (0, 4):
    ...     sample.add(start, pl.DataFrame({"row": range(start, start + 4)}))
    >>> sample.frame["row"].to_list()
    [0, 4]
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self.most, self.step = most, 1
        self._rows: list[NDArray[np.int64]] = []
        self._frames: list[pl.DataFrame] = []

    def add(self, start: int, frame: pl.DataFrame) -> None:
        """A batch whose first row has the number ``start``."""
        while self._n_rows + self._taken(start, frame.height).size > self.most:
            self._thin()
        self._rows.append(start + self._taken(start, frame.height))
        self._frames.append(frame.gather_every(self.step, -start % self.step))

    @property
    def _n_rows(self) -> int:
        return sum(rows.size for rows in self._rows)

    def _taken(self, start: int, n_rows: int) -> NDArray[np.int64]:
        return np.arange(-start % self.step, n_rows, self.step)

    def _thin(self) -> None:
        """Keep every other row."""
        self.step *= 2
        kept = [np.flatnonzero(rows % self.step == 0) for rows in self._rows]
        self._rows = [rows[keep] for rows, keep in zip(self._rows, kept, strict=True)]
        self._frames = [part[keep] for part, keep in zip(self._frames, kept, strict=True)]

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as they were read."""
        return pl.concat(self._frames, how="vertical_relaxed")

    @property
    def rows(self) -> NDArray[np.int64]:
        """Their numbers in the table, from 0."""
        return np.concatenate(self._rows)
