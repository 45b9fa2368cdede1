"""The log in a file of its folder: SQLite with a write-ahead log, every commit synced to disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock, Timeout

from shortlist.languages.words import Message
from shortlist.review.errors import StoreError
from shortlist.review.log.database import Database, writing
from shortlist.review.log.end import forget_end
from shortlist.review.log.tables import TRIGGERS

#: Pages of the write-ahead log after which whoever commits must carry it over; ``tidy`` does so long before.
MOST_PAGES = 20_000


class Sqlite(Database):
    """The database of a file (made where there is none, unless it is only read)."""

    def __init__(self, path: Path, folder: Path, *, read_only: bool = False) -> None:
        self._path, self.end, self.folder = path, path, folder
        if not read_only:
            path.touch()
        self.engine = _connect(path, read_only=read_only)
        self._writer = self.engine.execution_options(writes=True)
        self._file = None if read_only else _identity(path)

    def transaction(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that writes.

        SQLite refuses one that has read and then wants to write at once, while somebody else writes.
        """
        return self._writer.begin()

    def wait_at_most(self, connection: sa.Connection, seconds: int) -> None:
        """Nothing to do: who has begun to write waits for nobody, and has waited ten seconds for that at most."""

    def take_time(self, connection: sa.Connection) -> None:
        """Nothing to do: nobody ends a transaction of ours."""

    def lock_queue(self, query: sa.Select) -> sa.Select:
        """As it is: a transaction that writes is alone."""
        return query

    def insert_new(self, connection: sa.Connection, table: sa.Table, lines: list[dict[str, Any]]) -> None:
        """Add lines; nobody else can have added them."""
        connection.execute(sa.insert(table), lines)

    def known_as(self, name: str) -> str:
        """The name of the folder."""
        return name

    def check_there(self) -> None:
        """A folder that was removed or replaced takes no more verdicts, although the open file still would."""
        if _identity(self._path) != self._file:
            raise StoreError(
                Message(
                    "the log %(path)s was removed or replaced while the review was running. Nothing has changed; put "
                    "the folder back, then start the review again.",
                    path=str(self._path),
                )
            )

    def faults(self, connection: sa.Connection) -> Iterator[str]:
        """Pages of the file that are damaged."""
        said = connection.exec_driver_sql("pragma integrity_check(3)").scalars().all()
        yield from (f"the database is damaged: {line}." for line in said if line != "ok")

    def missing_triggers(self, connection: sa.Connection) -> list[str]:
        """Triggers that are gone, or not as they were laid."""
        there = connection.execute(sa.text("select sql from sqlite_master where type = 'trigger'")).scalars()
        missing = {*TRIGGERS.values()} - {*there}
        return sorted(name for name, statement in TRIGGERS.items() if statement in missing)

    def tidy(self) -> None:
        """Carry the write-ahead log over into the file; whoever writes meanwhile does not wait for that."""
        with writing(), closing(self.engine.raw_connection()) as connection:
            connection.driver_connection.execute("pragma wal_checkpoint(passive)").fetchall()  # type: ignore[union-attr]

    def forget_the_past(self, tables: Sequence[str]) -> None:
        """Write the file anew, without what is left in unused pages and in the write-ahead log."""
        with closing(self.engine.raw_connection()) as connection:
            connection.driver_connection.execute("vacuum")  # type: ignore[union-attr]
            connection.driver_connection.execute("pragma wal_checkpoint(truncate)")  # type: ignore[union-attr]


class LockFile:
    """A file of the folder that one process at a time can lock."""

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    @classmethod
    def take(cls, folder: Path, wait: float = 0.0) -> LockFile | None:
        """Lock the folder; None if somebody else has."""
        lock = FileLock(folder / "lock", thread_local=False)
        try:
            lock.acquire(timeout=wait, poll_interval=0.01)
        except Timeout:
            return None
        return cls(lock)

    def release(self) -> None:
        """Let another own the queue."""
        self._lock.release()

    def is_held(self) -> bool:
        """Always: the system takes it from nobody."""
        return self._lock.is_locked


def remove(path: Path) -> None:
    """Remove what a start that did not come to its end left there."""
    for helper in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{helper}").unlink(missing_ok=True)
    forget_end(path)


def copy(path: Path, target: Path) -> None:
    """Copy a database that somebody may be writing to."""
    source = sqlite3.connect(f"{path.absolute().as_uri()}?{_mode(path, True)}", uri=True, timeout=10)
    with closing(source), closing(sqlite3.connect(target)) as copied:
        source.backup(copied)


def _connect(path: Path, *, read_only: bool) -> sa.Engine:
    address = f"{path.absolute().as_uri()}?{_mode(path, read_only)}"
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(
            address, uri=True, timeout=10, check_same_thread=False, isolation_level=None
        ),
        poolclass=sa.QueuePool,
    )
    sa.event.listen(engine, "connect", _read_only if read_only else _synced)
    # The driver would begin too late: a table would be made outside of the transaction, and a migration in halves.
    sa.event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("begin immediate" if writes else "begin")


def _mode(path: Path, read_only: bool) -> str:
    if not read_only:
        return "mode=rwc"
    # Without room for its helper files SQLite reads only what nobody can change.
    return "mode=ro" if os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"


def _synced(connection: Any, _record: Any) -> None:
    for setting in ("journal_mode=wal", "synchronous=full", "foreign_keys=on", "secure_delete=on"):
        connection.execute(f"pragma {setting}")
    connection.execute(f"pragma wal_autocheckpoint={MOST_PAGES}")


def _read_only(connection: Any, _record: Any) -> None:
    connection.execute("pragma query_only=on")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
