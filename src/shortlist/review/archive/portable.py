"""Logs and people as files of their own, wherever they are kept, and from such files into a database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from shortlist.exceptions import InvalidInputError
from shortlist.review.log import sqlite
from shortlist.review.log.database import LOG, Database, Remote, reading, writing
from shortlist.review.log.postgres import Postgres
from shortlist.review.log.store import Store
from shortlist.review.log.tables import EVENTS, PEOPLE, QUEUES
from shortlist.review.server.accounts import CHAIN
from shortlist.review.server.tables import IDENTITIES, TOKENS, USERS

#: Lines that are carried at a time.
AT_ONCE = 1000
#: What of people is carried: who has a session or an invitation asks for another one.
OF_PEOPLE = (USERS, TOKENS, IDENTITIES)


def copy_log(place: Path | Remote, target: Path) -> None:
    """The log of one queue as a file, as it is at one moment, while others may write to it."""
    if isinstance(place, Path):
        with reading():
            sqlite.copy(place, target)
        return
    with (
        _opened(Postgres(place, read_only=True)) as source,
        closing(Store.create(target)) as made,
        reading(),
        _at_one_moment(source) as there,
        made.database.transaction() as here,
    ):
        queue = there.execute(sa.select(QUEUES).where(QUEUES.c.name == place.queue)).one()
        of_queue = sa.select(EVENTS).where(EVENTS.c.queue == queue.id)
        known = of_queue.with_only_columns(EVENTS.c.who)
        here.execute(sa.insert(QUEUES).values(queue._mapping))
        _carry(there, here, sa.select(PEOPLE).where(PEOPLE.c.id.in_(known)), PEOPLE)
        _carry(there, here, of_queue.order_by(EVENTS.c.seq), EVENTS)


def copy_people(database: Database, target: Path) -> None:
    """The people of a server as a file, without what is open just now."""
    made = sqlite.Sqlite(target, target.parent)
    with _opened(database) as source, _opened(made), reading():
        made.upgrade(CHAIN)
        with _at_one_moment(source) as there, made.transaction() as here:
            _carry_people(there, here)


def load(url: str, folder: Path, logs: Sequence[Path], people: Path | None) -> None:
    """Put logs, and people, into a database that holds none; all of them or nothing."""
    with _opened(Postgres(Remote(url, "", folder))) as database, writing():
        database.upgrade(LOG)
        database.upgrade(CHAIN)
        with database.transaction() as here:
            database.take_time(here)
            _check_empty(here)
            for log in logs:
                _load_log(log, here)
            if people is not None:
                with (
                    _opened(sqlite.Sqlite(people, folder, read_only=True)) as source,
                    source.engine.connect() as there,
                ):
                    _carry_people(there, here)
            for table in (PEOPLE, USERS):  # the next one gets the next number
                last = sa.select(sa.func.max(table.c.id)).scalar_subquery()
                here.execute(
                    sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table.name, "id"), last))
                )


def _load_log(log: Path, here: sa.Connection) -> None:
    """Queues of one database share their people, so a person may be there by now."""
    Store.open(log).close()  # one of before is brought up to date
    with _opened(sqlite.Sqlite(log, log.parent, read_only=True)) as source, source.engine.connect() as there:
        queue = dict(there.execute(sa.select(QUEUES)).one()._mapping)
        known = set(here.execute(sa.select(PEOPLE.c.id)).scalars())
        _carry(there, here, sa.select(PEOPLE).where(PEOPLE.c.id.not_in(known)), PEOPLE)
        del queue["id"]
        number = here.execute(sa.insert(QUEUES).values(queue).returning(QUEUES.c.id)).scalar_one()
        _carry(there, here, sa.select(EVENTS).order_by(EVENTS.c.seq), EVENTS, queue=number)


def _carry_people(there: sa.Connection, here: sa.Connection) -> None:
    """Tables that an older version did not have hold nobody."""
    known = sa.inspect(there).get_table_names()
    for table in OF_PEOPLE:
        if table.name in known:
            _carry(there, here, sa.select(table), table)


def _carry(
    there: sa.Connection, here: sa.Connection, query: sa.Select, table: sa.Table, **changed: int
) -> None:
    found = there.execution_options(yield_per=AT_ONCE).execute(query)
    for lines in found.partitions():
        here.execute(sa.insert(table), [{**line._mapping, **changed} for line in lines])


def _check_empty(here: sa.Connection) -> None:
    for table in (QUEUES, PEOPLE, USERS):
        if here.execute(sa.select(sa.func.count()).select_from(table)).scalar_one():
            raise InvalidInputError(
                "the database holds logs or people already, and nothing is written over. Name an empty one with --db."
            )


@contextlib.contextmanager
def _opened(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        database.engine.dispose()


@contextlib.contextmanager
def _at_one_moment(database: Database) -> Iterator[sa.Connection]:
    """A connection that sees the database as it was when it first read, whatever others write."""
    engine = database.engine
    if engine.dialect.name == "postgresql":
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with engine.connect() as connection:
        database.take_time(connection)
        yield connection
