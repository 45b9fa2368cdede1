"""From the log to the ranking: at every start, and after every error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from shortlist.feedback import ScoreSpace
from shortlist.review.desk.engine import Engine
from shortlist.review.desk.erasing import lost_words
from shortlist.review.desk.integrity import check
from shortlist.review.desk.rows import Rows
from shortlist.review.desk.worth import ByExpectedValue
from shortlist.review.export import verdict_table
from shortlist.review.log.events import Appended, Erased, Event
from shortlist.review.log.settings import Fixed, Settings
from shortlist.review.log.state import State
from shortlist.review.log.store import Store
from shortlist.review.log.tally import Count, Key
from shortlist.review.telling.foreseen import Foreseen, ModelChances
from shortlist.review.telling.missed import Missed
from shortlist.review.telling.reasons import Reasons, give_reasons
from shortlist.review.telling.unseen import missed_in
from shortlist.review.workspace import Checkpoint, Workspace
from shortlist.tables import Roles


@dataclass(frozen=True)
class Standing:
    """The ranking after an event of the log."""

    seq: int
    version: int
    digest: str


@dataclass
class LiveQueue:
    """A queue rebuilt from its files."""

    fixed: Fixed
    rows: Rows
    state: State
    engine: Engine
    #: The event up to which the ranking has followed the log; None: an error has left it in between.
    learned: int | None = 0
    #: Where rows are placed that were appended and then erased: their values cannot tell.
    leaves: Mapping[int, Sequence[int]] = field(default_factory=dict)
    #: What the model of the queue knows of its chances; None: there is none, or it does not know.
    chances: ModelChances | None = None
    #: Scores of rows near the top before any verdict, which stay as they are.
    _own: dict[int, float] = field(default_factory=dict, init=False)
    #: The ranking by expected value, of which state and as of which event: many ask for it at one moment.
    _by_value: tuple[State, tuple[int, int | None], ByExpectedValue] | None = field(default=None, init=False)

    def learn(self, event: Event, workspace: Workspace) -> None:
        """Let the ranking follow an event that the state has taken."""
        self.learned = None
        if isinstance(event.body, Appended):
            frame, first = workspace.read_rows(event.body.file), len(self.rows)
            known = {row: self.leaves[row] for row in self.leaves if first <= row < first + frame.height}
            self.engine.append(self.rows.features(frame), known)
            self.rows.append(frame)
        elif isinstance(event.body, Erased):
            self._erase(event.body.row)
        else:
            self.engine.follow(event)
        self.rows.write_as(self.state.settings.formats)
        self.learned = event.seq

    def _erase(self, row: int) -> None:
        """Know nothing of a row any more; after a start its files tell nothing of it either."""
        if row not in self.rows.erased:
            self.engine.forget_words(lost_words(self.rows, self.engine.schema, [row]))
            self.rows = self.rows.without([row], self.engine.schema)

    @property
    def ranking(self) -> Engine | ByExpectedValue:
        """Which rows come first, as things stand: by score, or by expected value where rows have one."""
        if not self.fixed.by_value:
            return self.engine
        moment = self.state.seq, self.learned
        if self._by_value is None or self._by_value[0] is not self.state or self._by_value[1] != moment:
            made = ByExpectedValue(self.engine, self.state, self.rows.values)
            self._by_value = self.state, moment, made
        return self._by_value[2]

    def expected(self, rows: Sequence[int], scores: Sequence[float]) -> list[float | None]:
        """What rows with these scores are expected to bring, where that is what rows are ranked by."""
        ranking = self.ranking
        known = ranking.expected(rows, scores) if isinstance(ranking, ByExpectedValue) else None
        return [None] * len(rows) if known is None else [*known]

    def foreseen(self, rows: Sequence[int]) -> Foreseen | None:
        """What the model said of rows before any verdict; None where none does."""
        if self.chances is None:
            return None
        self._own |= {row: self.engine.own_score(row) for row in rows if row not in self._own}
        return self.chances.foresee([self._own[row] for row in rows])

    def counts(self) -> dict[Key, Count]:
        """What the review amounts to, as it stands."""
        return self.state.tally.parts()

    def reasons(self, row: int) -> Reasons:
        """Why a row is where it is now."""
        fields, usual = self.rows.fields(row), self.rows.usual
        value = self.rows.value_column if self._is_by_value else None
        return give_reasons(
            self.engine.why(row), fields, usual, self.engine.schema, self.state.verdict, value
        )

    @property
    def _is_by_value(self) -> bool:
        """Whether places come from values as well as from scores."""
        ranking = self.ranking
        return isinstance(ranking, ByExpectedValue) and ranking.by_value

    def standing(self) -> Standing:
        """Where the ranking stands."""
        return Standing(self.state.seq, self.engine.version, self.engine.digest())

    def missed(self) -> Missed | None:
        """What is still missed; None without a random check that could tell."""
        state = self.state
        return missed_in(self.rows.batches, state.in_force(), state.seen.until_now(), len(state.wanted))

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force as a table."""
        return verdict_table(self.state, self.rows)


def rebuild(workspace: Workspace, store: Store, queue: int, *, checkpoints: bool = True) -> LiveQueue:
    """Read a queue; with ``checkpoints``, what was learned up to one is not learned again."""
    check(workspace, store, queue)
    for checkpoint, is_as_written in named(workspace, store, queue) if checkpoints else []:
        if not is_as_written:
            continue
        # A checkpoint only saves time: whatever is wrong with it, the log is followed from its start. An error that is
        # not its own comes again there.
        with contextlib.suppress(Exception):
            live = start(workspace, store, queue)
            follow(live, workspace, store.events(queue), until=checkpoint.seq, learn=False)
            live.engine = Engine.resume(live.engine.space, checkpoint.path)
            live.learned = checkpoint.seq
            follow(live, workspace, store.events(queue, after=checkpoint.seq))
            return live
    live = start(workspace, store, queue)
    follow(live, workspace, store.events(queue))
    return live


def named(workspace: Workspace, store: Store, queue: int) -> Iterator[tuple[Checkpoint, bool]]:
    """Checkpoints that are named as those of this very log are, and whether each holds what it was written with.

    One that is ahead of the log has seen what was never stored.
    """
    last, _ = store.head(queue)
    for each in workspace.checkpoints():
        head = (store.hash_of(queue, each.seq) or "") if each.seq <= last else None
        if head is not None and head.startswith(each.head):
            yield each, each.is_as_written(head)


def refold(live: LiveQueue, workspace: Workspace, store: Store, queue: int) -> LiveQueue:
    """The queue as the log tells it, after an error; its ranking is made anew only where nobody knows what it is."""
    learned, state = live.learned, first_state(live.fixed)
    events = list(store.events(queue))
    if learned is None or learned > (events[-1].seq if events else 0):
        return rebuild(workspace, store, queue)
    for event in events:
        state.apply(event)
    state.extended = {seq: end for seq, end in live.state.extended.items() if seq in state.held.values()}
    live.state = state
    for event in events[learned:]:
        live.learn(event, workspace)
    return live


def first_state(fixed: Fixed) -> State:
    """The state of a queue before its first event."""
    return State(Settings().changed(fixed.settings), fixed.first_rows, fixed.seed)


def start(workspace: Workspace, store: Store, queue: int) -> LiveQueue:
    """The queue as it was made, before its first event."""
    fixed = Fixed.from_dict(store.fixed(queue))
    state = first_state(fixed)
    roles = Roles(id=fixed.id, label=fixed.label, ignore=fixed.ignore)
    engine = Engine.start(ScoreSpace.load(workspace.space), fixed.strategy, fixed.seed)
    told = [event.body for event in store.events(queue, kinds=[Erased.kind])]
    erased = {body.row: body.leaves for body in told if isinstance(body, Erased)}
    rows = Rows(workspace.read_rows(workspace.rows.name), roles, fixed.value, engine.schema, erased)
    leaves = {row: at for row, at in erased.items() if at}
    return LiveQueue(fixed, rows, state, engine, leaves=leaves, chances=ModelChances.read(workspace.chances))


def follow(
    live: LiveQueue,
    workspace: Workspace,
    events: Iterable[Event],
    *,
    until: int | None = None,
    learn: bool = True,
    watch: Callable[[Event], None] = lambda event: None,
) -> None:
    """Take events, up to one if told; without ``learn`` the ranking takes only new rows."""
    for event in events:
        if until is not None and event.seq > until:
            return
        live.state.apply(event)
        if learn or isinstance(event.body, Appended | Erased):
            live.learn(event, workspace)
        watch(event)
    live.rows.write_as(live.state.settings.formats)
