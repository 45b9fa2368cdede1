"""Labels as users tell them, checked: which rows they are of, and what they say."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.stream.window import UNSURE
from shortlist.validation import check_vector, check_wanted


def check_verdicts(wanted: ArrayLike, n_rows: int) -> NDArray[np.int8]:
    """1 = wanted, 0 = not, None or NaN = unsure, as verdicts.

    >>> check_verdicts([True, None, False], 3)
    array([1, 2, 0], dtype=int8)
    """
    values = check_vector(wanted, "wanted", n_rows)
    if values.dtype == np.bool_:
        return values.astype(np.int8)
    if values.dtype == object:
        values = np.array([np.nan if each is None else each for each in values])
    unsure = np.isnan(values) if values.dtype.kind == "f" else np.zeros(n_rows, dtype=bool)
    return np.where(unsure, UNSURE, check_wanted(np.where(unsure, 0, values), n_rows)).astype(np.int8)


def refuse_repeated(rows: NDArray) -> None:
    """Each row has one label in a call."""
    in_order = np.sort(rows)
    repeated = in_order[1:][in_order[1:] == in_order[:-1]]
    if repeated.size:
        raise InvalidInputError(f"row {repeated[0]} is told twice in one call; give each row one label.")


def refuse(rows: NDArray, n_pending: int) -> NoReturn:
    """Labels came for rows that do not wait for one."""
    shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if rows.size > 5 else "")
    raise InvalidInputError(
        f"{rows.size} rows are not waiting for a label: {shown}. They were never asked about, or have been "
        f"answered; no label of this call was taken. {n_pending} rows are waiting: see pending_."
    )
