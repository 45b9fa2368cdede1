"""The log in PostgreSQL: one database for many queues, and a lock that dies with the connection that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shortlist.exceptions import InvalidInputError, MissingExtraError
from shortlist.review.log.database import LOG, Chain, Database, Remote, reading
from shortlist.review.log.tables import POSTGRES_FUNCTION, POSTGRES_TRIGGERS

#: A machine that is gone without a word is missed after half a minute, at either end of every connection. Keepalives
#: find that out while nothing is under way; of something sent that nobody has received, only the time tells, which
#: would else be a quarter of an hour.
KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4}
UNRECEIVED = {"tcp_user_timeout": 30_000}
#: What we do about a server that does not answer, and what it does about us.
OUR_LIMITS = {"connect_timeout": 10, **KEEPALIVES, **UNRECEIVED}
ITS_LIMITS = {**{f"tcp_{name}": number for name, number in KEEPALIVES.items()}, **UNRECEIVED}
#: Seconds in which somebody in the middle of a transaction goes on with it, or loses it and what it has locked: one
#: who stands still, or is gone, must not keep the next owner from the queue.
IDLE_SECONDS = 30
#: What all that change the tables wait for.
MIGRATION_LOCK = 0x53484F52544C4953


class Postgres(Database):
    """The database of a URL. A commit is on its disk when it returns, whatever the role of the user is set to."""

    def __init__(self, place: Remote, *, read_only: bool = False) -> None:
        self._place, self.folder, self.end = place, place.folder, place.folder / "log.sqlite"
        self.engine = _connect(place, read_only, pool_size=1, max_overflow=9, pool_pre_ping=True)

    def transaction(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that writes; what it must not share with others it locks."""
        return self.engine.begin()

    def wait_at_most(self, connection: sa.Connection, seconds: int) -> None:
        """Fail where somebody else has locked for longer what the transaction needs."""
        connection.exec_driver_sql(f"set local lock_timeout = '{seconds}s'")

    def take_time(self, connection: sa.Connection) -> None:
        """Let the transaction wait for what is done elsewhere."""
        connection.exec_driver_sql("set local idle_in_transaction_session_timeout = 0")

    def lock_queue(self, query: sa.Select) -> sa.Select:
        """Others who want to write to this queue wait for the end of the transaction."""
        return query.with_for_update()

    def insert_new(self, connection: sa.Connection, table: sa.Table, lines: list[dict[str, Any]]) -> None:
        """Add lines; the owner of another queue may add the same person at the same time."""
        connection.execute(insert(table).on_conflict_do_nothing(), lines)

    def known_as(self, name: str) -> str:
        """What the folder says: another folder of the same name may have a queue in the same database."""
        return self._place.queue

    def check_there(self) -> None:
        """Nothing to check: a database that is gone refuses by itself."""

    def faults(self, connection: sa.Connection) -> Iterator[str]:
        """None that could be asked for cheaply: the server checks its own pages."""
        yield from ()

    def missing_triggers(self, connection: sa.Connection) -> list[str]:
        """Triggers that are gone, switched off, or not as they were laid."""
        found = connection.execute(
            sa.text(
                "select t.tgname, pg_get_triggerdef(t.oid) as told, t.tgenabled, f.prosrc from pg_trigger t "
                "join pg_proc f on f.oid = t.tgfoid join pg_class c on c.oid = t.tgrelid "
                "where c.relnamespace = current_schema()::regnamespace"
            )
        ).all()
        kept = {_plain(line.told) for line in found if line.tgenabled in ("O", "A", b"O", b"A")
                and line.prosrc == POSTGRES_FUNCTION}  # fmt: skip
        return sorted(name for name, laid in POSTGRES_TRIGGERS.items() if _plain(laid) not in kept)

    def tidy(self) -> None:
        """Nothing to do: the server does it by itself."""

    def forget_the_past(self, tables: Sequence[str]) -> None:
        """Write tables anew; backups and the write-ahead log of the server are not ours."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in tables:
                connection.exec_driver_sql(f"vacuum (full) {table}")

    def upgrade(self, chain: Chain = LOG) -> None:
        """Bring the tables up to date; who comes at the same time waits, and finds it done."""
        with self._alone():
            if not self.is_current(chain):
                super().upgrade(chain)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self.engine.connect() as connection:
            self.take_time(connection)
            connection.execute(sa.select(sa.func.pg_advisory_lock(MIGRATION_LOCK)))
            try:
                yield
            finally:
                connection.execute(sa.select(sa.func.pg_advisory_unlock(MIGRATION_LOCK)))


class AdvisoryLock:
    """Owns a queue as long as its connection lives; the number of the owner in the log tells who came later."""

    def __init__(self, engine: sa.Engine, connection: sa.Connection) -> None:
        self._engine, self._connection = engine, connection

    @classmethod
    def take(cls, place: Remote) -> AdvisoryLock | None:
        """Lock a queue; None if somebody else has."""
        engine = _connect(place, False, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        with reading():
            connection = engine.connect()
            key = sa.func.hashtextextended(sa.func.current_schema() + sa.literal(f" {place.queue}"), 0)
            if connection.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar_one():
                return cls(engine, connection)
        connection.close()
        return None

    def release(self) -> None:
        """Let another own the queue."""
        if not self._connection.closed:
            with closing(self._connection):
                self._connection.invalidate()  # whatever state it is in: the server frees what it held
        self._engine.dispose()

    def is_held(self) -> bool:
        """Whether the connection lives."""
        try:
            self._connection.exec_driver_sql("select 1")
        except sa.exc.SQLAlchemyError:
            return False
        return True


def address_of(url: str) -> sa.URL:
    """The URL of a PostgreSQL database, with the driver that we use.

    >>> address_of("postgresql://ann@host/reviews").drivername
    'postgresql+psycopg'
    """
    try:
        address = sa.make_url(url)
    except sa.exc.ArgumentError:
        address = sa.make_url("none://")
    if address.drivername not in ("postgres", "postgresql", "postgresql+psycopg"):
        raise InvalidInputError(
            "the logs of a server are kept in PostgreSQL: write postgresql://USER@HOST/NAME, or leave the URL out and "
            "each is kept in a file of its folder."
        )
    try:
        import psycopg  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtraError.of("psycopg", "postgres") from None
    return address.set(drivername="postgresql+psycopg")


def without_password(url: str) -> str:
    """What of a URL may be written down.

    >>> without_password("postgresql://ann:secret@host/reviews")
    'postgresql://ann@host/reviews'
    """
    told = sa.make_url(url).difference_update_query(["password"])
    # What is None does not replace a password, so the address is made anew.
    parts = {name: getattr(told, name) for name in ("username", "host", "port", "database", "query")}
    return sa.URL.create(told.drivername, **parts).render_as_string()


def _connect(place: Remote, read_only: bool, **options: Any) -> sa.Engine:
    """An engine none of whose connections waits for ever; what the URL says of that is heeded."""
    address = address_of(place.url)
    limits = {name: number for name, number in OUR_LIMITS.items() if name not in address.query}
    engine = sa.create_engine(address, connect_args=limits, **options)
    sa.event.listen(engine, "connect", partial(_settle, read_only=read_only))
    return engine


def _settle(connection: Any, _record: Any, *, read_only: bool) -> None:
    """The settings of every connection; autocommit, so that they are not rolled back."""
    settings = {
        "synchronous_commit": "on",
        "default_transaction_read_only": "on" if read_only else "off",
        "idle_in_transaction_session_timeout": f"'{IDLE_SECONDS}s'",
        **ITS_LIMITS,
    }
    autocommits = connection.autocommit
    connection.autocommit = True
    connection.execute("; ".join(f"set {name} = {value}" for name, value in settings.items()))
    connection.autocommit = autocommits


def _plain(statement: str) -> str:
    """A statement without what PostgreSQL adds to it: brackets, schemas, types, capitals."""
    bare = re.sub(r"\b(on|function) \w+\.", r"\1 ", statement.lower().replace("::text", ""))
    return re.sub(r"[()\s]+", " ", bare).strip()
