"""Rows that are ranked against each other only: the lists of a table, all here or some on other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.kernels.machines import ALONE, Sums

_ALL_ROWS = np.empty(0, dtype=np.uint64)
Value = TypeVar("Value")


class together(Generic[Value]):
    """A property that machines find out together when it is first asked for.

    The lock of ``cached_property`` in Python 3.11 would have machines that are threads of one process wait for ever.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


@dataclass(frozen=True, eq=False)
class Place:
    """Which part of a table this machine holds, where others hold the rest.

    sums : adds up over machines
    rows : the numbers of its rows in the whole table
    lists : the numbers of its lists, which lie here whole, among all; None: every machine has rows of the one list
    n_lists : how many lists there are in all
    """

    sums: Sums
    rows: NDArray[np.uint64]
    lists: NDArray[np.int64] | None = None
    n_lists: int = 1

    @together
    def row_order(self) -> NDArray[np.int64]:
        """What puts gathered rows into the order of the table."""
        return np.argsort(self.sums.gather(self.rows), kind="stable")

    @together
    def own_places(self) -> NDArray[np.int64]:
        """Where the rows here are among all rows in the order of the table."""
        return np.searchsorted(np.sort(self.sums.gather(self.rows)), self.rows)

    def named(self, lists: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers, among all lists, of those that machines name by their positions here."""
        assert self.lists is not None
        return np.sort(self.sums.gather(self.lists[lists]))

    def part(self, rows: NDArray, lists: NDArray[np.int64]) -> Place:
        """Of some rows and lists, by their positions here; lists that no machine keeps lose their number."""
        if self.lists is None:
            return replace(self, rows=self.rows[rows])
        kept = self.named(lists)
        numbers = np.searchsorted(kept, self.lists[lists])
        return Place(self.sums, self.rows[rows], numbers, kept.size)


@dataclass(frozen=True, eq=False)
class Lists:
    """How rows fall into lists.

    ``order`` puts the rows of a list next to each other (rows keep their order within a list), and list ``l``
    is ``order[starts[l]:starts[l + 1]]``. Lists are numbered by first appearance, so renaming them changes
    nothing. ``moved`` is that order, or None where rows lie list after list as they are: 8 bytes a row less.

    >>> lists = Lists.from_groups(["b", "a", "b"])
    >>> lists.order, lists.starts
    (array([0, 2, 1]), array([0, 2, 3]))
    >>> lists.of_row
    array([0, 1, 0])
    """

    moved: NDArray[np.int64] | None
    starts: NDArray[np.int64]
    place: Place | None = None  # None: all rows of the table are here
    keys: NDArray[np.uint64] | None = None  # a hash of each row's id, where rows have one

    @classmethod
    def single(cls, n_rows: int) -> Lists:
        """All rows are one list."""
        return cls(None, np.array([0, n_rows]))

    @classmethod
    def from_groups(cls, groups: NDArray | list) -> Lists:
        """Lists by equal values of ``groups``, one value per row."""
        number = _number_by_appearance(np.asarray(groups))
        return cls(np.argsort(number, kind="stable"), np.append(0, np.cumsum(np.bincount(number))))

    def __len__(self) -> int:
        return self.starts.size - 1

    @property
    def order(self) -> NDArray[np.int64]:
        """The rows, list after list."""
        return np.arange(self.n_rows) if self.moved is None else self.moved

    def part(self, rows: NDArray) -> Lists:
        """How some of the rows, by position, fall into lists.

        >>> Lists.from_groups(["b", "a", "b"]).part(np.array([1, 2])).of_row
        array([0, 1])
        """
        lists = Lists.single(rows.size) if self.is_one else Lists.from_groups(self.of_row[rows])
        lists = replace(lists, keys=None if self.keys is None else self.keys[rows])
        if self.place is None:
            return lists
        kept = self.of_row[rows[lists.order[lists.starts[:-1]]]] if not self.is_one else np.empty(0, np.int64)
        return replace(lists, place=self.place.part(rows, kept))

    @property
    def is_one(self) -> bool:
        """Whether all rows, wherever they lie, are one list of which each machine may hold a part."""
        return len(self) == 1 if self.place is None else self.place.lists is None

    @property
    def sums(self) -> Sums:
        """Adds up over the machines that hold the rows."""
        return ALONE if self.place is None else self.place.sums

    @property
    def row_keys(self) -> NDArray[np.uint64]:
        """What rows are drawn by: their ids, or their numbers in the whole table; empty: their places here."""
        if self.keys is not None:
            return self.keys
        return _ALL_ROWS if self.place is None else self.place.rows

    @property
    def n_in_all(self) -> int:
        """How many lists there are, on other machines too."""
        return len(self) if self.place is None else self.place.n_lists

    def of_all(self, values: NDArray) -> NDArray:
        """A value per list, of all lists wherever they lie, from those of the lists here."""
        if self.place is None or self.place.lists is None:
            return values
        out = np.empty(self.place.n_lists, dtype=values.dtype)
        out[self.sums.gather(self.place.lists)] = self.sums.gather(values)
        return out

    def own(self, values: NDArray) -> NDArray:
        """The values of the lists here, from those of all lists."""
        return values if self.place is None or self.place.lists is None else values[self.place.lists]

    def here(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which of these lists, numbered among all, lie here: their numbers here."""
        if self.place is None or self.place.lists is None:
            return numbers
        return np.flatnonzero(np.isin(self.place.lists, numbers))

    def renumbered(self) -> Lists:
        """With rows numbered from 0 on, as if those here and on other machines were a table of their own."""
        if self.place is None:
            return self
        return replace(self, place=replace(self.place, rows=self.place.own_places.astype(np.uint64)))

    def named(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers, among all lists, of those named here and on other machines by their numbers there."""
        return numbers if self.place is None or self.place.lists is None else self.place.named(numbers)

    def of_all_rows(self, values: NDArray) -> NDArray:
        """A value per row, of all rows wherever they lie, in the order of the table."""
        return values if self.place is None else self.sums.gather(values)[self.place.row_order]

    def own_rows(self, values: NDArray) -> NDArray:
        """The values of the rows here, from those of all rows in the order of the table."""
        return values if self.place is None else values[self.place.own_places]

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        """Row positions, list by list."""
        order = self.order
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield order[start:stop]

    def take(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], Lists]:
        """The rows of some lists, list after list, and how those rows fall into lists.

        >>> rows, lists = Lists.from_groups(["b", "a", "b"]).take(np.array([1, 0]))
        >>> rows, lists.starts
        (array([1, 0, 2]), array([0, 1, 3]))
        """
        none, order = np.empty(0, dtype=np.int64), self.order
        rows = np.concatenate([none, *(order[self.starts[n] : self.starts[n + 1]] for n in numbers)])
        lists = Lists(
            np.arange(rows.size),
            np.concatenate([[0], np.cumsum(self.sizes[numbers])]),
            keys=None if self.keys is None else self.keys[rows],
        )
        return rows, lists if self.place is None else lists._following(self.place.part(rows, numbers))

    def _following(self, place: Place) -> Lists:
        """With rows numbered list after list, as they would be if all of them were taken on one machine."""
        lists = replace(self, place=place)
        starts = np.concatenate([[0], np.cumsum(lists.of_all(self.sizes))])
        rows = np.repeat(lists.own(starts[:-1]), self.sizes) + self.places
        return replace(lists, place=replace(place, rows=rows.astype(np.uint64)))

    @property
    def n_rows(self) -> int:
        """How many rows there are in all lists."""
        return int(self.starts[-1])

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
