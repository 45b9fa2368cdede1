"""The Cholesky factor of a kernel matrix that grows by one reviewed row at a time."""

from __future__ import annotations

import numpy as np

from shortlist.feedback.spaces.forest import Floats
from shortlist.kernels.feedback import similarity as kernels


class Factor:
    """Solves for the weights of reviewed rows.

    Its first rows are the factor of those rows alone, so forgetting the last ones costs nothing.

    >>> factor = Factor()
    >>> factor.add(np.array([]), 2.0)
    >>> factor.add(np.array([1.0]), 2.0)
    >>> factor.solve(np.array([3.0, 3.0])).round(9).tolist()
    [1.0, 1.0]
    """

    def __init__(self) -> None:
        self.size = 0
        self._lines = np.zeros((32, 32))

    def add(self, near: Floats, own: float) -> None:
        """One more row, by its kernel with those before it and with itself."""
        if self.size == self._lines.shape[0]:
            room = np.zeros((2 * self.size,) * 2)
            room[: self.size, : self.size] = self._lines
            self._lines = room
        kernels.add_to_factor(self._lines, self.size, near, own)
        self.size += 1

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""
        self.size = min(n, self.size)

    def solve(self, right: Floats) -> Floats:
        """The weights x with K x = right."""
        return kernels.solve(self._lines, self.size, right)
