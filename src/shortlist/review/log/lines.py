"""Events as lines of the table, each linked to the one before by its hash, and lines as events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType
from typing import Any

import sqlalchemy as sa

from shortlist.languages.words import Message
from shortlist.review.errors import DamagedError, StoreError
from shortlist.review.log.chain import link, new_salt, seal_of, text_of
from shortlist.review.log.events import Erased, Event, NameErased, from_payload, to_payload
from shortlist.review.log.tables import EVENTS, PEOPLE, allow, forbid_changes

#: Fields of events that people wrote, or that hold values of a row. They stand beside the line; the chain covers a
#: salted hash of them, the seal, so that they can be erased.
WORDS = ("note", "reason", "why")
#: What a payload ends with where there are words to it.
_SEALED = re.compile(r',"seal":"([0-9a-f]{64})"\}\Z')


def check_next(before: sa.Row, events: Sequence[Event]) -> None:
    """Whether events follow the last one of their queue."""
    if [event.seq for event in events] != [*range(before.seq + 1, before.seq + 1 + len(events))]:
        raise StoreError(
            Message(
                "the log ends at event %(last)s, so event %(next)s cannot follow: another server has written "
                "to this queue. Ask again.",
                last=before.seq,
                next=events[0].seq,
            )
        )


def event_of(found: sa.Row) -> Event:
    """The event of a line that was read."""
    try:
        words = json.loads(found.words) if found.words else {}
        body = from_payload(found.kind, {**json.loads(found.payload), **words})
        return Event(found.seq, found.at, found.name, body)
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedError(
            Message(
                "event %(seq)s of the log cannot be read (%(reason)s). Put a copy of the whole folder back.",
                seq=found.seq,
                reason=str(error),
            )
        ) from error


def object_of(stored: str) -> dict[str, Any]:
    """The JSON object that was stored of a queue.

    >>> object_of('{"seed":1}')
    {'seed': 1}
    """
    try:
        found = json.loads(stored)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise unreadable_queue()
    return found


def unreadable_queue() -> DamagedError:
    """What is said of a queue about which the log holds something else than was written."""
    return DamagedError(
        Message("what the log says of the queue itself cannot be read. Put a copy of the whole folder back.")
    )


def is_of_its_types(line: Mapping[Any, Any], table: sa.Table) -> bool:
    """Whether each value is of the type of its column: SQLite keeps whatever it is given."""
    return all(isinstance(line[name], types) for name, types in _types(table))


@cache
def _types(table: sa.Table) -> list[tuple[str, tuple[type, ...]]]:
    return [(c.name, (c.type.python_type, *([NoneType] if c.nullable else []))) for c in table.columns]


def root_of(about: sa.Row) -> str:
    """Where the chain of a queue begins: with what never changes."""
    return link("", [about.name, about.created, about.fixed, about.files])


def chained(
    queue: int, head: str, events: Iterable[Event], people: dict[str, sa.Row]
) -> list[dict[str, Any]]:
    """Events as lines of the table, each with the hash that links it to the one before."""
    lines = []
    for event in events:
        person, (payload, words) = people[event.who], divided(to_payload(event.body))
        salt = new_salt() if words else None
        sealed = {"seal": seal_of(salt, words)} if salt and words else {}
        line = {
            "queue": queue,
            "seq": event.seq,
            "at": float(event.at),
            "who": person.id,
            "kind": event.kind,
            "row": event.row,
            "answers": event.answers,
            "payload": text_of({**payload, **sealed}),
        }
        head = link(head, hashed(line, person.mark))
        lines.append({**line, "hash": head, "words": words, "salt": salt})
    return lines


def divided(payload: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """What of a payload the chain covers to the letter, and the words as they are stored beside it, if there are any.

    >>> divided({"row": 3, "note": "seen", "reason": ""})
    ({'row': 3}, '{"note":"seen"}')
    """
    words = {name: payload[name] for name in WORDS if payload.get(name)}
    return {name: payload[name] for name in payload if name not in WORDS}, text_of(words) if words else None


def bare(payload: str) -> str | None:
    """What is left of a line of before, whose words the chain covered to the letter; None: it has none.

    >>> bare('{"row":3,"note":"seen"}'), bare('{"row":3}')
    ('{"row":3}', None)
    """
    left, words = divided(json.loads(payload))
    return None if words is None else text_of(left)


def print_of(line: Any, mark: str | None) -> str:
    """A fingerprint of a line of before that has lost its words; its hash is that of the line with them."""
    return link("bare", hashed(line, mark))


def is_as_written(line: Any, mark: str | None, before: str, bared: Mapping[int, str]) -> bool:
    """Whether a line holds what it held when it was written after the line with the hash ``before``.

    The hash of a line of before that has lost its words cannot be made again, so ``bared`` has fingerprints of what is
    left of such lines; their hashes still hold the lines around them together.
    """
    told = bared.get(line["seq"])
    return link(before, hashed(line, mark)) == line["hash"] if told is None else told == print_of(line, mark)


def chain_faults(
    about: sa.Row,
    lines: Iterable[sa.Row],
    erased: Mapping[int, int],
    bared: Mapping[int, str],
    expected: set[tuple[int, str]],
) -> Iterator[str]:
    """Where lines of a queue, from the first on, are not as they were written; what is ``expected`` must be there."""
    before, head = 0, root_of(about)
    missing = expected - {(before, head)}
    for found in lines:
        line = found._mapping
        if not is_of_its_types(line, EVENTS) or not isinstance(found.mark, str | None):
            yield f"event {before + 1} is not as it was written: a value of it is of another type."
            before, head = before + 1, found.hash
            continue
        if found.seq != before + 1:
            yield f"after event {before} comes event {found.seq}: what was between them is missing."
        if not is_as_written(line, found.mark, head, bared):
            yield f"event {found.seq} is not as it was written, or does not follow event {before}."
        if fault := words_fault(line, erased):
            yield fault
        if found.seq <= about.unchained and _seal_in(found.payload):
            yield f"event {found.seq} was written with the chain, and the queue says that it began later."
        before, head = found.seq, found.hash
        missing.discard((before, head))
    for seq, hash in sorted(missing):
        yield f"the log should hold event {seq} with the hash {hash[:16]}, and does not."


def words_fault(line: Any, erased: Mapping[int, int]) -> str | None:
    """What is wrong with the words of a line, if anything is; ``erased``: rows, and the event that says so."""
    sealed = _seal_in(line["payload"])
    if line["words"] is not None:
        is_whole = sealed and line["salt"] and seal_of(line["salt"], line["words"]) == sealed[1]
        return None if is_whole else f"the words of event {line['seq']} are not as they were written."
    if sealed and erased.get(line["row"], 0) < line["seq"]:
        return f"the words of event {line['seq']} are gone, and no event says that they were erased."
    return None


def _seal_in(payload: str) -> re.Match[str] | None:
    return _SEALED.search(payload, len(payload) - 75)


def hashed(line: Any, mark: str | None) -> list[Any]:
    """What the hash of a line is made from: never a name or words, so that they can be erased."""
    return [line["seq"], line["at"], mark, *(line[name] for name in ("kind", "row", "answers", "payload"))]


def forget(connection: sa.Connection, queue: int, erased: Erased | NameErased) -> None:
    """Take away what an event says is erased."""
    if isinstance(erased, Erased):
        _forget_words(connection, queue, erased)
        return
    first = (EVENTS.c.queue == queue) & (EVENTS.c.seq == erased.person)
    person = PEOPLE.c.id == sa.select(EVENTS.c.who).where(first).scalar_subquery()
    connection.execute(sa.update(PEOPLE).where(person).values(name=None, salt=None))


def _forget_words(connection: sa.Connection, queue: int, erased: Erased) -> None:
    """Take what was written or shown of a row away; of lines of before, from where it was hashed."""
    of_row = (EVENTS.c.queue == queue) & (EVENTS.c.row == erased.row)
    connection.execute(
        sa.update(EVENTS).where(of_row & EVENTS.c.words.is_not(None)).values(words=None, salt=None)
    )
    if not erased.lines:
        return
    allow(connection, "events_stay_as_they_are")
    for seq in map(int, erased.lines):
        line = of_row & (EVENTS.c.seq == seq)
        left = bare(connection.execute(sa.select(EVENTS.c.payload).where(line)).scalar_one())
        connection.execute(sa.update(EVENTS).where(line).values(payload=left))
    forbid_changes(connection)
