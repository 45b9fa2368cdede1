"""The log on disk: the only place that knows SQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from shortlist.languages.words import Message
from shortlist.review.errors import BadRequestError, DamagedError, NoQueueError, NotOwnerError
from shortlist.review.log import sqlite
from shortlist.review.log.chain import link, mark_of, new_salt, text_of
from shortlist.review.log.database import Database, Remote, check_may_upgrade, reading, writing
from shortlist.review.log.end import tell_end, told_end
from shortlist.review.log.events import Erased, Event, NameErased
from shortlist.review.log.lines import (
    bare,
    chain_faults,
    chained,
    check_next,
    event_of,
    forget,
    is_of_its_types,
    object_of,
    print_of,
    root_of,
    unreadable_queue,
)
from shortlist.review.log.postgres import Postgres
from shortlist.review.log.tables import EVENTS, PEOPLE, QUEUES

#: Events read at a time: whoever reads a long log slowly must not keep others from a connection.
PAGE = 1000
#: Seconds that whoever takes a queue over waits for a transaction of its last owner, before trying again: those who
#: only read must not wait as long as it takes until somebody who is gone is missed.
OWN_SECONDS = 5
#: Before any number that an event could be given.
FIRST = -(2**62)
#: What every verdict needs; made once, as making a statement takes longer than running it.
_QUEUE = sa.select(QUEUES).where(QUEUES.c.id == sa.bindparam("of"))
_ADD = sa.insert(EVENTS)
_ENDS: dict[str, Any] = {"seq": sa.bindparam("last"), "head": sa.bindparam("its_hash")}
_MOVE_HEAD = sa.update(QUEUES).where(QUEUES.c.id == sa.bindparam("of")).values(_ENDS)


class Store:
    """An append-only log of events per queue, in SQLite or PostgreSQL; every commit is synced to disk.

    >>> store = Store.open(Path(tempfile.mkdtemp()) / "log.sqlite")
    >>> store.create_queue("claims", 0.0, {"seed": 0})
    1
    >>> store.fixed(1)["seed"]
    0
    >>> store.close()
    """

    def __init__(self, database: Database) -> None:
        self._database, self._engine, self._temporary = database, database.engine, ExitStack()
        self._locked = database.lock_queue(_QUEUE)
        self._known: dict[str, sa.Row] = {}  # people by name, so that not every verdict asks for them
        self._owner: dict[int, int] = {}  # the number under which we own a queue

    @classmethod
    def create(cls, place: Path | Remote) -> Store:
        """A log for a new queue; what a start that did not come to its end left there is removed."""
        if isinstance(place, Path):
            sqlite.remove(place)
        return cls.open(place)

    @classmethod
    def open(cls, place: Path | Remote, *, read_only: bool = False) -> Store:
        """Open the log of a workspace, made or brought up to date where it is not."""
        if isinstance(place, Remote):
            return cls._open_elsewhere(place, read_only)
        return cls._open_to_read(place) if read_only else cls._open_to_write(place, place.parent)

    @classmethod
    def _open_to_write(cls, path: Path, folder: Path) -> Store:
        with ExitStack() as unless_opened, writing():
            store = cls(sqlite.Sqlite(path, folder))
            unless_opened.callback(store.close)
            with reading():
                store._database.is_current()
            store._database.upgrade()
            unless_opened.pop_all()
        return store

    @classmethod
    def _open_to_read(cls, path: Path) -> Store:
        """The log as it is; an older one is read from a copy that is brought up to date."""
        store = cls(sqlite.Sqlite(path, path.parent, read_only=True))
        with ExitStack() as unless_opened, reading():
            unless_opened.callback(store.close)
            if store._database.is_current():
                unless_opened.pop_all()
                return store
        with ExitStack() as unless_opened, reading():
            place = Path(unless_opened.enter_context(tempfile.TemporaryDirectory())) / path.name
            sqlite.copy(path, place)
            copied = cls._open_to_write(place, path.parent)
            copied._temporary = unless_opened.pop_all()
        return copied

    @classmethod
    def _open_elsewhere(cls, place: Remote, read_only: bool) -> Store:
        with ExitStack() as unless_opened, reading():
            store = cls(Postgres(place, read_only=read_only))
            unless_opened.callback(store.close)
            if not store._database.is_current():
                check_may_upgrade(read_only)
                store._database.upgrade()
            unless_opened.pop_all()
        return store

    @property
    def database(self) -> Database:
        """Where the log is kept."""
        return self._database

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()
        self._temporary.close()

    # -- queues

    def create_queue(
        self, name: str, created: float, fixed: dict[str, Any], sums: dict[str, str] | None = None
    ) -> int:
        """Write what never changes of a queue, and the sums of its files; returns its number."""
        about = {
            "name": self._database.known_as(name),
            "created": float(created),
            "fixed": text_of(fixed),
            "files": text_of(sums or {}),
        }
        values = {**about, "unchained": 0, "seq": 0, "head": link("", [*about.values()])}
        with writing(), self._database.transaction() as connection:
            done = connection.execute(sa.insert(QUEUES).values(values))
            return int(done.inserted_primary_key[0])  # type: ignore[index]

    def number_of(self, name: str) -> int:
        """The number of a queue; one that is alone in its log may have another name, as its folder may be renamed."""
        name = self._database.known_as(name)
        with self._reading() as connection:
            rows = connection.execute(sa.select(QUEUES.c.name, QUEUES.c.id).order_by(QUEUES.c.name)).all()
        number = {row.name: row.id for row in rows}.get(name, rows[0].id if len(rows) == 1 else None)
        if number is None:
            raise NoQueueError(
                Message(
                    "the log holds no queue '%(name)s'; it holds: %(known)s. Give the folder the name of its queue.",
                    name=name,
                    known=", ".join(row.name for row in rows) or "–",
                )
            )
        return number

    def fixed(self, queue: int) -> dict[str, Any]:
        """What was fixed when the queue was made."""
        return object_of(self._about(queue).fixed)

    def sums(self, queue: int) -> dict[str, str]:
        """The sums of the files that were there when the chain began."""
        return object_of(self._about(queue).files)

    def own(self, queue: int) -> None:
        """Become the one who writes to a queue: whoever was it before cannot any more, even if their lock is gone."""
        with writing(), self._database.transaction() as connection:
            self._database.wait_at_most(connection, OWN_SECONDS)
            raised = sa.update(QUEUES).where(QUEUES.c.id == queue).values(owner=QUEUES.c.owner + 1)
            connection.execute(raised)
            self._owner[queue] = self._about(queue, connection).owner

    def is_owned(self, queue: int) -> bool:
        """Whether nobody else has become the owner of a queue since we did."""
        return self._owner.get(queue) == self._about(queue).owner

    # -- events

    def append(self, queue: int, events: Iterable[Event]) -> None:
        """Write events in one transaction: all of them are on disk when this returns, or none is."""
        events = list(events)
        if not events:
            return
        with writing(), self._database.transaction() as connection:
            self._database.check_there()
            before = connection.execute(self._locked, {"of": queue}).one()
            _check_owner(before, self._owner.get(queue))
            check_next(before, events)
            people = self._people(connection, events)
            lines = chained(queue, before.head, events, people)
            connection.execute(_ADD, lines)
            for event in events:
                if isinstance(event.body, Erased | NameErased):
                    forget(connection, queue, event.body)
            head = {"of": queue, "last": lines[-1]["seq"], "its_hash": lines[-1]["hash"]}
            connection.execute(_MOVE_HEAD, head)
        self._known |= people  # only now: those who are new are in the log
        if any(isinstance(event.body, NameErased) for event in events):
            self.forget_names()
        tell_end(self._database.end, lines[-1]["seq"], lines[-1]["hash"])

    def events(
        self,
        queue: int,
        *,
        after: int = 0,
        row: int | None = None,
        kinds: Iterable[str] = (),
        who: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[Event]:
        """Events in the order of the log or against it: of a row, of some kinds, of a reviewer, or all."""
        kinds = list(kinds)
        wanted = [
            *([EVENTS.c.row == row] if row is not None else []),
            *([EVENTS.c.kind.in_(kinds)] if kinds else []),
            *([_name() == _storable(who)] if who is not None else []),
        ]
        for found in self._lines(queue, wanted, after=after, limit=limit, newest_first=newest_first):
            yield event_of(found)

    def forget_names(self) -> None:
        """Ask anew who is who: a name was erased."""
        self._known.clear()

    def n_nameless(self) -> int:
        """How many people have lost their names, in all queues of this database."""
        query = sa.select(sa.func.count()).select_from(PEOPLE).where(PEOPLE.c.name.is_(None))
        with self._reading() as connection:
            return connection.execute(query).scalar_one()

    def old_words(self, queue: int, row: int) -> dict[str, str]:
        """Lines of before on a row, whose words stand where they were hashed: fingerprints of what is left of them."""
        lines = self._lines(queue, [EVENTS.c.row == row, EVENTS.c.words.is_(None)])
        left = ((line, bare(line.payload)) for line in lines)
        return {
            str(line.seq): print_of({**line._mapping, "payload": kept}, line.mark)
            for line, kept in left
            if kept
        }

    def forget_the_past(self, *tables: str) -> None:
        """Write anew what holds erased values: pages that are no longer used, and the write-ahead log."""
        with writing():
            self._database.forget_the_past(tables or (PEOPLE.name, EVENTS.name))

    # -- the proof

    def unchained(self, queue: int) -> int:
        """How many events were there before there was a chain: it proves only what came after them."""
        return int(self._about(queue).unchained)

    def head(self, queue: int) -> tuple[int, str]:
        """The number of the last event and the hash that stands for the whole log up to it."""
        about = self._about(queue)
        return int(about.seq), str(about.head)

    def hash_of(self, queue: int, seq: int) -> str | None:
        """The hash of an event, if there is one; that of the beginning for 0."""
        query = sa.select(EVENTS.c.hash).where(EVENTS.c.queue == queue, EVENTS.c.seq == seq)
        with self._reading() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return root_of(self._about(queue)) if seq == 0 else found

    def faults(self, queue: int, published: Iterable[tuple[int, str]] = ()) -> Iterator[str]:
        """Where the log is not as it was written, in the order of the log.

        ``published``: events and their hashes, as they were told outside of the log.
        """
        with self._reading() as connection:
            said = [*self._database.faults(connection)]
        yield from said
        about = self._line_of(queue)
        if not is_of_its_types(about._mapping, QUEUES):
            yield "what the log says of the queue itself is not as it was written: a value is of another type."
            return
        expected = {(about.seq, about.head), *told_end(self._database.end).items(), *published}
        lines = self._lines(queue, [], after=FIRST)
        yield from chain_faults(about, lines, *self._erased(queue), expected)
        yield from self._other_faults()

    def _erased(self, queue: int) -> tuple[dict[int, int], dict[int, str]]:
        """Rows that were erased, with the last event that says so, and fingerprints of lines that lost their words."""
        rows, lines = dict[int, int](), dict[int, str]()
        for line in self._lines(queue, [EVENTS.c.kind == Erased.kind]):
            # One that cannot be read is not as it was written, which the chain tells.
            with suppress(DamagedError, ValueError, TypeError, AttributeError):
                event = event_of(line)
                if isinstance(event.body, Erased):
                    rows[event.body.row] = event.seq
                    lines |= {int(seq): told for seq, told in event.body.lines.items()}
        return rows, lines

    def _other_faults(self) -> Iterator[str]:
        with self._reading() as connection:
            people = connection.execute(sa.select(PEOPLE).where(PEOPLE.c.name.is_not(None))).all()
            gone = self._database.missing_triggers(connection)
        for person in people:
            is_told = is_of_its_types(person._mapping, PEOPLE)
            if not is_told or mark_of(person.salt or "", person.name) != person.mark:
                yield f"person {person.id} was given another name."
        if gone:
            yield f"what keeps the log from being rewritten is gone: {', '.join(gone)}."

    # -- reading and writing lines

    def _lines(
        self,
        queue: int,
        wanted: Sequence[sa.ColumnElement[bool]],
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[sa.Row]:
        query = sa.select(EVENTS, _name().label("name"), PEOPLE.c.mark).join(PEOPLE, isouter=True)
        query = query.where(EVENTS.c.queue == queue, EVENTS.c.seq > after, *wanted)
        query = query.order_by(EVENTS.c.seq.desc() if newest_first else EVENTS.c.seq)
        left, further = limit, sa.true()
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            with self._reading() as connection:
                page = connection.execute(query.where(further).limit(size)).all()
            yield from page
            if len(page) < size:
                return
            left = None if left is None else left - size
            last = page[-1].seq
            further = EVENTS.c.seq < last if newest_first else EVENTS.c.seq > last

    def _people(self, connection: sa.Connection, events: Iterable[Event]) -> dict[str, sa.Row]:
        """The people of some events; those who are new are written."""
        names = {event.who for event in events}
        if names <= self._known.keys():
            return self._known
        query = sa.select(PEOPLE.c.id, _name().label("name"), PEOPLE.c.salt, PEOPLE.c.mark).where(
            _name().in_(names)
        )
        known = {person.name: person for person in connection.execute(query)}
        for person in known.values():
            if person.salt is None:
                raise BadRequestError(
                    Message(
                        "'%(name)s' stands for somebody whose name was erased; choose another.",
                        name=person.name,
                    )
                )
        new = [(name, new_salt()) for name in sorted(names - known.keys())]
        if not new:
            return known
        lines = [{"name": name, "salt": salt, "mark": mark_of(salt, name)} for name, salt in new]
        self._database.insert_new(connection, PEOPLE, lines)
        return {person.name: person for person in connection.execute(query)}

    def _about(self, queue: int, connection: sa.Connection | None = None) -> sa.Row:
        about = self._line_of(queue, connection)
        if not is_of_its_types(about._mapping, QUEUES):
            raise unreadable_queue()
        return about

    def _line_of(self, queue: int, connection: sa.Connection | None = None) -> sa.Row:
        if connection is not None:
            return connection.execute(_QUEUE, {"of": queue}).one()
        with self._reading() as reader:
            return reader.execute(_QUEUE, {"of": queue}).one()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with reading(), self._engine.connect() as connection:
            yield connection


def _check_owner(before: sa.Row, owner: int | None) -> None:
    if owner is not None and before.owner != owner:
        raise NotOwnerError(
            Message("another server owns this queue by now; nothing has changed here. Send this again to it.")
        )


def _name() -> sa.ColumnElement[str]:
    """What a person is called; a number where the name was erased."""
    return sa.func.coalesce(PEOPLE.c.name, sa.literal("erased ") + sa.cast(PEOPLE.c.id, sa.String))


def _storable(name: str) -> str:
    """A name to look for; with characters that no database takes, one that nobody has."""
    return name.encode(errors="ignore").decode().replace("\0", "")
