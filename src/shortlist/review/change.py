"""Change a queue from the command line: through the server that owns it, or directly where none runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from shortlist.review.client import Client
from shortlist.review.errors import ReadOnlyError
from shortlist.review.export import check_verdict_columns, read_answer, read_verdicts
from shortlist.review.queue import Queue

Result = TypeVar("Result")
WHO = "command line"


class Door(Protocol):
    """What can be done to a queue from outside."""

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""

    def import_verdicts(self, frame: pl.DataFrame, *, id: str, verdict: str) -> int:
        """Learn verdicts of a table; returns how many were new."""


class OwnDoor:
    """A queue that no server owns."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""
        return self._queue.append(WHO, frame).result()

    def import_verdicts(self, frame: pl.DataFrame, *, id: str, verdict: str) -> int:
        """Learn verdicts of a table; returns how many were new."""
        verdicts = list(read_verdicts(frame, self._queue.rows, id=id, verdict=verdict))
        return self._queue.import_verdicts(WHO, verdicts).result()


class ServerDoor:
    """A queue whose server runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def append(self, frame: pl.DataFrame) -> int:
        """Add rows; returns how many there are now."""
        return self._client.append(frame).rows

    def import_verdicts(self, frame: pl.DataFrame, *, id: str, verdict: str) -> int:
        """Learn verdicts of a table; returns how many were new."""
        check_verdict_columns(frame, id, verdict)
        lines = frame.rename({id: "id", verdict: "verdict"}).drop_nulls("verdict")
        notes = lines["note"].fill_null("") if "note" in lines.columns else [""] * lines.height
        said = zip(lines["id"].cast(pl.String), map(read_answer, lines["verdict"]), notes, strict=True)
        return self._client.import_verdicts(said)


def change_queue(folder: Path, change: Callable[[Door], Result]) -> Result:
    """Do something to a queue, whoever owns it."""
    client = Client.of_workspace(folder, who=WHO)
    if client is not None:
        with client:
            return change(ServerDoor(client))
    queue = Queue.open(folder)
    try:
        if queue.read_only:
            raise ReadOnlyError(
                f"{folder} is in use by another program, or cannot be written. Try again when it is done."
            )
        return change(OwnDoor(queue))
    finally:
        queue.close()
