"""Change a queue from the command line: through the server that owns it, or directly where none runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from shortlist.exceptions import TableError
from shortlist.review.client import Client
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import ReadOnlyError
from shortlist.review.export import Said

Result = TypeVar("Result")
WHO = "command line"


class AnyQueue(Protocol):
    """What can be done to a queue from outside."""

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""

    def import_verdicts(self, verdicts: Sequence[Said]) -> int:
        """Learn verdicts known before; returns how many were new."""


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

    def _row(self, id: str) -> int:
        row = self._queue.rows.position(id)
        if row is None:
            raise TableError(
                f"there is no row {id!r} in the queue. Leave its verdict out, or append the row first."
            )
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


def change_queue(folder: Path, change: Callable[[AnyQueue], Result]) -> Result:
    """Do something to a queue, whoever owns it."""
    client = Client.of_workspace(folder, who=WHO)
    if client is not None:
        with client:
            return change(ServedQueue(client))
    queue = Queue.open(folder)
    try:
        if queue.read_only:
            raise ReadOnlyError(
                f"{folder} is in use by another program, or cannot be written. Try again when it is done."
            )
        return change(LocalQueue(queue))
    finally:
        queue.close()
