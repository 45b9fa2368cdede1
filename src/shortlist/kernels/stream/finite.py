"""Whether all numbers are fit to learn from, in one pass at the speed of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


# Sums may be reordered: they count.
@compiled(fastmath={"reassoc", "contract", "nsz"})
def all_within(values: NDArray[np.float64], most: float) -> bool:
    """Whether no value is missing, infinite, or further from zero than ``most``.

    >>> all_within(np.array([1e30, -2.0]), 1e38), all_within(np.array([np.nan, 2.0]), 1e38)
    (True, False)
    """
    beyond = 0
    for i in range(values.size):
        beyond += not abs(values[i]) <= most
    return beyond == 0
