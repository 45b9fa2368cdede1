"""Rows of any kind in, checked columns out: an array, a sparse matrix, a data frame, or a table's features.

Rankers, score spaces and streams all read their rows here; behind it, rows are trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.tables.columns.schema import Encoded, Schema
from shortlist.tables.io.frames import in_memory, is_frame
from shortlist.validation import check_matrix


def read_features(X: Any, schema: Schema | None = None, *, learn: bool = False) -> Any:
    """Rows with columns to encode as a table's features; rows that are numbers already as they are.

    schema : how a data frame is encoded; None: its values are numbers, as those of an array are
    learn : learn the schema from these rows

    >>> import polars as pl
    >>> read_features(pl.DataFrame({"make": ["Audi", "Fiat"]}), learn=True).matrix.tolist()
    [[0.0], [1.0]]
    """
    if isinstance(X, Encoded) or not is_frame(X):
        return X
    X = in_memory(X)
    schema = Schema.learn(X) if learn else schema
    return X if schema is None else schema.encode(X)


@dataclass(frozen=True, eq=False)
class Columns:
    """What was learned of the columns: their names, which hold categories, and how a data frame is encoded."""

    names: list[str]
    categorical: NDArray[np.bool_]
    schema: Schema | None = None

    @classmethod
    def learn(cls, X: Any) -> tuple[Self, NDArray]:
        """The columns of the first rows, and those rows as numbers; arrays get the names x0, x1, ..."""
        rows = read_features(X, learn=True)
        if isinstance(rows, Encoded):
            return cls.of_schema(rows.schema), check_matrix(rows.matrix, encoded=True)
        matrix = check_matrix(rows)
        width = matrix.shape[1]
        return cls([f"x{i}" for i in range(width)], np.zeros(width, dtype=bool)), matrix

    @classmethod
    def of_schema(cls, schema: Schema) -> Self:
        """The columns that a trained ranker learned."""
        return cls(list(schema.columns), schema.categorical, schema)

    def without_words(self, words: Mapping[str, Iterable[str]]) -> Self:
        """The same columns, in which these categories have no name any more; see ``Schema.without_words``."""
        return self if self.schema is None else replace(self, schema=self.schema.without_words(words))

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
        rows = read_features(X, self.schema)
        encoded = isinstance(rows, Encoded)
        matrix = check_matrix(rows.matrix if encoded else rows, encoded=encoded)
        if matrix.shape[1] != len(self.names):
            raise InvalidInputError(
                f"the rows have {matrix.shape[1]} columns, but the score space was made with {len(self.names)}: "
                f"{', '.join(self.names[:5])}{', ...' if len(self.names) > 5 else ''}. Give the same columns."
            )
        return matrix
