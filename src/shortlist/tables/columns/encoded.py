"""Features as numbers, beside the schema that made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.tables.columns.schema import Schema


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows that are encoded already: a ranker takes them as X without learning a schema of its own."""

    matrix: NDArray[np.float32]
    schema: Schema

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of the matrix."""
        return self.matrix.shape

    def take(self, rows: NDArray | slice) -> Encoded:
        """Some of the rows, by position, mask or slice."""
        return Encoded(self.matrix[rows], self.schema)
