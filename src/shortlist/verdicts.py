"""Verdicts: what a reviewer says of a row, how people write it, and how learners are told it.

A verdict class is added here, with its words and what a learner makes of it: import files, labels that come back to
a stream, the log, the API and the page all follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.validation import check_vector, is_missing

__all__ = ["Verdict"]

#: What people write for yes and for no: as a verdict, as a label, as a flag.
YES = ("yes", "y", "true", "t", "1")
NO = ("no", "n", "false", "f", "0")


class Verdict(StrEnum):
    """What a reviewer says of a row; its value is how it is written in logs, exports and the API.

    >>> Verdict.of(True), Verdict.of(None), Verdict.read("no")
    (<Verdict.WANTED: 'wanted'>, <Verdict.UNSURE: 'unsure'>, <Verdict.NOT_WANTED: 'not wanted'>)
    >>> [verdict.is_wanted for verdict in Verdict]
    [True, False, None]
    """

    WANTED = "wanted"
    NOT_WANTED = "not wanted"
    UNSURE = "unsure"

    @property
    def is_wanted(self) -> bool | None:
        """What a learner is told: True, False, or None to set the row aside."""
        return _MEANING[self].is_wanted

    @property
    def is_decided(self) -> bool:
        """Whether it says if the row is wanted: what is learned and measured."""
        return self.is_wanted is not None

    @property
    def code(self) -> int:
        """Its number in the window of a stream and in its state file."""
        return _MEANING[self].code

    @property
    def words(self) -> tuple[str, ...]:
        """What people write for it."""
        return (self.value, *_MEANING[self].words)

    @classmethod
    def of(cls, told: Any) -> Verdict:
        """A verdict as Python holds it: True (or 1), False (or 0), None, or the verdict itself.

        >>> Verdict.of(1.0), Verdict.of("unsure")
        (<Verdict.WANTED: 'wanted'>, <Verdict.UNSURE: 'unsure'>)
        """
        if isinstance(told, str) and told in [*cls]:
            return cls(told)
        numbers = bool | int | float | np.bool_ | np.integer | np.floating
        if told is None or (isinstance(told, numbers) and told in (0, 1)):
            meant = None if told is None else bool(told)
            return next(verdict for verdict in cls if verdict.is_wanted is meant)
        raise InvalidInputError(f"a verdict is {_one_of(map(_as_told, cls))}; got {told!r}.")

    @classmethod
    def read(cls, said: Any) -> Verdict:
        """A verdict as people write it.

        >>> Verdict.read(0), Verdict.read(" Not wanted ")
        (<Verdict.NOT_WANTED: 'not wanted'>, <Verdict.NOT_WANTED: 'not wanted'>)
        """
        verdict = WORDS.get(str(said).strip().lower())
        if verdict is None:
            raise TableError(f"{str(said)!r} is no verdict; write {WRITTEN}.")
        return verdict


class _Meaning(NamedTuple):
    is_wanted: bool | None  # None: the row is set aside, and nothing is learned
    code: int  # state files hold it, so it never changes; of True and False it is what NumPy makes of them
    words: tuple[str, ...]  # beside its own


_MEANING = {
    Verdict.WANTED: _Meaning(True, 1, (*YES, "1.0")),
    Verdict.NOT_WANTED: _Meaning(False, 0, (*NO, "0.0")),
    Verdict.UNSURE: _Meaning(None, 2, ("maybe", "?")),
}
#: The one vocabulary, in small letters.
WORDS = {word: verdict for verdict in Verdict for word in verdict.words}
#: The part of it that a label may hold: whether a row is wanted must be known.
LABEL_WORDS = {word: verdict.is_wanted for word, verdict in WORDS.items() if verdict.is_wanted is not None}


def decided(said: Mapping[int, Verdict]) -> dict[int, bool]:
    """Rows whose verdict says whether they are wanted, and whether they are: what can be learned and measured.

    >>> decided({7: Verdict.WANTED, 3: Verdict.UNSURE, 5: Verdict.NOT_WANTED})
    {7: True, 5: False}
    """
    return {row: verdict.is_wanted for row, verdict in said.items() if verdict.is_wanted is not None}


def verdict_codes(told: ArrayLike, n_rows: int) -> NDArray[np.int8]:
    """The codes of verdicts: 1 = wanted, 0 = not, None or NaN = unsure, or verdicts themselves.

    >>> verdict_codes([True, None, False], 3), verdict_codes([1.0, np.nan], 2), verdict_codes(["unsure"], 1)
    (array([1, 2, 0], dtype=int8), array([1, 2], dtype=int8), array([2], dtype=int8))
    """
    values = check_vector(told, "wanted", n_rows)
    if values.dtype == np.bool_:
        return values.astype(np.int8)
    if values.dtype.kind in "OU":
        return np.array([Verdict.of(_known(each)).code for each in values.tolist()], dtype=np.int8)
    unsure = np.isnan(values) if values.dtype.kind == "f" else np.zeros(n_rows, dtype=bool)
    for odd in values[~(unsure | np.isin(values, (0, 1)))][:1].tolist():
        Verdict.of(odd)  # which says what a verdict is
    return np.where(unsure, Verdict.UNSURE.code, values == 1).astype(np.int8)


def _known(value: Any) -> Any:
    return None if is_missing(value) else value


def _as_told(verdict: Verdict) -> str:
    """The plain value that ``Verdict.of`` reads as this verdict, or the verdict's own word."""
    plain = verdict.is_wanted
    return f"{plain} ({verdict})" if Verdict.of(plain) is verdict else repr(verdict.value)


def _one_of(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}"


#: How people are told to write a verdict.
WRITTEN = f"{_one_of(Verdict)} (or 1, 0)"
