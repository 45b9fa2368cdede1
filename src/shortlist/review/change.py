"""Change a queue from the command line: through the server that owns it, or directly where none runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx
import polars as pl

from shortlist.exceptions import InvalidInputError, TableError
from shortlist.review.client import Client
from shortlist.review.desk.erasing import Erasure
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ReadOnlyError
from shortlist.review.export import Said
from shortlist.review.workspace import Workspace

Result = TypeVar("Result")
WHO = "command line"


class AnyQueue(Protocol):
    """What can be done to a queue from outside."""

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""

    def import_verdicts(self, verdicts: Sequence[Said]) -> int:
        """Learn verdicts known before; returns how many were new."""

    def erase(self, ids: Sequence[str]) -> Erasure:
        """Forget what is known of rows and what was written of them."""

    def erase_name(self, name: str) -> list[str]:
        """Forget what a person is called; returns the queues whose logs had the name."""


class LocalQueue:
    """A queue that no server owns."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""
        return self._queue.append(WHO, frame).result()

    def import_verdicts(self, verdicts: Sequence[Said]) -> int:
        """Learn verdicts known before; returns how many were new."""
        known = [(self._row(id), answer, note) for id, answer, note in verdicts]
        return self._queue.import_verdicts(WHO, known).result()

    def erase(self, ids: Sequence[str]) -> Erasure:
        """Forget what is known of rows and what was written of them."""
        return self._queue.erase_rows(
            WHO, [self._row(id, "Give its id as the queue has it.") for id in ids]
        ).result()

    def erase_name(self, name: str) -> list[str]:
        """Forget what a person is called; returns the queues whose logs had the name."""
        self._queue.erase_name(WHO, name).result()
        return [self._queue.name]

    def _row(self, id: str, advice: str = "Leave its verdict out, or append the row first.") -> int:
        row = self._queue.rows.position(id)
        if row is None:
            raise TableError(f"there is no row {id!r} in the queue. {advice}")
        return row


class ServedQueue:
    """A queue whose server runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""
        return self._client.append(frame).rows

    def import_verdicts(self, verdicts: Sequence[Said]) -> int:
        """Learn verdicts known before; returns how many were new."""
        return self._client.import_verdicts(verdicts)

    def erase(self, ids: Sequence[str]) -> Erasure:
        """Forget what is known of rows and what was written of them."""
        told = self._client.erase(ids)
        return Erasure(told.rows, tuple(told.files), tuple(told.removed), tuple(told.elsewhere))

    def erase_name(self, name: str) -> list[str]:
        """Forget what a person is called; returns the queues whose logs had the name."""
        return self._client.erase_name(name).queues


def take_settings(queue: Queue, asked: dict[str, Any]) -> dict[str, Any]:
    """Heed settings of the command that opens a queue, where they differ from those it was given before.

    The same command run again asks for nothing new: what was changed on the page since then stays, and is returned.
    """
    told = [event.body for event in queue.log(kinds=["settings"]) if event.who == WHO]
    before = {**queue.fixed.settings, **{k: v for body in told for k, v in vars(body)["changes"].items()}}
    new = {name: value for name, value in asked.items() if value != before.get(name)}
    if new:
        queue.change(WHO, new).result()
    now = queue.snapshot.settings.to_dict()
    return {name: now[name] for name, value in asked.items() if now[name] != value}


def erase_name(folder: Path, name: str, *, server: str | None = None, token: str = "") -> list[str]:
    """Forget what a person is called; tells in which queues. The server of a team forgets the account, too."""
    return change_anywhere(folder, lambda queue: queue.erase_name(name), server, token)


def erase_rows(folder: Path, ids: Sequence[str], *, server: str | None = None, token: str = "") -> Erasure:
    """Forget what is known of rows; a server of a team is named by its address, and asked under a token."""
    return change_anywhere(folder, lambda queue: queue.erase(ids), server, token)


def change_anywhere(
    folder: Path, change: Callable[[AnyQueue], Result], server: str | None, token: str
) -> Result:
    """Do something to a queue, whoever owns it: also the server of a team, by its address."""
    if server is None:
        return change_queue(folder, change)
    try:
        with Client(server, token, Workspace(folder).name) as client:
            return change(ServedQueue(client))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InvalidInputError(
            f"{server} does not answer ({type(error).__name__}: {error}). Give the address that people open, and see "
            "that the server runs; ask again to learn whether it was erased."
        ) from None


def change_queue(folder: Path, change: Callable[[AnyQueue], Result]) -> Result:
    """Do something to a queue, whoever owns it."""
    client = Client.of_workspace(folder, who=WHO)
    if client is not None:
        with client:
            return change(ServedQueue(client))
    with owned(folder) as queue:
        return change(LocalQueue(queue))


@contextmanager
def owned(folder: Path) -> Iterator[Queue]:
    """A queue that nobody else writes to."""
    queue = Queue.open(folder)
    try:
        if queue.read_only:
            raise ReadOnlyError(
                f"{folder} is in use by another program, or cannot be written. Try again when it is done."
            )
        yield queue
    finally:
        queue.close()
