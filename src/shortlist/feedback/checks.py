"""What a reviewer's call may hold: rows and seeds, checked before anything changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.forest import Integers
from shortlist.validation import check_seed, make_generator


def check_rows(rows: Any, n_rows: int) -> Integers:
    """Positions of rows that the space has."""
    array = np.asarray(list(rows) if not isinstance(rows, np.ndarray) else rows)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidInputError(f"a row is given by its position, a whole number; got {array.ravel()[0]!r}.")
    unknown = (array < 0) | (array >= n_rows)
    if unknown.any():
        raise InvalidInputError(
            f"there is no row {array[unknown][0]}: the space has the rows 0 to {n_rows - 1}."
        )
    return array.astype(np.int64)


def check_row(row: Any, n_rows: int) -> int:
    """The position of one row that the space has."""
    return int(check_rows([row], n_rows)[0])


def keep_seed(random_state: Any) -> int:
    """A whole number as it is; others draw one, which is kept so that everything can be repeated."""
    seed = check_seed(random_state)
    return seed if isinstance(seed, int) else int(make_generator(seed).integers(2**32))
