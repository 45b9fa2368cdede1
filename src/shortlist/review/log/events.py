"""The events of a review. The log of them is the truth; everything else is a function of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias, get_args

from shortlist.languages.words import Message
from shortlist.review.errors import DamagedError
from shortlist.verdicts import Verdict


class Drawn(StrEnum):
    """Why a row was shown."""

    TOP = "top"
    AUDIT = "audit"
    REOPENED = "reopened"
    CHOSEN = "chosen"  # by a reviewer, from the list
    ASSIGNED = "assigned"  # by a lead, or handed over
    SECOND = "second"  # somebody has judged it, and another is asked without being told what was said


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
    #: In logs of before: random checks that the ranking had reached. Nothing rests on it now.
    passed: tuple[int, ...] = ()
    #: The reasons that were on the screen (``Reasons.stored``); None: none were, or the log is of before.
    why: dict[str, Any] | None = None


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
    together: int = (
        0  # the first event of verdicts that were given, and are taken back, together; 0: given alone
    )


@dataclass(frozen=True)
class Undo:
    """A verdict is taken back; the model becomes the one that never saw it."""

    kind: ClassVar[str] = "undo"
    row: int
    answers: int  # the verdict
    second: bool = False  # a second opinion is taken back, and the verdict stays


@dataclass(frozen=True)
class Park:
    """A row is put off; it returns to its place when the time comes."""

    kind: ClassVar[str] = "park"
    row: int
    answers: int
    until: float


@dataclass(frozen=True)
class Kept:
    """A living page keeps its row: nobody else may have it before then."""

    kind: ClassVar[str] = "kept"
    row: int
    shown: int
    until: float


@dataclass(frozen=True)
class Note:
    """A remark on a row."""

    kind: ClassVar[str] = "note"
    row: int
    note: str = ""  # empty: erased


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
    sha256: str = ""  # of the file; empty: its sum was taken when the chain began


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


@dataclass(frozen=True)
class Second:
    """What somebody says who did not know the first verdict, which stays in force; a lead sees where both differ."""

    kind: ClassVar[str] = "second opinion"
    row: int
    verdict: Verdict
    answers: int
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Joined:
    """Somebody is spoken of who has not done anything here: names stand in ``Event.who`` and nowhere else."""

    kind: ClassVar[str] = "joined"


@dataclass(frozen=True)
class Assigned:
    """A row is for one person from now on, who gets it before all others."""

    kind: ClassVar[str] = "assigned"
    row: int
    to: int  # the first event of that person; 0: to nobody


@dataclass(frozen=True)
class Erased:
    """Nothing is known of a row any more: neither its id and values, nor what was written or shown of it.

    What was said of it stays, and so does its place in the score space, on which the ranking rests.
    """

    kind: ClassVar[str] = "erased"
    row: int
    files: dict[str, str]  # those that were written anew without it, and their sums
    leaves: tuple[int, ...] = ()  # where a row that was appended is placed, one leaf of each member
    #: Fingerprints of lines of before, by number, whose words the chain covered to the letter.
    lines: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NameErased:
    """Nobody knows any more what a person is called; what they did stays, under a number."""

    kind: ClassVar[str] = "name erased"
    person: int  # their first event


Body: TypeAlias = (
    Shown | Judged | Undo | Park | Kept | Note | SettingsChanged | Appended | Imported | Override | Second | Joined
    | Assigned | Erased | NameErased
)  # fmt: skip
BODIES: dict[str, type] = {body.kind: body for body in get_args(Body)}


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


def was_chosen(answer: Event, shown: Mapping[int, Event]) -> bool:
    """Whether a verdict is on a row that somebody chose from the list, so that it tells nothing of the ranking."""
    seen = shown[answer.body.answers].body if isinstance(answer.body, Judged) else None
    return isinstance(seen, Shown) and seen.drawn in (Drawn.CHOSEN, Drawn.ASSIGNED)


def to_payload(body: Body) -> dict[str, Any]:
    """A body as plain values for JSON."""
    return {field.name: getattr(body, field.name) for field in fields(body)}


def from_payload(kind: str, payload: dict[str, Any]) -> Body:
    """The body that ``to_payload`` gave.

    >>> body = Judged(3, Verdict.WANTED, answers=7, learn=True)
    >>> from_payload("verdict", to_payload(body)) == body
    True
    """
    body = BODIES.get(kind)
    if body is None:
        raise DamagedError(
            Message(
                "the log holds an event of a kind that this version of Shortlist does not know: %(kind)s. Install a "
                "later one.",
                kind=kind,
            )
        )
    known = {field.name for field in fields(body)}
    values = {name: value for name, value in payload.items() if name in known}
    for name, convert in (("verdict", Verdict), ("drawn", Drawn), ("passed", tuple), ("leaves", tuple)):
        if name in values:
            values[name] = convert(values[name])
    return body(**values)
