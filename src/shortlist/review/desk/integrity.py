"""Whether the files of a queue are as they were written; nothing is read from one that is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shortlist.languages.words import Message
from shortlist.review.errors import DamagedError
from shortlist.review.log.chain import sum_of
from shortlist.review.log.events import Appended, Erased
from shortlist.review.log.store import Store
from shortlist.review.workspace import Workspace


def faults(
    workspace: Workspace, store: Store, queue: int, published: Iterable[tuple[int, str]] = ()
) -> Iterator[str]:
    """Where the log or a file is not as it was written."""
    of_log = [*store.faults(queue, published)]
    yield from of_log
    if of_log:
        return  # what the sums of the files should be is told by the log
    for name, expected in sums(store, queue).items():
        path = workspace.folder / name
        if not path.is_file():
            yield f"the file {name} is gone."
        elif sum_of(path) != expected:
            anew = workspace.erasing / name
            yield (
                f"the file {name} still holds rows that were erased, as erasing was cut short: start the review once, "
                "which ends it."
                if anew.is_file() and sum_of(anew) == expected
                else f"the file {name} is not as it was written."
            )


def check(workspace: Workspace, store: Store, queue: int) -> None:
    """Refuse a queue whose log or files were changed or damaged."""
    found = next(faults(workspace, store, queue), None)
    if found is not None:
        raise DamagedError(
            Message(
                "the queue in %(folder)s is damaged or was changed by hand: %(fault)s Put a copy of the whole folder "
                "back. All that differs is told by: shortlist replay %(folder)s",
                folder=str(workspace.folder),
                fault=found,
            )
        )


def sums(store: Store, queue: int) -> dict[str, str]:
    """What the sums of the files should be: since they were written, or written anew without what was erased."""
    expected = store.sums(queue)
    for event in store.events(queue, kinds=[Appended.kind, Erased.kind]):
        if isinstance(event.body, Appended) and event.body.sha256:
            expected[event.body.file] = event.body.sha256
        elif isinstance(event.body, Erased):
            expected |= event.body.files
    return expected
