"""All rows of a space as one ranker sees them: parts are asked, and what they say is put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.rows.figures import mean_of, median_of
from shortlist.feedback.rows.part import Blend, best_first
from shortlist.feedback.rows.placed import Placed
from shortlist.feedback.spaces.forest import Floats, Integers

NONE = np.zeros(0, dtype=np.int64)


class AllRows:
    """The rows of a space and the keys by which a ranker ranks them, larger first; equal ones by a hash of the seed.

    Where rows lie on several machines, nothing that grows with their number comes together here, unless
    it is asked for: parts give their best rows, counts and extremes.
    """

    def __init__(self, space: Placed, seed: int) -> None:
        self._space, self._seed = space, seed
        self._parts = space.parts(seed)
        #: How many rows have a key.
        self.n_ranked = 0

    def score(self, leaves: Integers, values: Integers, *, anew: bool, blend: Blend | None) -> None:
        """Let some leaves count for other whole numbers, and rank rows anew: see ``RowPart.score``."""
        self._parts.tell_each("score", leaves, values, anew, blend)
        self.n_ranked = self._space.n_rows

    def take(self, sums: Floats, blend: Blend) -> None:
        """Rank rows, all of which are here, by sums that were made elsewhere."""
        self._parts.tell_each("take", sums, blend)
        self.n_ranked = self._space.n_rows

    def best(self, n: int | None, skip: Integers = NONE) -> Integers:
        """The n best open rows, best first; None: all of them."""
        return self._merged(self._parts.each("best", n, skip), n)

    def best_of(self, rows: Integers, n: int) -> Integers:
        """The n best of some rows, without those that are closed."""
        return self._merged(self._parts.ask("best_of", self._parts.dealt(rows, n)), n)

    def place(self, row: int) -> int:
        """The place of a row among the open ones, from 1."""
        key = self.keys_of(np.array([row]))[0]
        return 1 + sum(self._parts.each("ahead", row, key))

    def keys(self) -> NDArray:
        """The keys of all rows."""
        return _joined(self._parts.each("all_keys"))

    def keys_of(self, rows: Integers) -> NDArray:
        """The keys of some rows."""
        return self._parts.of("keys_of", rows)

    def extremes(self, n_rows: int) -> NDArray:
        """The least and the largest key of the first so many rows."""
        found = [each for some in self._parts.each("extremes", n_rows) for each in some]
        return np.array([min(each[0] for each in found), max(each[1] for each in found)])

    def open_rows(self) -> Integers:
        """Rows without a verdict, in their own order."""
        return _joined(self._parts.each("open_rows"))

    def close(self, rows: Integers) -> None:
        """Leave rows out of the ranking."""
        self._parts.tell("close", self._parts.dealt(rows))

    def reopen(self, rows: Integers) -> None:
        """Rank rows again."""
        self._parts.tell("reopen", self._parts.dealt(rows))

    def middle_and_top(self) -> tuple[float, float]:
        """The median and the largest of the ensemble's own scores, over the rows the space was made with."""
        self._parts.tell_each("make_figures", None)
        return median_of(self._parts, self._space.first_rows), max(self._parts.each("top_figure"))

    def mean_sum(self, per_leaf: Floats) -> float:
        """The mean over the rows the space was made with of the sum over their leaves of a number per leaf."""
        self._parts.tell_each("make_figures", per_leaf)
        return mean_of(self._parts, self._space.first_rows)

    def _merged(self, found: list[tuple[Integers, NDArray]], n: int | None) -> Integers:
        if len(found) == 1:
            return found[0][0]
        rows, keys = (_joined([each[i] for each in found]) for i in (0, 1))
        return rows[best_first(keys, rows, self._seed)][:n]


def _joined(arrays: list[NDArray]) -> NDArray:
    return arrays[0] if len(arrays) == 1 else np.concatenate([NONE, *arrays])
