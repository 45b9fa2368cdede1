"""An array that rows are added to at its end and dropped from at its beginning, without being copied each time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Rows in a buffer with room to spare; when it is full they move to one twice as large.

    >>> numbers = GrowingArray(np.arange(3))
    >>> numbers.append(np.array([7, 8]))
    >>> numbers.drop_first(2)
    >>> numbers.values
    array([2, 7, 8])
    """

    def __init__(self, values: NDArray) -> None:
        self._buffer = values
        self._start, self._stop = 0, len(values)

    def __len__(self) -> int:
        return self._stop - self._start

    @property
    def values(self) -> NDArray:
        """The rows; a view that is good until rows are added."""
        return self._buffer[self._start : self._stop]

    def append(self, values: NDArray) -> None:
        """Add rows at the end."""
        self.grow(len(values))[:] = values

    def grow(self, count: int) -> NDArray:
        """Add rows at the end that are not written yet; gives them to be written."""
        if self._stop + count > len(self._buffer):
            self._move(len(self) + count)
        self._stop += count
        return self._buffer[self._stop - count : self._stop]

    def clear(self) -> None:
        """Forget all rows, but not the room they had: fresh memory is slow to write to."""
        self._start = self._stop = 0

    def drop_first(self, count: int) -> None:
        """Forget the first rows."""
        self._start = min(self._start + count, self._stop)

    def _move(self, needed: int) -> None:
        buffer = np.empty((2 * needed, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
        buffer[: len(self)] = self.values
        self._buffer, self._start, self._stop = buffer, 0, len(self)
