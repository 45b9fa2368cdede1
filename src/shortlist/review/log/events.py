"""The events of a review. The log of them is the truth; everything else is a function of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from shortlist.verdicts import Verdict


class Drawn(StrEnum):
    """Why a row was shown."""

    TOP = "top"
    AUDIT = "audit"
    REOPENED = "reopened"


@dataclass(frozen=True)
class Shown:
    """A row was given to a reviewer, with the score it had then."""

    kind: ClassVar[str] = "shown"
    row: int
    rank: int
    score: float
    drawn: Drawn
    version: int
    until: float  # when the lease ends
    #: Audited rows that the ranking would have reached by now: they no longer stand for the rows it has not.
    passed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Judged:
    """The answer to a ``shown``; one shown row has at most one answer."""

    kind: ClassVar[str] = "verdict"
    row: int
    verdict: Verdict
    answers: int
    learn: bool  # False: the ranking must not learn from it (a random check)
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Undo:
    """A verdict is taken back; the model becomes the one that never saw it."""

    kind: ClassVar[str] = "undo"
    row: int
    answers: int  # the verdict


@dataclass(frozen=True)
class Park:
    """A row is put off; it returns to its place when the time comes."""

    kind: ClassVar[str] = "park"
    row: int
    answers: int
    until: float


@dataclass(frozen=True)
class Note:
    """A remark on a row."""

    kind: ClassVar[str] = "note"
    row: int
    note: str


@dataclass(frozen=True)
class SettingsChanged:
    """Settings that may change during a review, such as the budget."""

    kind: ClassVar[str] = "settings"
    changes: dict[str, Any]


@dataclass(frozen=True)
class Appended:
    """Rows arrived; they are in the named file of the workspace."""

    kind: ClassVar[str] = "rows appended"
    file: str
    rows: int


@dataclass(frozen=True)
class Imported:
    """A verdict that was known before, from a file or a label column."""

    kind: ClassVar[str] = "imported verdict"
    row: int
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True)
class Override:
    """A lead decides on a row, whatever was said before."""

    kind: ClassVar[str] = "override"
    row: int
    verdict: Verdict
    note: str = ""


Body: TypeAlias = Shown | Judged | Undo | Park | Note | SettingsChanged | Appended | Imported | Override
BODIES: dict[str, type] = {
    body.kind: body
    for body in (Shown, Judged, Undo, Park, Note, SettingsChanged, Appended, Imported, Override)
}


@dataclass(frozen=True)
class Event:
    """One line of the log."""

    seq: int
    at: float  # seconds since 1970, UTC
    who: str
    body: Body

    @property
    def kind(self) -> str:
        """The name of the event in the log."""
        return self.body.kind

    @property
    def row(self) -> int | None:
        """The row it is about, if it is about one."""
        return getattr(self.body, "row", None)

    @property
    def answers(self) -> int | None:
        """The event it answers; no two events answer the same one."""
        return getattr(self.body, "answers", None)


def to_payload(body: Body) -> dict[str, Any]:
    """A body as plain values for JSON."""
    return {field.name: getattr(body, field.name) for field in fields(body)}


def from_payload(kind: str, payload: dict[str, Any]) -> Body:
    """The body that ``to_payload`` gave.

    >>> body = Judged(3, Verdict.WANTED, answers=7, learn=True)
    >>> from_payload("verdict", to_payload(body)) == body
    True
    """
    body = BODIES[kind]
    known = {field.name for field in fields(body)}
    values = {name: value for name, value in payload.items() if name in known}
    for name, convert in (("verdict", Verdict), ("drawn", Drawn), ("passed", tuple)):
        if name in values:
            values[name] = convert(values[name])
    return body(**values)
