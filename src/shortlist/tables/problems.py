"""All that is wrong with a table in one message, and what its reader should know although nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shortlist.exceptions import ShortlistError, TableError

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


class Problems:
    """Collects what is wrong, so that a table is mended once and not error by error.

    >>> problems = Problems()
    >>> for name in ("amount", "day"):
    ...     with problems.collected():
    ...         raise TableError(f"column {name!r} is odd.")
    >>> problems.check()
    Traceback (most recent call last):
        ...
    shortlist.tables.problems.SeveralProblems: the table has 2 problems:
      1. column 'amount' is odd.
      2. column 'day' is odd.
    """

    def __init__(self) -> None:
        self._found: list[ShortlistError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Go on behind what is wrong inside."""
        try:
            yield
        except SeveralProblems as several:
            self._found += several.problems
        except ShortlistError as error:
            if str(error) not in map(str, self._found):
                self._found.append(error)

    def check(self) -> None:
        """Raise what was found: the only problem as it is, several as a numbered list."""
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            raise SeveralProblems(self._found)


class SeveralProblems(TableError):
    """More than one thing is wrong with a table."""

    def __init__(self, problems: list[ShortlistError]) -> None:
        self.problems = problems
        listed = "\n".join(f"  {number}. {each}" for number, each in enumerate(problems, start=1))
        super().__init__(f"the table has {len(problems)} problems:\n{listed}")

    def __reduce__(self) -> tuple[type[SeveralProblems], tuple[list[ShortlistError]]]:
        """So that it arrives from other machines as it was."""
        return type(self), (self.problems,)


def tell(note: str) -> None:
    """Say how something was understood that could have been meant otherwise; nobody may be listening."""
    heard = _heard.get()
    if heard is not None and note not in heard:
        heard.append(note)


@contextmanager
def listening() -> Iterator[list[str]]:
    """What is told inside, in order.

    >>> with listening() as notes:
    ...     tell("line 1 is a title.")
    >>> notes
    ['line 1 is a title.']
    """
    notes: list[str] = []
    token = _heard.set(notes)
    try:
        yield notes
    finally:
        _heard.reset(token)
