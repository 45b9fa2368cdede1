"""The audit slice: rows drawn at random now and then, to tell what the ranking has not found."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.feedback.leaf_scores import mix_rows

#: Keeps the order of random checks apart from the order of rows with equal scores, which uses the seed itself.
SALT = 0x5EED_A0D1


def is_due(served: int, share: float) -> bool:
    """Whether the next row served is a random check: every twentieth for a share of 0.05, from the tenth on.

    >>> [served + 1 for served in range(60) if is_due(served, 0.05)]
    [10, 30, 50]
    """
    return floor((served + 1) * share + 0.5 + 1e-9) > floor(served * share + 0.5 + 1e-9)


class AuditOrder:
    """An order of all rows, drawn by the seed; rows that arrive later take their places in it.

    >>> order = AuditOrder(seed=0, n_rows=5)
    >>> first = order.next(lambda row: True)
    >>> order.next(lambda row: row != first) != first
    True
    """

    def __init__(self, seed: int, n_rows: int) -> None:
        self._seed = (seed ^ SALT) & 0x7FFF_FFFF
        self._order = self._drawn(n_rows)

    def extend(self, n_rows: int) -> None:
        """Let rows that have arrived take their places."""
        if n_rows > self._order.size:
            self._order = self._drawn(n_rows)

    def next(self, is_open: Callable[[int], bool]) -> int | None:
        """The first row of the order that is open; None if there is none."""
        return next((row for row in map(int, self._order) if is_open(row)), None)

    def _drawn(self, n_rows: int) -> NDArray[np.int64]:
        rows = np.arange(n_rows, dtype=np.int64)
        keys = np.empty(n_rows, dtype=np.uint64)
        mix_rows(self._seed, rows, keys)
        return np.argsort(keys, kind="stable")
