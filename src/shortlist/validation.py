"""The one place where arrays are checked; everything behind it trusts its inputs."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from shortlist.lists import Groups, Lists

#: Sums and squares of such weights, and their copies in single precision, are still numbers. Larger ones are refused,
#: not scaled: some learners count a row of weight w as w rows.
_LARGEST_WEIGHT = 1e18
#: Squares of such impacts, times weights, can still be added up.
_LARGEST_IMPACT = 1e120
#: The largest number of single precision.
LARGEST_VALUE = float(np.finfo(np.float32).max)
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
    if array.dtype.kind == "O":
        array = np.where(_missing(array), np.nan, array)
    try:
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        words = sorted({value for value in array.tolist() if isinstance(value, str)})
        if not words:
            raise InvalidInputError(f"{name} must be numbers; found {array.dtype} ({error}).") from None
        # The word that sorts last is the wanted one to scikit-learn, and of no and yes, false and true, N and Y.
        advice = (
            f" Mark wanted rows by 1: y == {words[-1]!r}, if that is the wanted one." if name == "y" else ""
        )
        raise InvalidInputError(f"{name} must be numbers; found {words[0]!r}.{advice}") from None
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
        check_range(matrix)
    return matrix


def check_range(matrix: Any) -> None:
    """Refuse values that single precision, in which most learners count, has no number for; NaN is left alone.

    >>> check_range(np.array([[1.0], [1e39]]))
    Traceback (most recent call last):
        ...
    shortlist.exceptions.InvalidInputError: X has too large or infinite values, the first in row 1 ...
    """
    if issparse(matrix):
        far = np.abs(matrix.data) > LARGEST_VALUE
        if far.any():
            raise _out_of_range(int(np.searchsorted(matrix.indptr, np.argmax(far), side="right")) - 1)
        return
    for start in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        far = (np.abs(matrix[start : start + _ROWS_AT_ONCE]) > LARGEST_VALUE).any(axis=1)
        if far.any():
            raise _out_of_range(start + int(np.argmax(far)))


def _out_of_range(row: int) -> InvalidInputError:
    return InvalidInputError(
        f"X has too large or infinite values, the first in row {row} (counted from 0). Replace them with numbers up to "
        f"{LARGEST_VALUE:.2g}, or with NaN if they are unknown."
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
        # The first words are those by which scikit-learn's tools know the error.
        whole = bool(np.all(values == np.rint(values)))
        kind = "Only binary classification is supported" if whole else "Unknown label type: continuous"
        raise InvalidInputError(
            f"{kind}: y has {values.size} values; a label has two, 1 = wanted and 0 = not. "
            "For amounts use a ranker that takes impacts, such as LambdaMART(objective=CostSaved(k=50))."
        )
    if values.size == 1 and values[0] > 0:
        raise NoUnwantedRowsError(
            f"y marks all of its {array.size} rows as wanted (one class); to learn or to measure takes both kinds. "
            "Add rows that were looked at and dismissed."
        )
    if values.size < 2:
        raise NoWantedRowsError(
            f"y marks none of its {array.size} rows as wanted (one class); to learn or to measure takes at least one. "
            f"{_LABEL_ONE}"
        )
    return array == values[1]


def check_classes(y: ArrayLike, n_rows: int | None = None) -> NDArray:
    """The two values of a label to learn from, sorted; the last one marks the wanted rows. They may be text.

    >>> check_classes(["Y", "N", "N"]).tolist(), check_classes([True, False]).tolist()
    (['N', 'Y'], [False, True])
    """
    array = check_vector(y, "y", n_rows)
    if not _is_text(array):
        check_two_classes(array)
        return np.unique(array)
    _check_all_text(array)
    values = np.unique(array)
    first = values.tolist()[0]
    if values.size > 2:
        raise InvalidInputError(
            f"Only binary classification is supported: y has {values.size} values, {first!r} and others; a label "
            f"has two. Say which is wanted, as in y == {first!r}."
        )
    if values.size < 2:
        raise NoWantedRowsError(
            f"y is {first!r} in all of its {array.size} rows (one class); training needs rows of both kinds. "
            f"{_LABEL_ONE}"
        )
    return values


def _is_text(array: NDArray) -> bool:
    if array.dtype.kind == "O":
        return any(isinstance(value, str) for value in array)
    return array.dtype.kind in "UST"


def _check_all_text(array: NDArray) -> None:
    if array.dtype.kind != "O":
        return
    odd = [row for row, value in enumerate(array) if not isinstance(value, str)]
    if odd:
        raise InvalidInputError(
            f"y is text, but not in {len(odd)} rows, the first of which, {odd[0]} (counted from 0), holds "
            f"{array[odd[0]]!r} (NaN is a gap). Every row has a label: fill the gaps or drop those rows."
        )


def check_impact(y: ArrayLike, n_rows: int | None = None, *, name: str = "impact") -> NDArray[np.float64]:
    """Impacts: finite and not negative; 0 for rows that do not matter."""
    array = check_finite(y, name, n_rows)
    if array.size and array.min() < 0:
        row = int(np.argmax(array < 0))
        raise InvalidInputError(
            f"{name} must not be negative; row {row} (counted from 0) has {array[row]:g}. "
            "Set rows that do not matter to 0."
        )
    if array.max(initial=0) > _LARGEST_IMPACT:
        raise InvalidInputError(
            f"the largest {name} is {array.max():g}, and sums of such numbers overflow. Give it in a larger unit."
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
            f"groups is missing for {counted(int(missing.sum()), 'row')}, the first is row {row} (counted from 0). "
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
    """Where a value is missing; only objects need to be looked at one by one."""
    if array.dtype.kind == "O":
        return np.array([is_missing(value) for value in array], dtype=bool)
    return np.asarray(array != array)  # noqa: PLR0124


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or what pandas writes for a gap.

    >>> is_missing(float("nan")), is_missing(None), is_missing("nan")
    (True, True, False)
    """
    # pandas' NA compares with nothing, not even with itself, and pandas need not be there.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


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


def check_both_weigh(wanted: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    """Labels as they are; weights that leave rows of one class only are refused."""
    for kind, rows in (("wanted", wanted), ("unwanted", ~wanted)):
        if weight is not None and not weight[rows].any():
            raise NoWantedRowsError(
                f"every {kind} row has sample_weight 0, so one class is left; give at least one a positive weight."
            )
    return wanted


def check_budget(budget: Any, n_rows: int | None = None, *, name: str = "budget") -> int:
    """A number of rows to review: a whole number of at least 1, and no more than there are rows."""
    if not _is_whole(budget) or int(budget) < 1:
        raise InvalidInputError(f"{name} must be a whole number of at least 1; got {budget!r}.")
    if n_rows == 0:
        raise InvalidInputError(f"{name} is {budget} but there are no rows; give some.")
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


def check_seed(random_state: Any) -> Any:
    """What chance is drawn from, as it is: a whole number, a generator of NumPy's of either kind, or None for any."""
    if random_state is None or isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    if not _is_whole(random_state) or random_state < 0:
        raise InvalidInputError(
            f"random_state must be a whole number of at least 0, a generator of NumPy's, or None; got {random_state!r}."
        )
    return int(random_state)


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator from any ``random_state``; one of NumPy's new kind is itself used on.

    >>> int(make_generator(7).integers(100) - make_generator(np.int64(7)).integers(100))
    0
    """
    seed = check_seed(random_state)
    return np.random.default_rng(seed.randint(2**31) if isinstance(seed, np.random.RandomState) else seed)


def draw_seed(random_state: Any, below: int = 2**31) -> int:
    """A number drawn from any ``random_state``, as scikit-learn draws it: None is NumPy's global generator.

    >>> draw_seed(0) == np.random.RandomState(0).randint(2**31)
    True
    """
    seed = check_seed(random_state)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(below))
    if seed is None:
        return int(np.random.randint(below))  # noqa: NPY002
    if isinstance(seed, int) and seed >= 2**32:
        raise InvalidInputError(f"random_state must be less than 2**32; got {seed}.")
    return int((np.random.RandomState(seed) if isinstance(seed, int) else seed).randint(below))


def _is_whole(number: Any) -> bool:
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)
