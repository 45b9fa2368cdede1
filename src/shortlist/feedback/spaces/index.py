"""The inverted index of a score space: which rows are in a leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.feedback import leaf_scores as kernels


@dataclass(frozen=True, eq=False)
class LeafIndex:
    """Rows by leaf, 4 bytes per row and member; rows that arrived later are not in it."""

    rows: NDArray[np.int32]
    leaf_start: NDArray[np.int64]  # leaf l, by global number, has rows[leaf_start[l] : leaf_start[l + 1]]
    n_rows: int

    @classmethod
    def of(cls, ids: NDArray, n_rows: int, starts: NDArray[np.int64]) -> LeafIndex:
        """Sort the rows of every member by leaf (one counting pass)."""
        rows = np.empty(n_rows * (starts.size - 1), dtype=np.int32)
        leaf_start = np.empty(starts[-1] + 1, dtype=np.int64)
        kernels.invert(ids, n_rows, starts, rows, leaf_start)
        return cls(rows, leaf_start, n_rows)

    def cells(self, leaves: NDArray[np.int64]) -> int:
        """How many rows these leaves have together: the work of adding their changes."""
        return int((self.leaf_start[leaves + 1] - self.leaf_start[leaves]).sum())

    def add_changes(self, leaves: NDArray[np.int64], change: NDArray, sums: NDArray) -> None:
        """Add the change of each leaf to the sums of its rows."""
        kernels.add_changes(self.rows, self.leaf_start, leaves, change, sums)
