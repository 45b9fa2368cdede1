"""What is asked of a queue, and what the rules make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shortlist.languages.words import Message, joined
from shortlist.review.errors import BadRequestError, ReviewError
from shortlist.review.log.events import Body, Drawn
from shortlist.verdicts import Verdict

MOST_TEXT = 2000
#: Rows that one choice may decide: each is learned from, while others wait.
MOST_TOGETHER = 200


class Said(NamedTuple):
    """What a reviewer says."""

    verdict: Verdict
    note: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Prepared:
    """Events to write, and the row that its reviewer gets next: one that was taken back, or chosen from the list.

    ``newcomer`` is somebody of whom the log has not heard, and whom these events speak of: it is told first.
    ``refused``: what was asked cannot be done, and these events keep what else came with it.
    """

    bodies: Sequence[Body] = ()
    next: tuple[int, Drawn] | None = None
    newcomer: str | None = None
    refused: ReviewError | None = None


@dataclass
class Request:
    """Something to write to the log, to read from the engine, or both; ``who`` then gets a turn if they want one."""

    who: str
    prepare: Callable[[float], Prepared] = field(default=lambda now: Prepared())
    answer: Callable[[], Any] | None = None  # read once all is written; None: the reviewer's turn
    learned: bool = False  # whether all that came before it must be learned: it logs scores, or adds rows


def check_named(named: set[str], columns: Sequence[str]) -> None:
    """Refuse settings that speak of columns which the table does not have."""
    unknown = sorted(named - {*columns})
    if unknown:
        raise BadRequestError(
            Message(
                "these columns are not in the table: %(unknown)s. It has: %(known)s.",
                unknown=", ".join(unknown),
                known=", ".join(columns),
            )
        )


def checked_text(text: str) -> str:
    """A text that fits the log."""
    if len(text) > MOST_TEXT:
        raise BadRequestError(
            Message(
                "a note has at most %(most)s characters; this one has %(length)s.",
                most=MOST_TEXT,
                length=len(text),
            )
        )
    return text.strip()


def with_unkept(refusal: str, note: str) -> str:
    """A refusal that gives a note back which is kept nowhere.

    >>> str(with_unkept("there is no such row.", "ask Kim"))
    'there is no such row. Your note was not kept: “ask Kim”'
    """
    text = note.strip()
    return joined([refusal, Message("Your note was not kept: “%(note)s”", note=text)]) if text else refusal
