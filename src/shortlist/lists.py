"""Rows that are ranked against each other only: the lists of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Lists:
    """How rows fall into lists.

    ``order`` puts the rows of a list next to each other (rows keep their order within a list), and list ``l``
    is ``order[starts[l]:starts[l + 1]]``. Lists are numbered by first appearance, so renaming them changes
    nothing.

    >>> lists = Lists.from_groups(["b", "a", "b"])
    >>> lists.order, lists.starts
    (array([0, 2, 1]), array([0, 2, 3]))
    >>> lists.of_row
    array([0, 1, 0])
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def single(cls, n_rows: int) -> Lists:
        """All rows are one list."""
        return cls(np.arange(n_rows), np.array([0, n_rows]))

    @classmethod
    def from_groups(cls, groups: NDArray | list) -> Lists:
        """Lists by equal values of ``groups``, one value per row."""
        number = _number_by_appearance(np.asarray(groups))
        return cls(np.argsort(number, kind="stable"), np.append(0, np.cumsum(np.bincount(number))))

    def __len__(self) -> int:
        return self.starts.size - 1

    def part(self, rows: NDArray) -> Lists:
        """How some of the rows, by position, fall into lists.

        >>> Lists.from_groups(["b", "a", "b"]).part(np.array([1, 2])).of_row
        array([0, 1])
        """
        return Lists.from_groups(self.of_row[rows])

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """Row positions, list by list."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield self.order[start:stop]

    def take(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Lists]:
        """The rows of some lists, list after list, and how those rows fall into lists.

        >>> rows, lists = Lists.from_groups(["b", "a", "b"]).take(np.array([1, 0]))
        >>> rows, lists.starts
        (array([1, 0, 2]), array([0, 1, 3]))
        """
        rows = np.concatenate([self.order[self.starts[n] : self.starts[n + 1]] for n in numbers])
        return rows, Lists(np.arange(rows.size), np.concatenate([[0], np.cumsum(self.sizes[numbers])]))

    @property
    def n_rows(self) -> int:
        """How many rows there are in all lists."""
        return self.order.size

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each list has."""
        return np.diff(self.starts)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where each row of ``order`` stands in its list, from 0.

        >>> Lists.from_groups(["b", "a", "b"]).places
        array([0, 1, 0])
        """
        return np.arange(self.n_rows) - np.repeat(self.starts[:-1], self.sizes)

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """The number of the list that each row belongs to."""
        number = np.empty(self.n_rows, dtype=np.int64)
        number[self.order] = np.repeat(np.arange(len(self)), self.sizes)
        return number


#: What says which rows are ranked against each other: a value per row, or the lists themselves.
Groups = ArrayLike | Lists


def _number_by_appearance(groups: NDArray) -> NDArray[np.int64]:
    if groups.dtype.kind == "O":  # may hold text and numbers, which have no order
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
    _, first, code = np.unique(groups, return_index=True, return_inverse=True)
    by_appearance = np.empty(first.size, dtype=np.int64)
    by_appearance[np.argsort(first)] = np.arange(first.size)
    return by_appearance[code.ravel()]
