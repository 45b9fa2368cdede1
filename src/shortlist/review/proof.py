"""Read a queue from its folder without owning it: what ``replay`` and ``export`` do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shortlist.review.errors import ReviewError
from shortlist.review.export import verdict_table
from shortlist.review.replay import Proof, Replayed, prove, rebuild
from shortlist.review.store import Store
from shortlist.review.workspace import Workspace


@dataclass
class ReadQueue(Replayed):
    """A queue as its log tells it."""

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force."""
        return verdict_table(self.state, self.rows)


def prove_folder(folder: Path) -> Proof:
    """Replay the log of a queue from its start and compare every score that was shown."""
    with _opened(folder) as (workspace, store):
        return prove(workspace, store, store.queues()[0][0])


def read_queue(folder: Path) -> ReadQueue:
    """A queue as its log tells it now."""
    with _opened(folder) as (workspace, store):
        return ReadQueue(**vars(rebuild(workspace, store, store.queues()[0][0])))


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Workspace, Store]]:
    workspace = Workspace(folder)
    if not workspace.exists:
        raise ReviewError(f"there is no queue in {folder}. Make one: shortlist review DATA")
    store = Store.open(workspace.log, read_only=True)
    try:
        yield workspace, store
    finally:
        store.close()
