"""What people have noted on a row, for the next who has it on the screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shortlist.review.log.events import Event, Judged, Second


@dataclass(frozen=True)
class Notes:
    """Remarks on a row, oldest first; and what its note field begins with."""

    remarks: tuple[Event, ...] = ()
    draft: str = ""


def notes_on(events: Iterable[Event], who: str) -> Notes:
    """Notes on an open row, from its verdicts, overrides and remarks.

    Whoever takes their own verdict back finds its note in the field again; all others are read beside the row.

    >>> from shortlist.review.log.events import Note
    >>> from shortlist.verdicts import Verdict
    >>> judged = Judged(3, Verdict.WANTED, answers=1, learn=True, note="call the shop")
    >>> notes = notes_on([Event(2, 0.0, "ann", judged), Event(5, 9.0, "bob", Note(3, "closed"))], "ann")
    >>> notes.draft, [event.body.note for event in notes.remarks]
    ('call the shop', ['closed'])
    """
    noted = [event for event in events if getattr(event.body, "note", "")]
    last = next((event for event in reversed(noted) if event.who == who), None)
    if last is None or not isinstance(last.body, Judged | Second):
        return Notes(tuple(noted))
    return Notes(tuple(event for event in noted if event is not last), last.body.note)
