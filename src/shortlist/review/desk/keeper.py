"""The one thread of a queue: it writes the log, learns from it, and deals rows."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from shortlist.exceptions import ShortlistError
from shortlist.languages.words import Message
from shortlist.review.desk.audit import AuditOrder
from shortlist.review.desk.clock import SteadyClock
from shortlist.review.desk.dealer import Deal, Dealer
from shortlist.review.desk.live import rebuild, refold
from shortlist.review.desk.rules.asked import Request
from shortlist.review.desk.rules.names import Forgotten
from shortlist.review.desk.rules.rules import Rules
from shortlist.review.desk.snapshot import Snapshot, Turn, take_snapshot, turn_of
from shortlist.review.desk.worker import Chores, resolve
from shortlist.review.errors import StoreError
from shortlist.review.log.events import Body, Drawn, Erased, Event, Joined, NameErased, Shown
from shortlist.review.log.store import Store
from shortlist.review.telling.reasons import Reasons
from shortlist.review.workspace import Workspace

#: What was learned is kept after so many events, so that a start need not learn all of it again.
CHECKPOINT_EVERY = 500
log = logging.getLogger("shortlist.review")


class Keeper:
    """Answers requests, those that wait together at once: what they write is one commit and one re-ranking.

    ``live`` is what the log says, as far as it was followed; ``snapshot`` is what pages show of it; ``chores`` are what
    only this thread begins, and nobody waits for.
    """

    def __init__(
        self, workspace: Workspace, store: Store, number: int, clock: SteadyClock, *, read_only: bool
    ) -> None:
        self._workspace, self._store, self._number, self._clock = workspace, store, number, clock
        self._read_only = read_only
        self._forgotten, self._nameless = Forgotten(), store.n_nameless()
        self.live = rebuild(workspace, store, number)
        self.rules = Rules(self.live)
        self._order = AuditOrder(self.live.fixed.seed, self.live.state.n_rows)
        self.settled = True  # memory says what the log says
        self._new: list[Event] = []  # in memory, and written when the batch is
        self._checkpointed = self.live.state.seq
        self.chores = Chores()
        self.snapshot: Snapshot = self._publish(self._dealer(self.now()).deal([], {}), None)

    def handle(self, batch: list[tuple[Request, Future]]) -> None:
        """Answer requests; after any error at all, memory becomes what the log says."""
        try:
            self._settle()
            self._answer(batch)
        except BaseException as error:
            self.settled = False
            with contextlib.suppress(Exception):
                self._settle()  # or else before the next request
                self._answer_readers(batch)
            if isinstance(error, ShortlistError):
                raise
            log.exception("a request to the queue %s failed", self._workspace.name)
            raise StoreError(
                Message(
                    "the review could not go on (%(reason)s). Send the request again: what was stored of it counts "
                    "once.",
                    reason=f"{type(error).__name__}: {error}",
                )
            ) from error

    def _answer_readers(self, batch: list[tuple[Request, Future]]) -> None:
        """What writes nothing does not fail with what does: else who lost the queue might never get to see that."""
        readers = [(request, future) for request, future in batch if not request.who and not future.done()]
        if 0 < len(readers) < len(batch):
            self.handle(readers)

    def _answer(self, batch: list[tuple[Request, Future]]) -> None:
        if self._read_only:
            self._catch_up()
        now = self.now()
        asked, chosen = self._prepare(batch, now)
        whos = [request.who for request, _ in asked if request.answer is None]
        deal = self._deal(whos, chosen, now)
        self._write()
        if deal or self.snapshot.seq != self.live.state.seq:
            self.snapshot = self._publish(deal or self._dealer(now).deal([], {}), self.snapshot)
        turns = {who: self._turn(who, deal, now) for who in whos}
        for request, future in asked:
            resolve(future, request.answer or partial(turns.get, request.who))
        self._checkpoint_now_and_then()

    def _prepare(
        self, batch: list[tuple[Request, Future]], now: float
    ) -> tuple[list[tuple[Request, Future]], dict[str, tuple[int, Drawn]]]:
        """Take what the rules let through, and say who is to get which row; what they refuse is answered so."""
        asked, chosen = [], {}
        for request, future in batch:
            if request.learned:
                self._learn()
            try:
                self._forgotten.check(request.who)
                prepared = request.prepare(now)
                self._forgotten.check(prepared.newcomer or "")
            except ShortlistError as error:
                asked.append((_refused(request, error), future))
                continue
            if prepared.newcomer is not None:
                self._take(prepared.newcomer, [Joined()], now)
            self._take(request.who, prepared.bodies, now)
            asked.append((_refused(request, prepared.refused), future))
            if prepared.next is not None:
                chosen[request.who] = prepared.next
        return asked, chosen

    def _take(self, who: str, bodies: Iterable[Body], now: float) -> None:
        """Fold what will be written into the state, so that the next request of the batch finds it there."""
        for body in bodies:
            event = Event(self.live.state.seq + 1, now, who, body)
            self.live.state.apply(event)
            self._new.append(event)

    def _learn(self) -> None:
        """Let the ranking follow what was taken."""
        learned = self.live.learned or 0
        for event in self._new:
            if event.seq > learned:
                self.live.learn(event, self._workspace)

    def _write(self) -> None:
        """A verdict and the row that follows it are one commit; without it none of what was taken has happened."""
        self._store.append(self._number, self._new)
        self._new = []

    def _deal(self, whos: list[str], chosen: dict[str, tuple[int, Drawn]], now: float) -> Deal | None:
        """New rows, by what was learned, for reviewers who hold none; None where all of them do."""
        self._learn()
        state = self.live.state
        empty = [w for w in dict.fromkeys(whos) if w in chosen or state.lease_of(w, now) is None]
        if self._read_only or not empty:
            return None
        deal = self._dealer(now).deal(empty, chosen)
        for who, given in deal.given.items():
            if isinstance(given, Shown):
                self._take(who, [self._with_reasons(given)], now)
        self._learn()
        return deal

    def _turn(self, who: str, deal: Deal | None, now: float) -> Turn:
        """The row that a reviewer holds, or why there is none."""
        if self._read_only:
            return Turn("read-only")
        given = deal.given.get(who) if deal else None
        return turn_of(self.live, who, given if isinstance(given, str) else None, now)

    def _with_reasons(self, shown: Shown) -> Shown:
        """What is said of the row on the screen is logged with it: a page stays open while the ranking moves on.

        A second opinion has the reasons of the first: those of now would tell what was said.
        """
        if shown.drawn is not Drawn.SECOND:
            return replace(shown, why=self.live.reasons(shown.row).stored())
        first = self.live.state.shown[self.live.state.opinions.waiting[shown.row].answers or 0].body
        return replace(shown, why=getattr(first, "why", None) or Reasons().stored())

    def now(self) -> float:
        """The time, which never goes back."""
        return self._clock(at_least=self.live.state.at)

    def _dealer(self, now: float) -> Dealer:
        self._order.extend(self.live.state.n_rows)
        return Dealer(self.live.state, self.live.ranking, self._order, now)

    def _publish(self, deal: Deal, before: Snapshot | None) -> Snapshot:
        return take_snapshot(self._workspace.name, self.live, deal, before, read_only=self._read_only)

    def go_on_with(self, store: Store, *, read_only: bool) -> None:
        """Write to the log from now on, or only read it; memory becomes what it says."""
        self._store, self._read_only = store, read_only
        self.forget_words()

    def _settle(self) -> None:
        """Where an error has left memory beside the log: fold the log again."""
        if not self.settled:
            self._new = []
            self.live = refold(self.live, self._workspace, self._store, self._number)
            self.rules = Rules(self.live)
            self._order = AuditOrder(self.live.fixed.seed, self.live.state.n_rows)
            self.settled = True

    def _catch_up(self) -> None:
        """Follow what the server that owns the queue has written."""
        new = list(self._store.events(self._number, after=self.live.state.seq))
        for event in new:
            self.live.state.apply(event)
            self.live.learn(event, self._workspace)
        if any(isinstance(event.body, Erased | NameErased) for event in new):
            self.forget_words()
        elif new:
            self.snapshot = self._publish(self._dealer(self.now()).deal([], {}), self.snapshot)

    def forget_name(self, name: str) -> None:
        """Let nobody review under a name that is no longer in the log."""
        self._forgotten.add(name)
        self.forget_words()

    def heed_erased_names(self) -> None:
        """Queues of one database share their people: a name may be erased by who owns another queue."""
        if self._store.n_nameless() != self._nameless:
            self._store.forget_names()
            self.forget_words()

    def forget_words(self) -> None:
        """Let memory know no more than the log, from which something was erased."""
        self.chores.wait()  # while a write-ahead log is carried over it cannot be emptied
        self.settled, self._nameless = False, self._store.n_nameless()
        self._settle()
        # Not from the snapshot before: what it says of the last verdict has names and ids in it.
        self.snapshot = self._publish(self._dealer(self.now()).deal([], {}), None)

    def _checkpoint_now_and_then(self) -> None:
        if self.live.state.seq - self._checkpointed >= CHECKPOINT_EVERY and self.chores.are_done:
            with contextlib.suppress(ShortlistError, OSError):
                self._begin_checkpoint()

    def finish(self) -> None:
        """Keep what was learned."""
        with contextlib.suppress(ShortlistError, OSError):
            self._begin_checkpoint()
        self.chores.wait()

    def _begin_checkpoint(self) -> None:
        """Keep what was learned up to now, while the review goes on."""
        seq = self.live.learned
        if self._read_only or not self.settled or seq is None or seq == self._checkpointed:
            return
        self._checkpointed = seq
        head = self._store.hash_of(self._number, seq) or ""
        write = self.live.engine.checkpoint(self._workspace.new_checkpoint)

        def keep() -> None:
            write()
            self._workspace.name_checkpoint(seq, head)

        self.chores.begin(keep, self._workspace.drop_checkpoints, self._store.database.tidy)


def _refused(request: Request, error: ShortlistError | None) -> Request:
    """The request with an error for an answer, if there is one."""
    return request if error is None else replace(request, answer=partial(_refuse, error))


def _refuse(error: ShortlistError) -> None:
    raise error
