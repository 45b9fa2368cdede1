"""What one ranker knows of rows that lie together: sums over their leaves, keys, and which have a verdict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.rows.figures import digits
from shortlist.feedback.rows.placed import Placed
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.kernels.feedback import leaf_scores as kernels
from shortlist.kernels.feedback.trees import BLOCK
from shortlist.kernels.row_ranges import over_ranges
from shortlist.kernels.sorting import kth_largest

#: Above this share of the cells, one sequential pass over all rows is faster than visiting rows by leaf.
DENSE_SHARE = 0.15
#: Threads take turns at so many cells, some milliseconds of work.
CELLS_AT_ONCE = 8_000_000
#: So many top rows are found in one pass over all rows; more of them by partial sorting.
SHORT = 2048


class Blend(NamedTuple):
    """Keys that are sums in a unit, plus the ensemble's own score times a slope, plus an offset."""

    unit: float
    slope: float
    offset: float


class RowPart:
    """All rows of a space, or those of it that one machine holds; they go by their numbers in the whole table.

    first : the number of the first of them
    seed : draws the order of rows with equal keys
    """

    def __init__(self, space: Placed, seed: int, first: int = 0) -> None:
        self.space, self.seed, self.first = space, seed, first
        self.sums: NDArray = np.zeros(0, dtype=np.int64)
        self.keys: NDArray = self.sums
        self._table = np.zeros(space.n_leaves, dtype=np.int64)
        self._base = np.zeros(0)
        self._closed = np.zeros(0, dtype=bool)
        self._figures = np.zeros(0)

    # -- scoring --------------------------------------------------------------------------------------------

    def score(self, leaves: Integers, values: Integers, anew: bool, blend: Blend | None) -> None:
        """Let some leaves count for other whole numbers, and rank rows by the sums over their leaves.

        anew : all numbers are in another unit than before
        """
        known, change = self.sums.size, values - self._table[leaves]
        self._table[leaves] = values
        self.sums = _grown(self.sums, self.space.n_rows)
        if anew or not self._change(leaves, change, known):
            self._add_up(0)
        elif known < self.space.n_rows:
            self._add_up(known)
        self._rank(blend)

    def take(self, sums: Floats, blend: Blend) -> None:
        """Rank rows by sums that were made elsewhere, one for each row."""
        self.sums = sums
        self._rank(blend)

    @property
    def base(self) -> Floats:
        """The ensemble's own scores."""
        known = self._base.size
        if known < self.space.n_rows:
            arrived = self.space.row_sums(self.space.values, self.space.n_rows, first=known)
            self._base = np.concatenate([self._base, arrived]) if known else arrived
        return self._base

    def _rank(self, blend: Blend | None) -> None:
        self.keys = self.sums if blend is None else np.empty(self.sums.size)
        if blend is not None:
            kernels.blend(self.sums, blend.unit, self.base, blend.slope, blend.offset, self.keys)

    def _change(self, leaves: Integers, change: Integers, known: int) -> bool:
        """Bring the known rows up to date through the index; False where a pass over all rows is faster."""
        index, cells = self.space.index, known * self.space.n_members
        if leaves.size == 0:
            return True
        if index is None or index.cells(leaves) > DENSE_SHARE * cells:
            return False
        if index.n_rows > known:  # the index knows rows that are not scored yet: they are added up after this
            return False
        index.add_changes(leaves, change, self.sums)
        if index.n_rows < known:
            self._add_up(index.n_rows)
        return True

    def _add_up(self, first: int) -> None:
        ids, starts = self.space.leaf_ids, self.space.forest.leaf_starts

        def add_rows(low: int, high: int) -> None:
            kernels.add_up(ids, low, high, self._table, starts, self.sums[low:high])

        # Whole blocks of leaf numbers, so that no two threads share one.
        blocks = max(1, CELLS_AT_ONCE // self.space.n_members // BLOCK)
        over_ranges(add_rows, first, self.space.n_rows, size=blocks * BLOCK)

    # -- asking ---------------------------------------------------------------------------------------------

    def best(self, n: int | None, skip: Integers) -> tuple[Integers, NDArray]:
        """The n best open rows and their keys, best first; None: all of them. Rows in ``skip`` are passed over."""
        closed = self._closed_and(skip)
        if n == 1:
            row = int(kernels.best_row(self.keys, closed, self.seed, self.first))
            return self._named(np.array([row] if row >= 0 else [], dtype=np.int64))
        left = int(closed.size - np.count_nonzero(closed))
        most = left if n is None else min(n, left)
        if not 0 < most <= SHORT or most == left:
            return self._top(np.flatnonzero(~closed), most)
        near = self.keys >= kernels.nth_largest(self.keys, closed, most)
        return self._top(np.flatnonzero(near & ~closed), most)

    def best_of(self, rows: Integers, n: int) -> tuple[Integers, NDArray]:
        """The n best of some rows, without those that are closed."""
        own = rows - self.first
        return self._top(own[~self.closed[own]], n)

    def ahead(self, row: int, key: float) -> int:
        """How many open rows come before a row with this key."""
        rivals = ~self.closed
        above = np.count_nonzero(rivals & (self.keys > key))
        tied = np.flatnonzero(rivals & (self.keys == key)) + self.first
        return int(above + np.count_nonzero(hashes(self.seed, tied) < hashes(self.seed, np.array([row]))))

    def keys_of(self, rows: Integers) -> NDArray:
        """The keys of some rows."""
        return self.keys[rows - self.first]

    def all_keys(self) -> NDArray:
        """The keys of all rows."""
        return self.keys

    def extremes(self, n_rows: int) -> list[NDArray]:
        """The least and the largest key among the first so many rows of the table; nothing where none is here."""
        keys = self.keys[: max(0, n_rows - self.first)]
        return [np.array([keys.min(), keys.max()])] if keys.size else []

    def open_rows(self) -> Integers:
        """Rows without a verdict, in their own order."""
        return np.flatnonzero(~self.closed) + self.first

    # -- figures of all rows that the space was made with: see figures.py ------------------------------------

    def make_figures(self, per_leaf: Floats | None) -> None:
        """Let the figure of a row be the sum over its leaves of a number per leaf; None: its own score."""
        n = self.space.first_rows
        self._figures = self.base[:n] if per_leaf is None else self.space.row_sums(per_leaf, n)

    def top_figure(self) -> float:
        """The largest of them."""
        return float(self._figures.max(initial=-np.inf))

    def count_digits(self, level: int, prefix: int) -> Integers:
        """How many begin with these digits, by the next one."""
        return digits(self._figures, level, prefix)

    def add_figures(self, stretches: list[tuple[int, int]]) -> list[float]:
        """The sums of rows from the one to the other."""
        return [float(np.sum(self._figures[low - self.first : high - self.first])) for low, high in stretches]

    def figures_of(self, rows: Integers) -> Floats:
        """Those of some rows."""
        return self._figures[rows - self.first]

    # -- verdicts -------------------------------------------------------------------------------------------

    def close(self, rows: Integers) -> None:
        """Leave rows out of the ranking."""
        self.closed[rows - self.first] = True

    def reopen(self, rows: Integers) -> None:
        """Rank rows again."""
        self.closed[rows - self.first] = False

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Which rows are left out."""
        self._closed = _grown(self._closed, self.space.n_rows)
        return self._closed

    # -- small parts ----------------------------------------------------------------------------------------

    def _closed_and(self, skip: Integers) -> NDArray[np.bool_]:
        own = skip[(skip >= self.first) & (skip < self.first + self.space.n_rows)] - self.first
        if not own.size:
            return self.closed
        closed = self.closed.copy()
        closed[own] = True
        return closed

    def _top(self, own: Integers, n: int) -> tuple[Integers, NDArray]:
        """The n rows with the largest keys, best first; equal keys by hash."""
        if 0 < n < own.size:
            keys = self.keys[own]
            own = own[keys >= kth_largest(keys, n)]
        return self._named(own[best_first(self.keys[own], own + self.first, self.seed)][:n])

    def _named(self, own: Integers) -> tuple[Integers, NDArray]:
        return own + self.first, self.keys[own]


def best_first(keys: NDArray, rows: Integers, seed: int) -> Integers:
    """Positions that put rows in falling order of their keys, equal ones by hash."""
    return np.lexsort((hashes(seed, rows), -keys))


def hashes(seed: int, rows: Integers) -> NDArray[np.uint64]:
    """A number for each row, by which rows with equal keys are ordered."""
    out = np.empty(rows.size, dtype=np.uint64)
    kernels.mix_rows(seed, rows, out)
    return out


def _grown(array: NDArray, n_rows: int) -> NDArray:
    """With zeros for the rows that have arrived."""
    missing = n_rows - array.size
    return np.concatenate([array, np.zeros(missing, dtype=array.dtype)]) if missing > 0 else array
