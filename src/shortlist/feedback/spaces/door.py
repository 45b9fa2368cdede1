"""The door of a score space: rows in as an array, a data frame or a table's features, out as a checked matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.tables import Encoded, Schema

#: Rows are checked this many at a time, which needs little memory.
ROWS_AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class Door:
    """What was learned of the columns: their names, which hold categories, and how a data frame is encoded."""

    names: list[str]
    categorical: NDArray[np.bool_]
    schema: Schema | None = None

    @classmethod
    def learn(cls, X: Any) -> Self:
        """Read the columns of the first rows; arrays get the names x0, x1, ..."""
        if isinstance(X, Encoded):
            return cls.of_schema(X.schema)
        if nw.dependencies.is_into_dataframe(X):
            return cls.of_schema(Schema.learn(X))
        matrix = _as_matrix(X)
        return cls([f"x{i}" for i in range(matrix.shape[1])], np.zeros(matrix.shape[1], dtype=bool))

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """The columns that a trained ranker learned."""
        return cls(list(schema.columns), schema.categorical, schema)

    @property
    def labels(self) -> list[str]:
        """What people call the columns."""
        return self.names if self.schema is None else [*map(self.schema.label, range(len(self.names)))]

    def value_text(self, column: int, value: float) -> str:
        """A value of a column in the words of the table."""
        return f"{value:g}" if self.schema is None else self.schema.value_text(column, value)

    def is_flag(self, column: int) -> bool:
        """Whether a column holds true and false."""
        return self.schema is not None and self.schema.kinds[column] == "flag"

    def matrix(self, X: Any) -> NDArray:
        """Rows as float32 or float64, NaN = missing, categories as codes."""
        if isinstance(X, Encoded):
            X = X.matrix
        elif nw.dependencies.is_into_dataframe(X) and self.schema is not None:
            X = self.schema.matrix(X)
        matrix = _as_matrix(X)
        if matrix.shape[1] != len(self.names):
            raise InvalidInputError(
                f"the rows have {matrix.shape[1]} columns, but the score space was made with {len(self.names)}: "
                f"{', '.join(self.names[:5])}{', ...' if len(self.names) > 5 else ''}. Give the same columns."
            )
        return matrix


def _as_matrix(X: Any) -> NDArray:
    try:
        matrix = np.asarray(X)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"X must hold numbers ({error}). Give text and dates as a data frame: they are encoded there."
        ) from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInputError(f"X must have rows and columns; its shape is {matrix.shape}.")
    for start in range(0, matrix.shape[0], ROWS_AT_ONCE):
        infinite = np.isinf(matrix[start : start + ROWS_AT_ONCE]).any(axis=1)
        if infinite.any():
            raise InvalidInputError(
                f"X has infinite values, the first in row {start + int(np.argmax(infinite))} (counted from 0). "
                "Replace them with a finite number, or with NaN if they are unknown."
            )
    return matrix
