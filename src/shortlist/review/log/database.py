"""The database under the log: what every kind of it can do, how its tables are brought up to date, what errors mean."""

from __future__ import annotations

import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from shortlist.languages.words import Message
from shortlist.review.errors import DamagedError, StoreError


class Remote(NamedTuple):
    """A log that is not in a file of its folder: the database, what the queue is called there, and the folder."""

    url: str
    queue: str
    folder: Path


class Chain(NamedTuple):
    """Steps that bring tables up to date, one after the other: the package that has them, and where it is noted."""

    package: str
    version_table: str


LOG = Chain("shortlist.review.log", "alembic_version")
#: Alembic knows one migration at a time in a process; queues are opened and taken over by threads of their own.
_UPGRADING = threading.Lock()


class Lock(Protocol):
    """Whoever holds it owns a queue, until it is released or the process ends."""

    def release(self) -> None:
        """Let another own the queue."""

    def is_held(self) -> bool:
        """Whether it is still ours."""


class Database(ABC):
    """Where a log is kept. ``end`` is where its end is told, ``folder`` what its files are beside."""

    engine: sa.Engine
    end: Path
    folder: Path

    @abstractmethod
    def transaction(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that writes: it waits for its turn before it reads anything."""

    @abstractmethod
    def wait_at_most(self, connection: sa.Connection, seconds: int) -> None:
        """Let a transaction fail where it would have to wait for others for longer."""

    @abstractmethod
    def take_time(self, connection: sa.Connection) -> None:
        """Let a transaction take longer than one that writes a verdict may."""

    @abstractmethod
    def lock_queue(self, query: sa.Select) -> sa.Select:
        """A query of a queue whose line nobody else can change until the transaction ends."""

    @abstractmethod
    def insert_new(self, connection: sa.Connection, table: sa.Table, lines: list[dict[str, Any]]) -> None:
        """Add lines, but for those that somebody else has just added."""

    @abstractmethod
    def known_as(self, name: str) -> str:
        """What the queue of a folder is called in the log."""

    @abstractmethod
    def check_there(self) -> None:
        """Refuse to write to what is no longer the log of the folder."""

    @abstractmethod
    def faults(self, connection: sa.Connection) -> Iterator[str]:
        """What is wrong with the database itself."""

    @abstractmethod
    def missing_triggers(self, connection: sa.Connection) -> list[str]:
        """What kept the log from being rewritten, and does so no longer."""

    @abstractmethod
    def tidy(self) -> None:
        """Do now and then what would else keep somebody who writes waiting."""

    @abstractmethod
    def forget_the_past(self, tables: Sequence[str]) -> None:
        """Write tables anew that held deleted values, without them."""

    def upgrade(self, chain: Chain = LOG) -> None:
        """Bring the tables up to date, in one transaction."""
        config = _migrations(chain)
        with _UPGRADING, self.transaction() as connection:
            self.take_time(connection)
            config.attributes.update(
                connection=connection, folder=self.folder, version_table=chain.version_table
            )
            command.upgrade(config, "head")

    def is_current(self, chain: Chain = LOG) -> bool:
        """Whether the tables are today's; refuses those of a later version."""
        script = ScriptDirectory.from_config(_migrations(chain))
        options = {"version_table": chain.version_table}
        with self.engine.connect() as connection:
            found = MigrationContext.configure(connection, opts=options).get_current_revision()
        if found is not None and found not in {step.revision for step in script.walk_revisions()}:
            raise DamagedError(
                Message(
                    "the log was written by a later version of Shortlist, or is damaged: there is no step %(step)s in "
                    "this one. Install the version that wrote it.",
                    step=found,
                )
            )
        return found == script.get_current_head()


def check_may_upgrade(read_only: bool) -> None:
    """Refuse to bring a log up to date that is only read."""
    if read_only:
        raise DamagedError(
            Message(
                "the database holds no log, or one of an older version of Shortlist. Name the database of this queue, "
                "or start its server once, which brings the log up to date."
            )
        )


@contextmanager
def writing() -> Iterator[None]:
    """Turn what a database says into what a reviewer can do about it."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        raise StoreError(
            Message(
                "the log already holds this event (%(error)s); another server may be writing to this queue.",
                error=_reason(error),
            )
        ) from error
    except UnicodeDecodeError as error:
        raise _damaged(error) from error
    except sa.exc.TimeoutError as error:
        raise _none_free() from error
    except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
        if _is_elsewhere(error):
            raise _no_answer(error) from error
        raise StoreError(
            Message(
                "the log could not be written (%(reason)s). Nothing has changed; make room on the disk or mend its "
                "permissions, then send the verdict again.",
                reason=_reason(error),
            )
        ) from error


@contextmanager
def reading() -> Iterator[None]:
    """The same for reading: a file that is no log, or no longer one, and one that cannot be read just now."""
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise _none_free() from error
    except (sa.exc.OperationalError, OSError) as error:
        if "no such table" in str(error):
            raise _damaged(error) from error
        if _is_elsewhere(error):
            raise _no_answer(error) from error
        raise StoreError(
            Message("the log could not be read (%(reason)s). Try again.", reason=_reason(error))
        ) from error
    except (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:  # text that is none any more
        # A server that ends a connection for standing still calls that an internal error.
        if _is_elsewhere(error) and getattr(error, "connection_invalidated", False):
            raise _no_answer(error) from error
        raise _damaged(error) from error


def _is_elsewhere(error: Exception) -> bool:
    """Whether a database server said so: it may have stored what it could not acknowledge."""
    return isinstance(error, sa.exc.DBAPIError) and not isinstance(error.orig, sqlite3.Error | OSError)


def _none_free() -> StoreError:
    """Nobody got as far as the log: those who read it hold all the connections that there may be."""
    return StoreError(
        Message(
            "all connections to the log are in use. Nothing has changed; wait until others have read what they asked "
            "for, then send this again."
        )
    )


def _no_answer(error: Exception) -> StoreError:
    return StoreError(
        Message(
            "the database of the log did not do it (%(reason)s). Send this again once it runs: what was stored of it "
            "counts once.",
            reason=_reason(error),
        )
    )


def _damaged(error: Exception) -> DamagedError:
    if _is_elsewhere(error):
        return DamagedError(
            Message(
                "the log in the database is damaged (%(reason)s). Put a copy of the database and of the whole folder "
                "back.",
                reason=_reason(error),
            )
        )
    return DamagedError(
        Message(
            "the log is damaged (%(reason)s). Put a copy of the whole folder back; what is newer than the copy may "
            "still be read with: sqlite3 log.sqlite .recover",
            reason=_reason(error),
        )
    )


def _reason(error: Exception) -> str:
    told = str(getattr(error, "orig", None) or error).strip()
    return told.splitlines()[0] if told else type(error).__name__


def _migrations(chain: Chain) -> Config:
    config = Config()
    place = str(files(chain.package) / "migrations")
    config.set_main_option("script_location", place.replace("%", "%%"))
    return config
