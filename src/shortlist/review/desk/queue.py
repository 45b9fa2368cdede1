"""A review queue: verdicts in, the next row out, and a log that tells the whole truth."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import polars as pl

from shortlist.exceptions import ShortlistError
from shortlist.feedback.why import Why
from shortlist.review.desk.audit import AuditOrder
from shortlist.review.desk.dealer import Deal, Dealer
from shortlist.review.desk.live import first_state, rebuild
from shortlist.review.desk.rows import Rows
from shortlist.review.desk.rules import Prepared, Rules
from shortlist.review.desk.snapshot import Snapshot, Turn, take_snapshot
from shortlist.review.desk.worker import Worker
from shortlist.review.errors import ReadOnlyError, ReviewError, StoreError
from shortlist.review.log.events import Body, Event, Override, Shown
from shortlist.review.log.settings import Fixed
from shortlist.review.log.store import Store
from shortlist.review.train import train_model
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict

#: What was learned is kept after so many events, so that a start need not learn all of it again.
CHECKPOINT_EVERY = 500


@dataclass
class Request:
    """Something to write to the log, to read from the engine, or both; ``who`` then gets a turn if they want one."""

    who: str
    prepare: Callable[[float], Prepared] = field(default=lambda now: Prepared())
    answer: Callable[[], Any] | None = None  # read once all is written; None: the reviewer's turn


class Queue:
    """One engine, one thread, one log. All methods may be called from any thread.

    The verdict path: check → one transaction with all that waits → commit → learn → choose and log the next rows →
    answer. A crash after the commit is healed by replay; an answer sent twice is the same answer.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: Store,
        number: int,
        *,
        lock: IO[str] | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.workspace, self._store, self._number = workspace, store, number
        self._lock, self._clock = lock, clock
        self.read_only = lock is None
        self._live = rebuild(workspace, store, number)
        self._rules = Rules(self._live)
        self._order = AuditOrder(self._live.fixed.seed, self._live.state.n_rows)
        self._checkpointed = self._live.state.seq
        self.snapshot: Snapshot = self._publish(self._dealer(clock()).deal([], {}), None)
        self._worker: Worker[Request] = Worker(self._handle)

    @classmethod
    def open(cls, folder: Any, *, clock: Callable[[], float] = time.time) -> Queue:
        """Continue the queue of a workspace; read-only where another server owns it."""
        workspace = Workspace(folder)
        workspace.check_exists()
        try:
            lock = workspace.lock()
        except OSError:
            lock = None
        with contextlib.ExitStack() as unless_opened:
            if lock is not None:
                unless_opened.callback(lock.close)
            store = Store.open(workspace.log, read_only=lock is None)
            unless_opened.callback(store.close)
            queue = cls(workspace, store, store.number_of(workspace.name), lock=lock, clock=clock)
            unless_opened.pop_all()
        return queue

    def close(self) -> None:
        """Finish what waits, keep what was learned, and let another server own the queue."""
        self._worker.stop()
        with contextlib.suppress(ShortlistError, OSError):
            self._checkpoint()
        self._store.close()
        if self._lock is not None:
            self._lock.close()

    # -- what reviewers do ------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What people call the queue."""
        return self.workspace.name

    def turn(self, who: str) -> Future[Turn]:
        """The row on a reviewer's screen; a new one if there is none. Its lease is extended."""
        return self._submit(Request(who, lambda now: self._rules.keep(who, now)), writes=False)

    def record(
        self, who: str, shown: int, verdict: Verdict | str, *, note: str = "", reason: str = ""
    ) -> Future[Turn]:
        """A verdict on the row that was shown; the answer is the next row."""
        verdict = Verdict(verdict)
        return self._submit(
            Request(who, lambda now: self._rules.verdict(who, shown, verdict, note, reason, now))
        )

    def undo(self, who: str, verdict: int | None = None) -> Future[Turn]:
        """Take back a reviewer's last verdict, or any one by its number; its row comes back."""
        return self._submit(Request(who, lambda now: self._rules.undo(who, verdict)))

    def park(self, who: str, shown: int, seconds: float | None = None) -> Future[Turn]:
        """Put the shown row off; the answer is the next row."""
        return self._submit(Request(who, lambda now: self._rules.park(who, shown, seconds, now)))

    def override(self, who: str, row: int, verdict: Verdict, note: str = "") -> Future[None]:
        """Decide on a row, whatever was said before."""
        return self._write(who, lambda now: self._rules.override(row, verdict, note))

    def note(self, who: str, row: int, text: str) -> Future[None]:
        """A remark on a row."""
        return self._write(who, lambda now: self._rules.note(row, text))

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
            Request(who, lambda now: self._rules.append(frame, self.workspace), lambda: len(self._live.rows))
        )

    # -- what pages read --------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """The rows as people see them."""
        return self._live.rows

    @property
    def fixed(self) -> Fixed:
        """What never changes."""
        return self._live.fixed

    def why(self, row: int) -> Future[Why]:
        """Why a row is where it is."""
        return self._ask(lambda: self._live.engine.why(row))

    def digest(self) -> Future[str]:
        """A fingerprint of the ranking, equal to that of a replay of the log."""
        return self._ask(self._live.engine.digest)

    def verdict_on(self, row: int) -> Event | None:
        """The verdict in force on a row."""
        return self._live.state.verdict.get(row)

    def in_force(self) -> list[Event]:
        """Verdicts that may be taken back: in force, and not a lead's decision."""
        said = self._ask(lambda: list(self._live.state.verdict.values())).result()
        return [event for event in said if not isinstance(event.body, Override)]

    def log(self, **filters: Any) -> Iterable[Event]:
        """Events of the log; filters as in ``Store.events``."""
        return self._store.events(self._number, **filters)

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force as a table."""
        return self._ask(self._live.verdicts).result()

    def train(self, path: Path | None = None) -> Path:
        """Train a model from the verdicts in force; None: a file in the workspace."""
        said = self._ask(lambda: dict(self._live.state.verdict)).result()
        path = path or self.workspace.folder / "model.shortlist"
        budget, schema = self.snapshot.settings.budget, self._live.engine.schema
        return train_model(said, self.rows, schema, path, budget=budget, seed=self.fixed.seed)

    def _ask(self, answer: Callable[[], Any]) -> Future:
        return self._submit(Request("", answer=answer), writes=False)

    # -- the engine's thread ----------------------------------------------------------------------------------

    def _submit(self, request: Request, *, writes: bool = True) -> Future:
        if writes and self.read_only:
            raise ReadOnlyError(
                "another server owns this queue, or its folder cannot be written; this page is for reading only."
            )
        return self._worker.submit(request)

    def _write(self, who: str, prepare: Callable[[float], Prepared]) -> Future[None]:
        return self._submit(Request(who, prepare, lambda: None))

    def _handle(self, batch: list[tuple[Request, Future]]) -> None:
        now, events, going, reopened = self._clock(), [], [], {}
        if self.read_only:
            self._catch_up()
        for request, future in batch:
            try:
                prepared = request.prepare(now)
            except ShortlistError as error:
                future.set_exception(error)
                continue
            events += self._take(request.who, prepared.bodies, now)
            going.append((request, future))
            if prepared.reopen is not None:
                reopened[request.who] = prepared.reopen
        try:
            self._write_and_learn(events)
            turns = self._deal([request.who for request, _ in going if request.answer is None], reopened, now)
        except StoreError as error:
            self._refuse([future for _, future in going], error)
            return
        if events and not turns:
            self.snapshot = self._publish(self._dealer(now).deal([], {}), self.snapshot)
        for request, future in going:
            future.set_result(request.answer() if request.answer else turns[request.who])
        self._checkpoint_now_and_then()

    def _take(self, who: str, bodies: Iterable[Body], now: float) -> list[Event]:
        """Events for the log, folded into the state so that the next request of the batch finds them there."""
        first = self._live.state.seq + 1
        events = [Event(first + i, now, who, body) for i, body in enumerate(bodies)]
        for event in events:
            self._live.state.apply(event)
        return events

    def _write_and_learn(self, events: list[Event]) -> None:
        self._store.append(self._number, events)
        for event in events:
            self._live.learn(event, self.workspace)

    def _deal(self, whos: list[str], reopened: dict[str, int], now: float) -> dict[str, Turn]:
        """A turn for each reviewer: the row they hold, or a new one, logged before it is given."""
        if self.read_only:
            return {who: Turn("read-only") for who in whos}
        state = self._live.state
        empty = [w for w in dict.fromkeys(whos) if w in reopened or state.lease_of(w, now) is None]
        reasons: dict[str, Any] = {}
        if empty:
            deal = self._dealer(now).deal(empty, reopened)
            shown = {who: given for who, given in deal.given.items() if isinstance(given, Shown)}
            events = [e for who, body in shown.items() for e in self._take(who, [body], now)]
            self._store.append(self._number, events)
            reasons = {who: given for who, given in deal.given.items() if isinstance(given, str)}
            self.snapshot = self._publish(deal, self.snapshot)
        return {who: self._turn(who, reasons.get(who), now) for who in whos}

    def _turn(self, who: str, reason: Any, now: float) -> Turn:
        state = self._live.state
        last, lease = state.last_verdict(who), state.lease_of(who, now)
        undo = last.seq if last else None
        if reason is not None or lease is None:
            return Turn(reason or "waiting", undo=undo)
        body = lease.body
        assert isinstance(body, Shown)
        return Turn(
            "row", lease.seq, body.row, self.rows.id(body.row), body.rank, body.score, body.drawn,
            body.version, state.lease_end(lease.seq), undo,
        )  # fmt: skip

    def _dealer(self, now: float) -> Dealer:
        self._order.extend(self._live.state.n_rows)
        return Dealer(self._live.state, self._live.engine, self._order, now)

    def _publish(self, deal: Deal, before: Snapshot | None) -> Snapshot:
        return take_snapshot(self.name, self._live, deal, before, read_only=self.read_only)

    def _refuse(self, futures: list[Future], error: ReviewError) -> None:
        """Something was not written: fold the log again, so that memory says what the disk says."""
        extended = self._live.state.extended
        self._live.state = first_state(self._live.fixed)
        for event in self.log():
            self._live.state.apply(event)
        self._live.state.extended.update(extended)
        for future in futures:
            future.set_exception(error)

    def _catch_up(self) -> None:
        """Follow what the server that owns the queue has written."""
        new = list(self.log(after=self._live.state.seq))
        for event in new:
            self._live.state.apply(event)
            self._live.learn(event, self.workspace)
        if new:
            self.snapshot = self._publish(self._dealer(self._clock()).deal([], {}), self.snapshot)

    def _checkpoint_now_and_then(self) -> None:
        if self._live.state.seq - self._checkpointed >= CHECKPOINT_EVERY:
            # A checkpoint only saves time; a full disk must not stop a review that can still be logged.
            with contextlib.suppress(ShortlistError, OSError):
                self._checkpoint()

    def _checkpoint(self) -> None:
        seq = self._live.state.seq
        if self.read_only or seq == self._checkpointed:
            return
        self._checkpointed = seq
        self._live.engine.checkpoint(self.workspace.checkpoint(seq))
        self.workspace.drop_checkpoints()
