"""The log on disk: the only place that knows SQL."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from shortlist.review.errors import NoQueueError, ReviewError, StoreError
from shortlist.review.log.events import Event, from_payload, to_payload

METADATA = sa.MetaData()
QUEUES = sa.Table(
    "queues",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("fixed", sa.JSON, nullable=False),  # what never changes: seed, roles, strategy, fingerprint
)
EVENTS = sa.Table(
    "events",
    METADATA,
    sa.Column("queue", sa.Integer, sa.ForeignKey("queues.id"), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("who", sa.String, nullable=False),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("row", sa.Integer),
    sa.Column("answers", sa.Integer),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.UniqueConstraint("queue", "answers", name="one_answer_each"),
    sa.Index("events_of_row", "queue", "row"),
)


class Store:
    """An append-only log of events per queue, in SQLite (write-ahead log, every commit synced to disk).

    >>> import tempfile
    >>> store = Store.open(Path(tempfile.mkdtemp()) / "log.sqlite")
    >>> store.create_queue("claims", 0.0, {"seed": 0})
    1
    >>> store.fixed(1)["seed"]
    0
    >>> store.close()
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @classmethod
    def create(cls, path: Path) -> Store:
        """An empty log; what a start that did not come to its end left there is removed."""
        path.unlink(missing_ok=True)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Store:
        """Open the log of a workspace, made or brought up to date where it is not."""
        mode = "mode=ro&" if read_only else ""
        if read_only and not os.access(path.parent, os.W_OK):
            # Without room for its helper files SQLite reads only what nobody can change.
            mode += "immutable=1&"
        engine = sa.create_engine(
            f"sqlite:///file:{path}?{mode}uri=true",
            connect_args={"timeout": 10, "check_same_thread": False},
            json_serializer=partial(json.dumps, allow_nan=False, separators=(",", ":")),
        )
        sa.event.listen(engine, "connect", _pragmas_for_reading if read_only else _pragmas)
        store = cls(engine)
        if not read_only:
            with ExitStack() as unless_upgraded:
                unless_upgraded.callback(store.close)
                with _writing():
                    store._upgrade()
                unless_upgraded.pop_all()
        return store

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def create_queue(self, name: str, created: float, fixed: dict[str, Any]) -> int:
        """Write what never changes of a queue; returns its number."""
        with _writing(), self._engine.begin() as connection:
            done = connection.execute(sa.insert(QUEUES).values(name=name, created=created, fixed=fixed))
            return int(done.inserted_primary_key[0])  # type: ignore[index]

    def number_of(self, name: str) -> int:
        """The number of a queue; one that is alone in its log may have another name, as its folder may be renamed."""
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(QUEUES.c.name, QUEUES.c.id).order_by(QUEUES.c.name)).all()
        number = {row.name: row.id for row in rows}.get(name, rows[0].id if len(rows) == 1 else None)
        if number is None:
            raise NoQueueError(
                f"the log holds no queue {name!r}; it holds {', '.join(row.name for row in rows) or 'none'}. Give "
                "the folder the name of its queue."
            )
        return number

    def fixed(self, queue: int) -> dict[str, Any]:
        """What was fixed when the queue was made."""
        with self._engine.connect() as connection:
            return connection.execute(sa.select(QUEUES.c.fixed).where(QUEUES.c.id == queue)).scalar_one()

    def append(self, queue: int, events: Iterable[Event]) -> None:
        """Write events in one transaction: all of them are on disk when this returns, or none is."""
        rows = [_as_row(queue, event) for event in events]
        if not rows:
            return
        with _writing(), self._engine.begin() as connection:
            connection.execute(sa.insert(EVENTS), rows)

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
        query = sa.select(EVENTS).where(EVENTS.c.queue == queue, EVENTS.c.seq > after)
        kinds = list(kinds)
        if row is not None:
            query = query.where(EVENTS.c.row == row)
        if kinds:
            query = query.where(EVENTS.c.kind.in_(kinds))
        if who is not None:
            query = query.where(EVENTS.c.who == who)
        order = EVENTS.c.seq.desc() if newest_first else EVENTS.c.seq
        with self._engine.connect() as connection:
            for found in connection.execute(query.order_by(order).limit(limit)):
                yield Event(found.seq, found.at, found.who, from_payload(found.kind, found.payload))

    def _upgrade(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(files("shortlist.review.log") / "migrations"))
        with self._engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _as_row(queue: int, event: Event) -> dict[str, Any]:
    return {
        "queue": queue,
        "seq": event.seq,
        "at": event.at,
        "who": event.who,
        "kind": event.kind,
        "row": event.row,
        "answers": event.answers,
        "payload": to_payload(event.body),
    }


@contextmanager
def _writing() -> Iterator[None]:
    """Turn what a database says into what a reviewer can do about it."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        raise ReviewError(
            f"the log already holds this event ({error.orig}); another server may be writing to this queue."
        ) from error
    except (sa.exc.OperationalError, OSError) as error:
        reason = getattr(error, "orig", None) or error
        raise StoreError(
            f"the log could not be written ({reason}). Nothing has changed; make room on the disk or mend its "
            "permissions, then send the verdict again."
        ) from error


def _pragmas(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _pragmas_for_reading(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA query_only=ON")
