"""A score space whose rows lie on the machines of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.rows.parts import Parts
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.spread.workers import Workers

#: The leaves of so many rows that were asked for are kept here.
MOST_KNOWN = 16_384


class SpreadSpace(ScoreSpace):
    """Trees and values are here, the leaves of rows on the workers, a run of rows on each.

    ``ScoreSpace.from_isolation_forest`` and the like give one for a table of Dask. Rankers on it send the workers what
    leaves count for, and get their best rows: scores are those of one machine, bit for bit. A ranker that was saved
    goes on with a space made again from the same rows, be it here or on another number of workers.
    """

    is_spread = True

    def __init__(self, made: ScoreSpace, workers: Workers, n_rows: int) -> None:
        super().__init__(
            made.forest,
            made.values,
            made.columns,
            leaf_counts=made.leaf_counts,
            projection=made.projection,
            single=made.single,
        )
        self.n_rows = self.first_rows = n_rows
        self._workers = workers
        self._known: dict[int, NDArray] = {}
        # At once, for a ranker is still saved, under its space's fingerprint, when a worker is lost.
        self._counts = np.sum(workers.each("counts"), axis=0)

    @cached_property
    def leaf_rows(self) -> Floats:
        """How many rows each leaf holds."""
        return self._counts[0]

    @property
    def leaf_numbers(self) -> Floats:
        """The sum of the numbers, from 1, of the rows in each leaf."""
        return self._counts[1]

    def parts(self, seed: int) -> Parts:
        """The workers, asked about rows as one ranker knows them."""
        return self._workers.for_ranker(seed)

    def leaves(self, rows: ArrayLike) -> Integers:
        """Global leaf numbers, one line per row and one column per member; those asked for lately are known here."""
        numbers = np.asarray(rows, dtype=np.int64)
        missing = np.array([row for row in {*numbers.tolist()} if row not in self._known], dtype=np.int64)
        if len(self._known) + missing.size > MOST_KNOWN:
            self._known, missing = {}, np.unique(numbers)
        if missing.size:
            self._known |= dict(zip(missing.tolist(), self._workers.of("leaves", missing), strict=True))
        local = np.array([self._known[row] for row in numbers.tolist()], dtype=np.int64)
        return local.reshape(-1, self.n_members) + self.forest.leaf_starts[:-1]

    def local_leaves(self, row: int) -> tuple[int, ...]:
        """The leaf of each member that a row is in, counted within the member."""
        return tuple((self.leaves([row])[0] - self.forest.leaf_starts[:-1]).tolist())

    def build_index(self) -> Self:
        """Sort rows by leaf on every worker, for 4·n·m bytes in all."""
        self._workers.each("build_index")
        return self

    def check_here(self, what: str, instead: str) -> None:
        """Refuse what needs all rows on one machine."""
        raise InvalidInputError(
            f"{what} needs all rows on one machine, and those of this score space lie on a cluster; use {instead}."
        )

    def append(self, X: Any, leaves: Mapping[int, Sequence[int]] | None = None) -> range:
        """Rows that arrive are refused: numbers would no longer follow the order of the table."""
        raise InvalidInputError(
            "rows cannot be appended to a score space that lies on a cluster; make it again from the table with them."
        )

    def save(self, folder: Any) -> None:
        """Refused: the leaves of rows stay where they are."""
        raise InvalidInputError(
            "a score space that lies on a cluster is not saved; save the ranker (ranker.save), which goes on with a "
            "space made again from the same rows."
        )

    def row_sums(self, per_leaf: Floats, last: int, *, first: int = 0) -> Floats:
        """Refused: a number for each row."""
        self._refuse()

    def leaf_sums(self, weight: Floats) -> Floats:
        """Refused: needs a weight for each row."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InvalidInputError(
            "this needs a number for each row on one machine, and the rows of this score space lie on a cluster; use "
            "LeafSimilarity or OJRank, and their scores."
        )
