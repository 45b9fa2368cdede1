"""A review queue: verdicts in, the next row out, and a log that tells the whole truth."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.languages.words import Message
from shortlist.review.desk.clock import SteadyClock
from shortlist.review.desk.erasing import Eraser, Erasure
from shortlist.review.desk.keeper import Keeper
from shortlist.review.desk.live import LiveQueue, Standing
from shortlist.review.desk.proof import check_libraries
from shortlist.review.desk.rows import Rows
from shortlist.review.desk.rules.asked import Prepared, Request, Said
from shortlist.review.desk.rules.rules import Rules
from shortlist.review.desk.snapshot import Snapshot, Turn
from shortlist.review.desk.worker import Worker
from shortlist.review.errors import ReadOnlyError
from shortlist.review.log.database import Lock
from shortlist.review.log.events import Erased, Event, NameErased, Override
from shortlist.review.log.opinions import Given
from shortlist.review.log.settings import Fixed
from shortlist.review.log.store import Store
from shortlist.review.log.tally import Count, Key
from shortlist.review.telling.reasons import Reasons
from shortlist.review.train import train_model
from shortlist.review.workspace import Workspace
from shortlist.tables import Schema
from shortlist.verdicts import Verdict


class Queue:
    """One engine, one thread, one log. All methods may be called from any thread.

    The verdict path: check all that waits → learn → choose the next rows → commit verdicts and rows together →
    answer. After an error before the commit nothing has happened; a crash after it is healed by replay; an answer sent
    twice is the same answer.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        number: int,
        *,
        lock: Lock | None,
        now: SteadyClock,
    ) -> None:
        self.workspace, self._store, self._number = workspace, store, number
        self._lock, self.read_only = lock, lock is None
        self._keeper = Keeper(workspace, store, number, now, read_only=self.read_only)
        self._worker: Worker[Request] = Worker(self._keeper.handle)

    @classmethod
    def open(
        cls, folder: Any, *, clock: Callable[[], float] = time.time, steady: Callable[[], float] | None = None
    ) -> Queue:
        """Continue the queue of a workspace; read-only where another server owns it.

        ``clock`` tells the time of day, ``steady`` how much time has passed; None: that of the machine, or ``clock``
        where one is given.
        """
        workspace = Workspace(folder)
        workspace.check_exists()
        now = SteadyClock(clock, steady or (time.monotonic if clock is time.time else clock))
        lock = cls._take_lock(workspace, wait=0.3)
        with contextlib.ExitStack() as unless_opened:
            if lock is not None:
                unless_opened.callback(lock.release)
            store = Store.open(workspace.place, read_only=lock is None)
            unless_opened.callback(store.close)
            number = store.number_of(workspace.name)
            if lock is not None:
                store.own(number)
                Eraser(workspace, store, number).finish_what_was_cut_short()
            queue = cls(workspace, store, number, lock=lock, now=now)
            unless_opened.pop_all()
        if lock is not None:
            check_libraries(workspace, store, number)
        return queue

    def close(self) -> None:
        """Finish what waits, keep what was learned, and let another server own the queue."""
        self._worker.stop()
        self._keeper.finish()
        self._store.close()
        if self._lock is not None:
            self._lock.release()

    def look_after(self) -> Future[bool]:
        """Own the queue once its owner is gone, or only read it once another owns it; tells whether that changed.

        A server asks for it every few seconds.
        """
        return self._submit(Request("", answer=self._look_after), writes=False)

    def _look_after(self) -> bool:
        changed = self._change_hands()
        if not changed:
            self._keeper.heed_erased_names()
        return changed

    def _change_hands(self) -> bool:
        held, was = self._lock, self.read_only
        if held is not None and held.is_held() and self._store.is_owned(self._number):
            return False
        self._keeper.chores.wait()
        if held is not None:
            held.release()
            self._lock = None
        # While a database is away nobody knows who owns the queue: this fails, and is tried again.
        lock = self._take_lock(self.workspace)
        if lock is None and was:
            return False
        with contextlib.ExitStack() as unless_done:
            if lock is not None:
                unless_done.callback(lock.release)
            store = Store.open(self.workspace.place, read_only=lock is None)
            unless_done.callback(store.close)
            if lock is not None:
                store.own(self._number)
                Eraser(self.workspace, store, self._number).finish_what_was_cut_short()
            self._keeper.go_on_with(store, read_only=lock is None)
            unless_done.pop_all()
        self._store.close()
        self._store, self._lock, self.read_only = store, lock, lock is None
        return self.read_only != was

    @staticmethod
    def _take_lock(workspace: Workspace, wait: float = 0.0) -> Lock | None:
        try:
            return workspace.lock(wait)
        except OSError:
            return None  # a folder that cannot be written

    # -- what reviewers do ------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What people call the queue."""
        return self.workspace.name

    def turn(self, who: str) -> Future[Turn]:
        """The row on a reviewer's screen; a new one if there is none. Its lease is extended."""
        keep = Request(who) if self.read_only else Request(who, lambda now: self._rules.keep(who, now))
        return self._submit(keep, writes=False)

    def record(
        self,
        who: str,
        shown: int,
        verdict: Verdict | str,
        *,
        note: str = "",
        reason: str = "",
        also: Sequence[int] = (),
    ) -> Future[Turn]:
        """A verdict on the row that was shown, and for other rows too; the answer is the next row."""
        said = Said(Verdict(verdict), note, reason)
        return self._submit(
            Request(who, lambda now: self._rules.verdict(who, shown, said, also, now), learned=bool(also))
        )

    def decide(
        self, who: str, rows: Sequence[int], verdict: Verdict | str, *, note: str = "", reason: str = ""
    ) -> Future[None]:
        """One verdict for rows chosen from the list: each is logged, and they are taken back together."""
        said = Said(Verdict(verdict), note, reason)
        return self._submit(
            Request(who, lambda now: self._rules.decide(who, rows, said, now), lambda: None, learned=True)
        )

    def take(self, who: str, row: int) -> Future[Turn]:
        """Put a row chosen from the list on a reviewer's screen."""
        return self._submit(Request(who, lambda now: self._rules.take(who, row, now)))

    def undo(self, who: str, verdict: int | None = None) -> Future[Turn]:
        """Take back a reviewer's last verdict, or any one by its number; its row comes back."""
        return self._submit(Request(who, lambda now: self._rules.undo(who, verdict)))

    def park(self, who: str, shown: int, seconds: float | None = None, *, note: str = "") -> Future[Turn]:
        """Put the shown row off, with a remark if there is one; the answer is the next row."""
        return self._submit(Request(who, lambda now: self._rules.park(who, shown, seconds, note, now)))

    def assign(self, who: str, row: int, to: str | None, *, leads: bool = True) -> Future[None]:
        """Give an open row to somebody, or to nobody; ``leads``: whether it may be a row of others."""
        return self._write(who, lambda now: self._rules.assign(who, row, to, now, leads=leads))

    def override(self, who: str, row: int, verdict: Verdict, note: str = "") -> Future[None]:
        """Decide on a row, whatever was said before."""
        return self._write(who, lambda now: self._rules.override(who, row, verdict, note))

    def note(self, who: str, row: int, text: str) -> Future[None]:
        """A remark on a row."""
        return self._write(who, lambda now: self._rules.note(who, row, text))

    def change(self, who: str, changes: dict[str, Any]) -> Future[None]:
        """Change settings."""
        return self._write(who, lambda now: self._rules.settings(changes))

    def import_verdicts(self, who: str, verdicts: Iterable[tuple[int, Verdict, str]]) -> Future[int]:
        """Learn verdicts that were known before; returns how many were new."""
        prepared: list[Prepared] = []

        def prepare(now: float) -> Prepared:
            prepared.append(self._rules.imports(verdicts))
            return prepared[0]

        return self._submit(Request(who, prepare, lambda: len(prepared[0].bodies)))

    def append(self, who: str, frame: pl.DataFrame) -> Future[int]:
        """Add rows; they join the ranking at once. Returns how many rows there are now."""
        return self._submit(
            Request(
                who,
                lambda now: self._rules.append(frame, self.workspace),
                lambda: len(self._live.rows),
                learned=True,
            )
        )

    # -- what pages read --------------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The queue as pages show it."""
        return self._keeper.snapshot

    @property
    def rows(self) -> Rows:
        """The rows as people see them."""
        return self._live.rows

    @property
    def fixed(self) -> Fixed:
        """What never changes."""
        return self._live.fixed

    def why(self, row: int) -> Future[Reasons]:
        """Why a row is where it is now; what was said of it when it was shown is in its events."""
        return self._ask(lambda: self._live.reasons(row))

    def ranked(self, rows: NDArray[np.int64], n: int) -> Future[list[int]]:
        """The n best of some rows without a verdict, best first."""
        return self._ask(lambda: self._live.ranking.best_of(rows, n))

    def put_off(self) -> Future[dict[int, float]]:
        """Rows that were put off, and until when."""
        return self._ask(lambda: self._live.state.put_off(self._keeper.now()))

    @property
    def schema(self) -> Schema:
        """What the columns of the rows are."""
        return self._live.engine.schema

    def counts(self) -> dict[Key, Count]:
        """What the review amounts to, by week, reviewer and reason code."""
        return self._ask(self._live.counts).result()

    def opinions(self) -> list[Given]:
        """Rows of which two people have said something, neither knowing of the other."""
        return self._ask(lambda: [*self._live.state.opinions.given.values()]).result()

    def opinion_on(self, row: int) -> Given | None:
        """What two people have said of a row."""
        return self._live.state.opinions.given.get(row)

    def person(self, event: int) -> str | None:
        """Whose first event it is."""
        return self._live.state.person(event)

    def digest(self) -> Future[str]:
        """A fingerprint of the ranking, equal to that of a replay of the log."""
        return self._ask(self._live.engine.digest)

    def standing(self) -> Future[Standing]:
        """Where the ranking stands, to be compared with a replay of the log up to the same event."""
        return self._ask(self._live.standing)

    def head(self) -> tuple[int, str]:
        """The last event of the log and the hash that stands for all of it."""
        return self._store.head(self._number)

    def hash_of(self, seq: int) -> str | None:
        """The hash of an event, which no other event has."""
        return self._store.hash_of(self._number, seq)

    def key(self) -> str:
        """Where the chain of the log begins: it stays the same when a queue is renamed or moved."""
        return self._store.hash_of(self._number, 0) or ""

    def knows(self, name: str) -> Future[bool]:
        """Whether the log speaks of somebody of this name."""
        return self._ask(lambda: name in self._live.state.known)

    def first_event_of(self, name: str) -> int | None:
        """The number that stands for a person in this queue, also once the name is erased."""
        return self._live.state.known.get(name)

    def erase_name(self, who: str, name: str) -> Future[str]:
        """Forget what a person is called, also in other queues of the same database; returns what stands for them."""
        erased: list[int] = []

        def prepare(now: float) -> Prepared:
            prepared = self._rules.erase_name(name)
            erased.extend(body.person for body in prepared.bodies if isinstance(body, NameErased))
            return prepared

        def finish() -> str:
            self._keeper.forget_name(name)
            self._store.forget_the_past("people")
            return self.person(erased[0]) or ""

        return self._submit(Request(who, prepare, finish))

    def erase_rows(self, who: str, rows: Sequence[int]) -> Future[Erasure]:
        """Forget what is known of rows and what was written of them; what was said of them stays in force."""
        erased: list[Erased] = []

        def eraser() -> Eraser:
            return Eraser(self.workspace, self._store, self._number)

        def prepare(now: float) -> Prepared:
            prepared = self._rules.erase(rows, eraser())
            erased.extend(body for body in prepared.bodies if isinstance(body, Erased))
            return prepared

        def finish() -> Erasure:
            self._keeper.forget_words()
            removed = eraser().finish(is_new=bool(erased))
            files = tuple({name: None for body in erased for name in body.files})
            return Erasure(len(erased), files, removed, eraser().elsewhere(self.fixed))

        return self._submit(Request(who, prepare, finish, learned=True))

    def verdict_on(self, row: int) -> Event | None:
        """The verdict in force on a row."""
        return self._live.state.verdict.get(row)

    def in_force(self) -> list[Event]:
        """Verdicts that may be taken back: in force, and not a lead's decision."""
        said = self._ask(lambda: list(self._live.state.verdict.values())).result()
        return [event for event in said if not isinstance(event.body, Override)]

    def event(self, seq: int) -> Event | None:
        """The event of this number."""
        return next(iter(self.log(after=seq - 1, limit=1)), None)

    def log(self, **filters: Any) -> Iterable[Event]:
        """Events of the log; filters as in ``Store.events``."""
        return self._store.events(self._number, **filters)

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force as a table."""
        return self._ask(self._live.verdicts).result()

    def train(self, path: Path | None = None) -> Path:
        """Train a model from the verdicts in force; None: a file in the workspace."""
        said = self._ask(lambda: dict(self._live.state.verdict)).result()
        path = path or self.workspace.model
        budget, schema = self.snapshot.settings.budget, self._live.engine.schema
        return train_model(said, self.rows, schema, path, budget=budget, seed=self.fixed.seed)

    def _ask(self, answer: Callable[[], Any]) -> Future:
        return self._submit(Request("", answer=answer), writes=False)

    @property
    def _live(self) -> LiveQueue:
        return self._keeper.live

    @property
    def _rules(self) -> Rules:
        return self._keeper.rules

    def _submit(self, request: Request, *, writes: bool = True) -> Future:
        if writes and self.read_only:
            raise ReadOnlyError(
                Message(
                    "another server owns this queue, or its folder cannot be written; this page is for reading only."
                )
            )
        return self._worker.submit(request)

    def _write(self, who: str, prepare: Callable[[float], Prepared]) -> Future[None]:
        return self._submit(Request(who, prepare, lambda: None))
