"""Read a queue from its folder without owning it: what ``replay`` and ``export`` do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from shortlist.review.desk.live import LiveQueue, rebuild
from shortlist.review.desk.proof import Proof, prove
from shortlist.review.log.store import Store
from shortlist.review.workspace import Workspace


def prove_folder(
    folder: Path, *, at: Collection[int] = (), published: Iterable[tuple[int, str]] = ()
) -> Proof:
    """Replay the log of a queue from its start and compare every score that was shown; options as in ``prove``."""
    with _opened(folder) as (workspace, store):
        return prove(workspace, store, store.number_of(workspace.name), at=at, published=published)


def head_of(folder: Path) -> tuple[str, int, str]:
    """The name of a queue, its last event, and the hash that stands for the whole log."""
    with _opened(folder) as (workspace, store):
        return workspace.name, *store.head(store.number_of(workspace.name))


def read_queue(folder: Path) -> LiveQueue:
    """A queue as its log tells it now."""
    with _opened(folder) as (workspace, store):
        return rebuild(workspace, store, store.number_of(workspace.name))


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Workspace, Store]]:
    workspace = Workspace(folder)
    workspace.check_exists()
    store = Store.open(workspace.place, read_only=True)
    try:
        yield workspace, store
    finally:
        store.close()
