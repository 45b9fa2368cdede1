"""From the log to the ranking: at every start, and to prove that the log tells the whole truth."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import polars as pl

from shortlist.exceptions import ShortlistError
from shortlist.feedback import ScoreSpace
from shortlist.review.desk.engine import Engine
from shortlist.review.desk.rows import Rows
from shortlist.review.export import verdict_table
from shortlist.review.log.events import Appended, Event, Shown
from shortlist.review.log.settings import Fixed, Settings
from shortlist.review.log.state import State
from shortlist.review.log.store import Store
from shortlist.review.workspace import Workspace
from shortlist.tables import Roles


@dataclass
class LiveQueue:
    """A queue rebuilt from its files."""

    fixed: Fixed
    rows: Rows
    state: State
    engine: Engine

    def learn(self, event: Event, workspace: Workspace) -> None:
        """Let the ranking follow an event that the state has taken."""
        if isinstance(event.body, Appended):
            frame = workspace.read_rows(event.body.file)
            self.engine.append(self.rows.features(frame))
            self.rows.append(frame)
        else:
            self.engine.follow(event)

    def verdicts(self) -> pl.DataFrame:
        """The verdicts in force as a table."""
        return verdict_table(self.state, self.rows)


def rebuild(workspace: Workspace, store: Store, queue: int, *, checkpoints: bool = True) -> LiveQueue:
    """Read a queue; with ``checkpoints``, what was learned up to one is not learned again."""
    for seq, path in workspace.checkpoints() if checkpoints else []:
        # A checkpoint only saves time: without it, or if it is damaged, the log is followed from its start.
        with contextlib.suppress(ShortlistError, OSError, KeyError, ValueError):
            live = _start(workspace, store, queue)
            _follow(live, workspace, store.events(queue), until=seq, learn=False)
            live.engine = Engine.resume(live.engine.space, path)
            _follow(live, workspace, store.events(queue, after=seq))
            return live
    live = _start(workspace, store, queue)
    _follow(live, workspace, store.events(queue))
    return live


@dataclass
class Proof:
    """Whether replaying the log gives the ranking that reviewers saw."""

    events: int = 0
    shown: int = 0
    differing: list[int] = field(default_factory=list)
    version: int = 0
    digest: str = ""

    @property
    def holds(self) -> bool:
        """Every shown row has the score and version it had when it was shown."""
        return not self.differing


def prove(workspace: Workspace, store: Store, queue: int) -> Proof:
    """Follow the log from its start and compare every row shown with what was stored when it was shown."""
    live, proof = _start(workspace, store, queue), Proof()

    def compare(event: Event) -> None:
        proof.events += 1
        if isinstance(event.body, Shown):
            proof.shown += 1
            (score,) = live.engine.scores([event.body.row])
            if (event.body.score, event.body.version) != (score, live.engine.version):
                proof.differing.append(event.seq)

    _follow(live, workspace, store.events(queue), watch=compare)
    proof.version, proof.digest = live.engine.version, live.engine.digest()
    return proof


def first_state(fixed: Fixed) -> State:
    """The state of a queue before its first event."""
    return State(Settings().changed(fixed.settings), fixed.first_rows)


def _start(workspace: Workspace, store: Store, queue: int) -> LiveQueue:
    """The queue as it was made, before its first event."""
    fixed = Fixed.from_dict(store.fixed(queue))
    state = first_state(fixed)
    roles = Roles(id=fixed.id, label=fixed.label, ignore=fixed.ignore)
    rows = Rows(workspace.read_rows(workspace.rows.name), roles, fixed.value)
    space = ScoreSpace.load(workspace.space)
    return LiveQueue(fixed, rows, state, Engine.start(space, fixed.strategy, fixed.seed))


def _follow(
    live: LiveQueue,
    workspace: Workspace,
    events: Iterable[Event],
    *,
    until: int | None = None,
    learn: bool = True,
    watch: Callable[[Event], None] = lambda event: None,
) -> None:
    for event in events:
        if until is not None and event.seq > until:
            return
        live.state.apply(event)
        if learn or isinstance(event.body, Appended):
            live.learn(event, workspace)
        watch(event)
