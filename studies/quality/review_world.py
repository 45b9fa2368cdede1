"""A small world in which everything can go wrong, driven by a seed: the same seed is the same world, step by step.

Reviewers ask, answer, answer twice, give second opinions, put off and take back; a lead decides, assigns and imports;
the clock is set back and forth; the disk, the database and the code fail at any step of a request; the server is
stopped and killed. There are no threads: the seed says which requests are handled together and when. After every step
what must hold is checked.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa

from shortlist.exceptions import ShortlistError
from shortlist.review import Queue
from shortlist.review.desk import queue as desk
from shortlist.review.desk.keeper import Keeper
from shortlist.review.desk.live import LiveQueue, first_state
from shortlist.review.desk.snapshot import Turn
from shortlist.review.desk.worker import Worker
from shortlist.review.errors import StoreError
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict
from studies.quality.review_counts import Held, count_folder

WHO = ("ann", "bob", "cy")
#: Where an error strikes, and whether once the step is done.
PLACES = [(Store, "append", False), (Store, "append", True), (LiveQueue, "learn", False), (LiveQueue, "learn", True),
          (Keeper, "_deal", False), (Keeper, "_deal", True), (Keeper, "_publish", False),
          (Store, "_lines", False)]  # fmt: skip
ERRORS: list[Callable[[], BaseException]] = [
    lambda: StoreError("no room"),
    lambda: OSError(28, "no space left on device"),
    lambda: sa.exc.TimeoutError("no connection is free"),
    lambda: sa.exc.DatabaseError("insert", {}, sqlite3.DatabaseError("malformed")),
    lambda: ZeroDivisionError("a mistake in the code"),
    MemoryError,
]


class SteppedWorker(Worker[Any]):
    """A worker without a thread: it works when it is told to."""

    def __init__(self, handle: Callable[[Any], object]) -> None:
        self._handle, self._stopped = handle, False
        self.waiting: list[Any] = []

    def submit(self, request: Any) -> Future:
        """A promise of the answer."""
        future: Future = Future()
        self.waiting.append((request, future))
        return future

    def stop(self) -> None:
        """Finish what waits."""
        self.step(len(self.waiting))

    def step(self, n: int) -> None:
        """Handle the first requests together."""
        batch, self.waiting = self.waiting[:n], self.waiting[n:]
        if batch:
            self._work(batch)


@dataclass
class Counts:
    """What happened in some worlds."""

    worlds: int = 0
    steps: int = 0
    faults: int = 0
    stops: int = 0
    kills: int = 0
    clock_steps: int = 0
    held: Held = field(default_factory=Held)

    def __add__(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass
class World:
    """A queue and the people at it."""

    folder: Path
    rng: random.Random
    counts: Counts = field(default_factory=lambda: Counts(worlds=1))
    now: float = 1_700_000_000.0
    passed: float = 0.0
    acknowledged: dict[int, Verdict] = field(default_factory=dict)
    turns: dict[str, Turn | None] = field(default_factory=dict)
    asked: list[tuple[Future, str, Any]] = field(default_factory=list)

    def live(self, n_steps: int) -> Counts:
        """Let so many things happen, then prove that the log tells them."""
        with mock.patch.object(desk, "Worker", SteppedWorker):
            self.open()
            try:
                for _ in range(n_steps):
                    self.step()
            finally:
                self.queue.close()
        self.counts.steps = n_steps
        self.counts.held = count_folder(self.folder, self.acknowledged)
        return self.counts

    def open(self) -> None:
        """Start the server; pages ask again for what was not answered."""
        self.queue = Queue.open(self.folder, clock=lambda: self.now, steady=lambda: self.passed)
        assert not self.queue.read_only
        self.turns, self.asked = {}, []

    def step(self) -> None:
        """One thing happens."""
        happens = self.rng.choices(
            [self.person_acts, self.server_works, self.lead_acts, self.clock_moves, self.server_fails,
             self.server_stops, self.server_is_killed],
            [10, 10, 1, 2, 1, 0.3, 0.3],
        )[0]  # fmt: skip
        happens()
        if self.queue._keeper.settled:
            self.check()

    def person_acts(self) -> None:
        """Somebody asks for a row, or answers the one they have, perhaps not as they did before."""
        who = self.rng.choice(WHO)
        turn = self.turns.get(who)
        if turn is None or turn.shown is None or self.rng.random() < 0.1:
            self._send(self.queue.turn(who), who)
            return
        said = self.rng.choice([*Verdict])
        match self.rng.choices(["verdict", "later", "undo", "note", "withdraw"], [8, 1, 1, 1, 0.5])[0]:
            case "verdict":
                self._send(self.queue.record(who, turn.shown, said), who, (turn.shown, said))
            case "later":
                self._send(self.queue.park(who, turn.shown, self.rng.choice([1.0, 600.0])), who)
            case "undo":
                self._send(self.queue.undo(who), who)
            case "note":
                self._send(self.queue.note(who, turn.row or 0, "a remark"), who)
            case "withdraw":
                self.queue.record(who, turn.shown, said).cancel()

    def lead_acts(self) -> None:
        """A lead decides on any row, assigns it, or brings verdicts from elsewhere."""
        row, queue = self.rng.randrange(self.queue.snapshot.n_rows), self.queue
        match self.rng.choice(["decide", "assign", "import"]):
            case "decide":
                self._send(queue.override("lead", row, self.rng.choice([*Verdict])), "lead")
            case "assign":
                self._send(queue.assign("lead", row, self.rng.choice([*WHO, "new", None])), "lead")
            case "import":
                self._send(queue.import_verdicts("lead", [(row, Verdict.WANTED, "")]), "lead")

    def clock_moves(self) -> None:
        """Time passes, and now and then the clock of the machine is set."""
        self.passed += (passed := self.rng.choice([0.5, 30.0, 400.0]))
        self.now += passed
        if self.rng.random() < 0.2:
            self.now += self.rng.choice([-86_400.0, -700.0, 700.0])
            self.counts.clock_steps += 1

    def server_works(self) -> None:
        """Some of the requests that wait are handled, together."""
        worker: Any = self.queue._worker
        worker.step(self.rng.randint(1, 4))
        self._hear()

    def server_fails(self) -> None:
        """The same, with an error somewhere in it."""
        owner, name, afterwards = self.rng.choice(PLACES)
        with failing(
            owner, name, self.rng.choice(ERRORS), afterwards=afterwards, calls=self.rng.randint(1, 3)
        ):
            self.server_works()
        self.counts.faults += 1

    def server_stops(self) -> None:
        """The server is told to stop, and started again."""
        self.queue.close()
        self._hear()
        self.counts.stops += 1
        self.open()

    def server_is_killed(self) -> None:
        """The server ends without a word, and is started again."""
        self.queue._store.close()
        assert self.queue._lock is not None
        self.queue._lock.release()
        self.counts.kills += 1
        self.open()

    def check(self) -> None:
        """What was acknowledged is in the log, numbers have no gap, memory is the fold, and no row has two people."""
        events = list(self.queue.log())
        assert [event.seq for event in events] == [*range(1, len(events) + 1)], "a gap"
        stored = {event.answers: getattr(event.body, "verdict", None) for event in events if event.answers}
        lost = {seq: said for seq, said in self.acknowledged.items() if stored.get(seq) != said}
        assert not lost, f"acknowledged and lost: {lost}"
        state, live = first_state(self.queue.fixed), self.queue._live.state
        for event in events:
            assert event.at >= state.at, f"event {event.seq} is before the one before it"
            state.apply(event)
        for name in {each.name for each in fields(state)} - {"extended", "_given", "tally"}:
            assert getattr(state, name) == getattr(live, name), f"memory differs from the log in {name}"
        held = [
            live.shown[seq].row
            for seq in live.held.values()
            if live.lease_end(seq) > self.queue._keeper.now()
        ]
        assert len(held) == len({*held}), "a row on two screens"

    def _send(self, future: Future, who: str, said: Any = None) -> None:
        self.asked.append((future, who, said))

    def _hear(self) -> None:
        """Answers come in; what was acknowledged is remembered."""
        for future, who, said in [each for each in self.asked if each[0].done()]:
            error = future.exception()
            assert error is None or isinstance(error, ShortlistError), f"an error without a name: {error!r}"
            if said is not None and error is None:
                assert self.acknowledged.setdefault(*said) == said[1], "two answers were acknowledged"
            if isinstance(answer := None if error else future.result(), Turn):
                self.turns[who] = answer
            elif error is not None:
                self.turns[who] = None
        self.asked = [each for each in self.asked if not each[0].done()]


@contextlib.contextmanager
def failing(
    owner: Any, name: str, error: Callable[[], BaseException], *, afterwards: bool, calls: int
) -> Iterator[None]:
    """Let the n-th call of a method fail, before or after it has done its work."""
    real, left = getattr(owner, name), [calls]

    def maybe(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not afterwards:
            raise error()
        done = real(*arguments, **options)
        if left[0] == 0:
            raise error()
        return done

    with mock.patch.object(owner, name, maybe):
        yield
