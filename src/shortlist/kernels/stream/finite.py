"""Whether all numbers are finite, in one pass at the speed of memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


# Sums may be reordered; what is not a number stays so.
@compiled(fastmath={"reassoc", "contract", "nsz"})
def all_finite(values: NDArray[np.float64]) -> bool:
    """Whether no value is missing or infinite: a finite number times zero is zero, any other is not.

    >>> all_finite(np.array([1e308, 2.0])), all_finite(np.array([np.inf, 2.0]))
    (True, False)
    """
    total = 0.0
    for i in range(values.size):
        total += values[i] * 0.0
    return total == 0.0
