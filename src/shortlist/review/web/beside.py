"""What pages and the API look up in the same way: what stands beside a row, and the queue as a list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from shortlist.languages.words import Language
from shortlist.review.casework.index import index_of
from shortlist.review.casework.links import links_of
from shortlist.review.casework.related import related
from shortlist.review.casework.search import Asked, Desk, Page, find
from shortlist.review.desk.queue import Queue
from shortlist.review.log.events import Drawn, Event, Judged, Second, Shown
from shortlist.review.log.state import verdict_of
from shortlist.review.telling.reasons import Reasons
from shortlist.verdicts import Verdict

#: Columns of the list where the team has not chosen more.
MOST_COLUMNS = 5


def beside_row(queue: Queue, row: int, who: str) -> dict[str, Any]:
    """Links to other systems, and what other rows share with this one in the columns that the team has chosen."""
    settings = queue.snapshot.settings
    return {
        "links": links_of(settings.links, queue.rows.fields(row)) if settings.links else {},
        "related": related(queue.rows, said_of(queue, who), row, settings.columns)
        if settings.columns
        else [],
    }


def seen_by(who: str, queue: Queue, events: Iterable[Event]) -> list[Event]:
    """Events without those that would tell somebody the verdict on a row of which they may be asked themself."""
    hidden = queue.snapshot.hidden_from(who)
    return [event for event in events if event.row not in hidden or not _tells(event)]


def _tells(event: Event) -> bool:
    """Whether an event says what somebody thinks of its row, or where the row stands since."""
    if isinstance(event.body, Shown):
        return event.body.drawn is Drawn.SECOND
    return isinstance(event.body, Judged | Second)


def events_on(queue: Queue, row: int, who: str, **filters: Any) -> list[Event]:
    """What has happened to a row, as far as somebody may know it yet."""
    return seen_by(who, queue, queue.log(row=row, **filters))


def verdict_seen(queue: Queue, row: int, who: str) -> Event | None:
    """The verdict in force on a row; None also for whom it is hidden."""
    return None if row in queue.snapshot.hidden_from(who) else queue.verdict_on(row)


def reasons_on(queue: Queue, row: int, events: Iterable[Event], who: str) -> dict[str, Any]:
    """The reasons that were on the screen when a row was judged, or last shown; else why it is where it is now.

    ``shown`` is the event they are from; None: they are of now.
    """
    seen = [event for event in events if isinstance(event.body, Shown)]
    verdict = verdict_seen(queue, row, who)
    answered = verdict.answers if verdict else None
    told = sorted(
        (event for event in seen if _why(event)), key=lambda event: (event.seq == answered, event.seq)
    )
    shown = told[-1] if told else None
    if shown is None and row in queue.snapshot.hidden_from(who):
        return {"why": Reasons(), "shown": None, "was_shown": bool(seen)}
    why = Reasons.read(_why(shown) or {}) if shown else queue.why(row).result()
    return {"why": why, "shown": shown, "was_shown": bool(seen)}


def _why(event: Event) -> dict[str, Any] | None:
    return event.body.why if isinstance(event.body, Shown) else None


def said_of(queue: Queue, who: str) -> dict[int, Verdict]:
    """Verdicts in force by row, as far as somebody may know them yet."""
    return {row: verdict_of(event) for row, event in _said(queue, who).items()}


def reviewed(queue: Queue) -> list[int]:
    """Rows that have a verdict, whatever it is."""
    return [event.row for event in queue.snapshot.verdicts if event.row is not None]


def _said(queue: Queue, who: str) -> dict[int, Event]:
    hidden = queue.snapshot.hidden_from(who)
    events = (event for event in queue.snapshot.verdicts if event.row not in hidden)
    return {event.row: event for event in events if event.row is not None}


def search(queue: Queue, asked: Asked, who: str, language: Language | None = None) -> tuple[Page, Desk]:
    """A page of the rows asked for, and how matters stood; ``language``: that of a person who asks."""
    midnight = dt.datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    desk = Desk(_said(queue, who), queue.put_off().result(), who, midnight)
    found = find(index_of(queue.rows), asked, desk, lambda rows, n: queue.ranked(rows, n).result(), language)
    return found, desk


def columns_of(queue: Queue) -> list[str]:
    """The columns that a list of rows shows."""
    rows, chosen = queue.rows, queue.snapshot.settings.columns
    value = [rows.value_column] if rows.value_column else []
    names = dict.fromkeys([*chosen, *value, *rows.table.columns])
    shown = [name for name in names if name not in (rows.roles.id, rows.roles.label)]
    return shown[: max(MOST_COLUMNS, len(chosen))]
