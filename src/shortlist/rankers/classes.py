"""Labels as scikit-learn gives them: two values of any kind, of which the last in order is the wanted one."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from shortlist.exceptions import InvalidInputError
from shortlist.validation import check_classes, check_vector
from shortlist.verdicts import LABEL_WORDS


def read_classes(y: ArrayLike, n_rows: int) -> NDArray:
    """The two values of y, sorted. Words that sort the wrong way round are refused, and unknown words warned of.

    >>> read_classes(["no", "yes"], 2).tolist()
    ['no', 'yes']
    """
    if np.asarray(y).ndim == 2:
        y = column_or_1d(y, warn=True)
    classes = check_classes(y, n_rows)
    if isinstance(classes[1], str):
        _check_words(*(str(value) for value in classes))
    return classes


def is_wanted(y: ArrayLike, classes: NDArray, n_rows: int) -> NDArray[np.bool_]:
    """Which rows have the wanted one of two known values.

    >>> is_wanted(["Y", "N"], np.array(["N", "Y"]), 2).tolist()
    [True, False]
    """
    array = check_vector(y, "y", n_rows)
    known = np.isin(array, classes)
    if not known.all():
        other, wanted = classes.tolist()
        raise InvalidInputError(
            f"y holds {array[~known].tolist()[0]!r}, but the ranker learned from {other!r} and {wanted!r}. Give y in "
            "those values."
        )
    return np.asarray(array == classes[1])


def _check_words(other: str, wanted: str) -> None:
    meant = [LABEL_WORDS.get(word.strip().lower()) for word in (other, wanted)]
    if True in (meant[0], None if meant[1] is None else not meant[1]):
        raise InvalidInputError(
            f"y holds {other!r} and {wanted!r}, and in scikit-learn the one that sorts last is the positive class, "
            f"here {wanted!r}. Say which rows are wanted: y == {other!r}."
        )
    if None in meant:
        warnings.warn(
            f"of the labels {other!r} and {wanted!r}, {wanted!r} is taken as wanted: it sorts last, as the positive "
            f"class of scikit-learn does. If {other!r} is wanted, give y == {other!r}.",
            UserWarning,
            stacklevel=2,
        )
