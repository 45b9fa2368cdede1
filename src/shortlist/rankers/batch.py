"""Labelled rows as learners get them: checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.lists import Lists


@dataclass(frozen=True, eq=False)
class Batch:
    """Labelled rows, checked: what a learner's fit works with."""

    X: Any  # float32 or float64 array, NaN = missing, categories as codes 0, 1, ...; or a CSR matrix
    y: NDArray  # bool for rankers of wanted rows, float64 >= 0 for rankers of impacts
    lists: Lists
    sample_weight: NDArray | None  # float64; float32 where weights are 0 and 1
    categorical: NDArray[np.bool_]  # which columns of X are category codes
