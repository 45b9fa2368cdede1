"""Rows that a score space is made with: an array or a data frame here, or a table whose rows lie on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Integers
from shortlist.tables.features import Columns
from shortlist.tables.io.frames import is_spread


class GivenRows(Protocol):
    """Rows, wherever they are."""

    columns: Columns
    n_rows: int

    def take(self, drawn: Sequence[Integers]) -> Iterable[NDArray]:
        """Rows as numbers, by their positions, for each of several draws."""

    def placed(self, space: Any) -> Any:
        """A ``ScoreSpace`` that has no rows yet, with all of them."""


def given_rows(X: Any, columns: Columns | None = None) -> GivenRows:
    """The rows of a table; columns are learned from it where they are not known."""
    if is_spread(X):
        # Rankers and what trains them on clusters come along: what is here is used without them.
        from shortlist.feedback.spread.held import HeldRows  # noqa: PLC0415

        return HeldRows(X, columns)
    return RowsHere(X, columns)


def rows_here(X: Any) -> RowsHere:
    """The rows of a table for an ensemble that looks at all of them at once, so that they cannot stay elsewhere."""
    if is_spread(X):
        raise InvalidInputError(
            "this ensemble is made on one machine, and X is a table of Dask. Give it rows that fit into memory, "
            "X.compute() say, or take an isolation forest or LODA, whose rows may stay on the workers."
        )
    return RowsHere(X)


class RowsHere:
    """Rows in the memory of this process, as numbers."""

    def __init__(self, X: Any, columns: Columns | None = None) -> None:
        self.columns, self.matrix = Columns.learn(X) if columns is None else (columns, columns.matrix(X))
        self.n_rows = self.matrix.shape[0]

    def take(self, drawn: Sequence[Integers]) -> Iterable[NDArray]:
        """One draw after the other, so that few are held at a time."""
        return (self.matrix[rows] for rows in drawn)

    def placed(self, space: Any) -> Any:
        """Place them at once."""
        return space.fill([self.matrix], self.n_rows)
