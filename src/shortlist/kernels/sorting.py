"""Sorting many short stretches of one array, and as little of an array as its k-th largest value needs.

Compiled kernels sort by ``np.argsort`` only. Numba compiles ``np.sort`` (and ``np.unique``) to functions of the same
names, told apart by a number that each process counts anew. Code cached by two processes can then share a name, and a
third one that loads both runs one in place of the other: a "position" is then a value, or the process dies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def descending_within(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions that put each stretch ``values[starts[l]:starts[l + 1]]`` in falling order."""
    order = np.empty(values.size, dtype=np.int64)
    for number in range(starts.size - 1):
        start, stop = starts[number], starts[number + 1]
        order[start:stop] = start + np.argsort(-values[start:stop])
    return order


def kth_largest(values: NDArray, k: int) -> Any:
    """The k-th largest value, found without a sort.

    >>> kth_largest(np.array([3.0, 9.0, 5.0]), 2)
    np.float64(5.0)
    """
    return np.partition(values, values.size - k)[values.size - k]
