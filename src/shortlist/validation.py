"""The one place where arrays are checked; everything behind it trusts its inputs."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from shortlist.lists import Groups, Lists

#: Sums and squares of such weights, and their copies in single precision, are still numbers. Larger ones are refused,
#: not scaled: some learners count a row of weight w as w rows.
_LARGEST_WEIGHT = 1e18
#: Rows of a matrix are checked this many at a time, which needs little memory.
_ROWS_AT_ONCE = 65_536
_LABEL_ONE = "Label one, or start without labels: shortlist review DATA"


def check_vector(values: ArrayLike, name: str, n_rows: int | None = None) -> NDArray:
    """One number per row, as an array; its length is checked against ``n_rows``."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.ravel()
    if array.ndim != 1:
        raise InvalidInputError(f"{name} must have one value per row; its shape is {array.shape}.")
    if n_rows is not None and array.size != n_rows:
        raise InvalidInputError(f"{name} has {array.size} values for {n_rows} rows; give one per row.")
    return array


def check_finite(values: ArrayLike, name: str, n_rows: int | None = None) -> NDArray[np.float64]:
    """One finite float64 per row."""
    array = check_vector(values, name, n_rows)
    try:
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        example = next((value for value in array.tolist() if isinstance(value, str)), None)
        if example is None:
            raise InvalidInputError(f"{name} must be numbers; found {array.dtype} ({error}).") from None
        advice = f" Mark wanted rows by 1, as in {name} == {example!r}." if name == "y" else ""
        raise InvalidInputError(f"{name} must be numbers; found {example!r}.{advice}") from None
    finite = np.isfinite(array)
    if not finite.all():
        row = int(np.argmin(finite))
        raise InvalidInputError(
            f"{name} has {array.size - int(finite.sum())} values that are NaN or infinite, the first in row "
            f"{row} (counted from 0). Replace or drop those rows."
        )
    return array


def check_matrix(X: Any, *, encoded: bool = False) -> NDArray:
    """Rows and columns of numbers, float32 or float64; NaN = missing. Encoding has looked for infinite ones already."""
    try:
        matrix = np.asarray(X)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"X must hold numbers ({error}). Give text and dates as a data frame: they are encoded there."
        ) from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInputError(f"X must have rows and columns; its shape is {matrix.shape}.")
    if not encoded:
        _check_no_infinity(matrix)
    return matrix


def _check_no_infinity(matrix: NDArray) -> None:
    for start in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        infinite = np.isinf(matrix[start : start + _ROWS_AT_ONCE]).any(axis=1)
        if infinite.any():
            raise InvalidInputError(
                f"X has infinite values, the first in row {start + int(np.argmax(infinite))} (counted from 0). "
                "Replace them with a finite number, or with NaN if they are unknown."
            )


def check_score(score: ArrayLike, n_rows: int | None = None) -> NDArray[np.float64]:
    """Scores: finite, larger = look sooner."""
    return check_finite(score, "score", n_rows)


def check_wanted(y: ArrayLike, n_rows: int | None = None) -> NDArray[np.bool_]:
    """Labels of a measure: 1 or True where a row is wanted, else 0 or False."""
    array = check_vector(y, "y", n_rows)
    if array.dtype == np.bool_:
        return array
    array = check_finite(array, "y")
    wanted = array == 1
    if not np.all(wanted | (array == 0)):
        odd = array[~(wanted | (array == 0))][0]
        raise InvalidInputError(
            f"y must be 1 for wanted rows and 0 for the others; found {odd:g}. "
            "For amounts use a measure of impact, such as cost_saved_at_k."
        )
    return wanted


def check_two_classes(y: ArrayLike, n_rows: int | None = None) -> NDArray[np.bool_]:
    """Labels to learn from: two values, of which the larger one marks the wanted rows."""
    array = check_finite(y, "y", n_rows)
    values = np.unique(array)
    if values.size > 2:
        raise InvalidInputError(
            f"y has {values.size} values; a label has two, 1 = wanted and 0 = not. "
            "For amounts use a ranker that takes impacts, such as LambdaMART(objective=CostSaved(k=50))."
        )
    if values.size == 1 and values[0] > 0:
        raise NoUnwantedRowsError(
            f"y marks all of its {array.size} rows as wanted (one class); training needs rows of both kinds. "
            "Add rows that were looked at and dismissed."
        )
    if values.size < 2:
        raise NoWantedRowsError(
            f"y marks none of its {array.size} rows as wanted (one class); training needs at least one. {_LABEL_ONE}"
        )
    return array == values[1]


def check_impact(y: ArrayLike, n_rows: int | None = None, *, name: str = "impact") -> NDArray[np.float64]:
    """Impacts: finite and not negative; 0 for rows that do not matter."""
    array = check_finite(y, name, n_rows)
    if array.size and array.min() < 0:
        row = int(np.argmax(array < 0))
        raise InvalidInputError(
            f"{name} must not be negative; row {row} (counted from 0) has {array[row]:g}. "
            "Set rows that do not matter to 0."
        )
    return array


def check_some_impact(y: ArrayLike, n_rows: int | None = None) -> NDArray[np.float64]:
    """Impacts to learn from: at least one is above 0."""
    array = check_impact(y, n_rows)
    if not array.any():
        raise NoWantedRowsError(
            f"the impact of all {array.size} rows is 0; training needs at least one above 0. {_LABEL_ONE}"
        )
    return array


def check_groups(groups: Groups | None, n_rows: int) -> Lists:
    """The lists that rows belong to; None: all rows are one list. Those of a table are checked already."""
    if groups is None:
        return Lists.single(n_rows)
    if isinstance(groups, Lists):
        return _check_size(groups, n_rows)
    array = check_vector(groups, "groups", n_rows)
    missing = _missing(array)
    if missing.any():
        row = int(np.argmax(missing))
        raise InvalidInputError(
            f"groups is missing for {int(missing.sum())} rows, the first is row {row} (counted from 0). "
            "Every row belongs to a list: fill the gaps or drop those rows."
        )
    return Lists.from_groups(array)


def _check_size(lists: Lists, n_rows: int) -> Lists:
    if lists.n_rows != n_rows:
        raise InvalidInputError(
            f"the lists hold {lists.n_rows} rows, but there are {n_rows}; give the lists of these rows."
        )
    return lists


def _missing(array: NDArray) -> NDArray[np.bool_]:
    """Where a value is None, NaN or NaT; only objects need to be looked at one by one."""
    if array.dtype.kind == "O":
        return np.array([value is None or value != value for value in array], dtype=bool)  # noqa: PLR0124
    return np.asarray(array != array)  # noqa: PLR0124


def check_sample_weight(weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Row weights: finite, not negative, neither all zero nor beyond sums; None: all rows count alike."""
    if weight is None:
        return None
    if isinstance(weight, numbers.Number):
        weight = np.full(n_rows, weight)
    array = check_finite(weight, "sample_weight", n_rows)
    if array.min() < 0:
        raise InvalidInputError(f"sample_weight must not be negative; the smallest is {array.min():g}.")
    if array.max() == 0:
        raise InvalidInputError(
            "sample_weight is zero for every row; give at least one row a positive weight."
        )
    if not 1 / _LARGEST_WEIGHT <= array.max() <= _LARGEST_WEIGHT:
        raise InvalidInputError(
            f"the largest sample_weight is {array.max():g}, and sums of such numbers overflow or vanish. Divide all "
            "weights by one number, such as their mean."
        )
    return array


def check_budget(budget: Any, n_rows: int | None = None, *, name: str = "budget") -> int:
    """A number of rows to review: a whole number of at least 1, and no more than there are rows."""
    if not _is_whole(budget) or int(budget) < 1:
        raise InvalidInputError(f"{name} must be a whole number of at least 1; got {budget!r}.")
    if n_rows is not None and budget > n_rows:
        raise InvalidInputError(f"{name} is {budget} but there are only {n_rows} rows; use {n_rows} or less.")
    return int(budget)


def check_jobs(n_jobs: Any) -> int | None:
    """A number of threads, with one meaning of ``n_jobs`` everywhere: None is all of them, as in XGBoost and LightGBM.

    Negative numbers are counted as joblib counts them: -1 is all, -2 all but one. What is learned never depends on it.
    (scikit-learn's own estimators take None for one; one that a ``Baseline`` is given keeps that meaning.)

    >>> check_jobs(3), check_jobs(-1), check_jobs(None)
    (3, None, None)
    """
    if n_jobs is not None and (not _is_whole(n_jobs) or n_jobs == 0):
        raise InvalidInputError(
            f"jobs must be a whole number of threads, or negative: -1 for all, -2 for all but one; got {n_jobs!r}."
        )
    return None if n_jobs in (None, -1) else int(effective_n_jobs(int(n_jobs)))


def count_threads(n_jobs: Any) -> int:
    """How many threads ``n_jobs`` means on this machine.

    >>> count_threads(1), count_threads(None) == count_threads(-1)
    (1, True)
    """
    return check_jobs(n_jobs) or int(effective_n_jobs(-1))


def _is_whole(number: Any) -> bool:
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)
