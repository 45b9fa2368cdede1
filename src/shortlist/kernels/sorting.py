"""Sorting many short stretches of one array."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def descending_within(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions that put each stretch ``values[starts[l]:starts[l + 1]]`` in falling order."""
    order = np.empty(values.size, dtype=np.int64)
    for number in range(starts.size - 1):
        start, stop = starts[number], starts[number + 1]
        order[start:stop] = start + np.argsort(-values[start:stop])
    return order
