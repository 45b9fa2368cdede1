"""One thread that does the work of a queue, many requests at a time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from shortlist.review.errors import ReviewError

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
        self._thread = threading.Thread(target=self._run, name="review-engine", daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Future:
        """A promise of the answer."""
        if self._stopped:
            raise ReviewError("the review is closing; start it again to go on.")
        future: Future = Future()
        self._waiting.put((request, future))
        return future

    def stop(self) -> None:
        """Finish what waits, then end the thread."""
        self._stopped = True
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, stop = self._gather(first)
            try:
                self._handle(batch)
            except BaseException as error:  # a request must never wait for an answer in vain
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
            if stop:
                return

    def _gather(self, first: tuple[Request, Future]) -> tuple[list[tuple[Request, Future]], bool]:
        batch = [first]
        while len(batch) < MOST_AT_ONCE and not self._waiting.empty():
            more = self._waiting.get()
            if more is None:
                return batch, True
            batch.append(more)
        return batch, False
