"""One thread that does the work of a queue, many requests at a time, and another for what nobody waits for."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from shortlist.exceptions import ShortlistError
from shortlist.languages.words import Message
from shortlist.review.errors import StoreError

Request = TypeVar("Request")

#: Requests worked on together: one commit and one re-ranking serve them all.
MOST_AT_ONCE = 64


class Worker(Generic[Request]):
    """Hands requests to one thread, in order; those that wait together are handled together.

    While one batch is being ranked others gather, so that the cost of a commit and of a re-ranking is shared by as many
    reviewers as are waiting.

    >>> worker = Worker(lambda batch: [future.set_result(n + 1) for n, future in batch])
    >>> worker.submit(1).result()
    2
    >>> worker.stop()
    """

    def __init__(self, handle: Callable[[list[tuple[Request, Future]]], object]) -> None:
        self._handle = handle
        self._waiting: queue.SimpleQueue[tuple[Request, Future] | None] = queue.SimpleQueue()
        self._stopped = False
        self._open = threading.Lock()  # so that nothing is put behind the end, where nobody would find it
        self._thread = threading.Thread(target=self._run, name="review-engine", daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Future:
        """A promise of the answer."""
        future: Future = Future()
        with self._open:
            if self._stopped:
                raise StoreError(Message("the review is closing; start it again to go on."))
            self._waiting.put((request, future))
        return future

    def stop(self) -> None:
        """Finish what waits, then end the thread."""
        with self._open:
            self._stopped = True
            self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            waiting, stop = self._gather(first)
            self._work(waiting)
            if stop:
                return

    def _work(self, waiting: list[tuple[Request, Future]]) -> None:
        # From here on nobody can withdraw a request: it is answered, whether or not somebody still listens.
        batch = [(request, future) for request, future in waiting if future.set_running_or_notify_cancel()]
        try:
            self._handle(batch)
        except BaseException as error:  # a request must never wait for an answer in vain
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)

    def _gather(self, first: tuple[Request, Future]) -> tuple[list[tuple[Request, Future]], bool]:
        batch = [first]
        while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
            more = self._waiting.get()
            if more is None:
                return batch, True
            batch.append(more)
        return batch, False


def resolve(future: Future, answer: Callable[[], Any]) -> None:
    """Give an answer that is read from memory; one that cannot be given is nobody else's trouble."""
    try:
        future.set_result(answer())
    except ShortlistError as error:
        future.set_exception(error)


class Chores:
    """Things that are done one after the other in a thread of its own; they only save time: no failure stops anybody.

    >>> chores, done = Chores(), []
    >>> chores.begin(lambda: done.append("swept"))
    >>> chores.wait()
    >>> done
    ['swept']
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def begin(self, *chores: Callable[[], object]) -> None:
        """Do them soon, after what is being done."""
        self.wait()
        self._thread = threading.Thread(target=_quietly, args=chores, name="review-chores", daemon=True)
        self._thread.start()

    @property
    def are_done(self) -> bool:
        """Whether nothing is being done."""
        return self._thread is None or not self._thread.is_alive()

    def wait(self) -> None:
        """Until nothing is being done."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def _quietly(*chores: Callable[[], object]) -> None:
    for chore in chores:
        # A full disk must not stop a review that can still be logged.
        with contextlib.suppress(ShortlistError, OSError):
            chore()
