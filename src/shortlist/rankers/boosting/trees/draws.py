"""Which rows a round learns from: drawn by a hash of seed, round and row, wherever the row lies.

An engine that draws by itself draws anew on every machine, and its model depends on how rows are spread over them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.row_ranges import over_ranges
from shortlist.kernels.whole_sums import ROWS_AT_ONCE, hash_rows, settle_all, settle_drawn

#: Rows are named by their places.
NO_KEYS = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Draw:
    """A share of the rows in each round; all of them by default.

    ``keys`` name the rows: hashes of their ids, or their numbers in the whole table; empty: their places here.
    """

    share: float = 1.0
    seed: int = 0
    threads: int = 1
    keys: NDArray[np.uint64] = field(default_factory=lambda: NO_KEYS)

    def settle(self, grad: NDArray[np.float32], hess: NDArray[np.float32], round_: int) -> None:
        """Put gradients on the grid of exact sums, and take those of the rows that are not drawn to zero."""
        if self.share >= 1:
            over_ranges(
                lambda first, last: settle_all(grad[first:last], hess[first:last]), **self._ranges(grad.size)
            )
            return
        key = self._key(round_)
        below = np.uint64(int(self.share * 2.0**64))

        def settle(first: int, last: int) -> None:
            settle_drawn(grad[first:last], hess[first:last], first, self.keys[first:last], key, below)

        over_ranges(settle, **self._ranges(grad.size))

    def lot(self, n_rows: int, round_: int) -> NDArray[np.uint64]:
        """A random number for each row, of 64 bits."""
        return hash_rows(n_rows, self.keys, self._key(round_))

    def _key(self, round_: int) -> np.uint64:
        return np.random.SeedSequence([self.seed, round_]).generate_state(1, np.uint64)[0]

    def _ranges(self, n_rows: int) -> dict[str, int]:
        return {"first": 0, "last": n_rows, "size": ROWS_AT_ONCE, "threads": self.threads}


def drawn_rows(n_rows: int, share: float, seed: int, keys: NDArray[np.uint64] = NO_KEYS) -> NDArray[np.int64]:
    """Positions of about that share of rows, by the same hash.

    >>> drawn_rows(10_000, 0.1, seed=0).size
    1054
    """
    return np.flatnonzero(Draw(seed=seed, keys=keys).lot(n_rows, 0) < np.uint64(int(share * 2.0**64)))
