"""Counting ordered pairs by merging two sorted arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def ordered_and_tied_pairs(wanted: NDArray[np.float64], unwanted: NDArray[np.float64]) -> tuple[int, int]:
    """Pairs whose wanted row scores higher, and pairs that tie; both arrays are in rising order."""
    ordered, tied = 0, 0
    below, upto = 0, 0
    for score in wanted:
        while below < unwanted.size and unwanted[below] < score:
            below += 1
        upto = max(upto, below)
        while upto < unwanted.size and unwanted[upto] == score:
            upto += 1
        ordered += below
        tied += upto - below
    return ordered, tied
