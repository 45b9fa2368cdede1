"""What reviewers see of a queue: plain values, made by the engine's thread and read by every other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from shortlist.review.desk.dealer import Deal, Reason
from shortlist.review.desk.live import LiveQueue
from shortlist.review.log.events import Drawn, Event, Imported, Judged, Shown, was_chosen
from shortlist.review.log.opinions import Given
from shortlist.review.log.settings import Settings
from shortlist.review.log.state import verdict_of
from shortlist.review.telling.estimate import Estimate, expected_yield
from shortlist.review.telling.foreseen import Foreseen
from shortlist.review.telling.missed import Missed
from shortlist.review.telling.reasons import Reasons
from shortlist.review.telling.unseen import missed_in
from shortlist.verdicts import Verdict

#: Rows of which it is told how many will be wanted.
NEXT = 10


@dataclass(frozen=True)
class Today:
    """What a reviewer has done since midnight."""

    reviewed: int = 0  # rows judged, also for a second opinion
    found: int = 0  # of the rows that they judged first: a row is found once
    value: float | None = None


@dataclass(frozen=True)
class Turn:
    """What a reviewer does next: a row to judge, or why there is none."""

    state: Literal["row", "budget", "waiting", "finished", "read-only"]
    shown: int | None = None
    row: int | None = None
    id: str | None = None
    rank: int | None = None
    score: float | None = None
    drawn: Drawn | None = None
    version: int | None = None
    until: float | None = None  # as the log has it: what only memory knows of a lease a restart would forget
    undo: int | None = None  # the reviewer's last verdict, which may be taken back
    today: Today = Today()
    why: Reasons = field(default_factory=Reasons)  # as it stood when the row was shown
    expected_value: float | None = None  # the chance of such a score times the row's value, where that ranks


@dataclass(frozen=True)
class NextUp:
    """A row near the top, and how the last verdicts moved it."""

    row: int
    id: str
    score: float
    move: int | None  # places up; None: it was not near the top before
    expected_value: float | None = None  # what it is ranked by, where rows are ranked by expected value


@dataclass(frozen=True)
class Last:
    """The newest verdict, and which rows near the top rose and fell after it; none after one that teaches nothing."""

    seq: int
    row: int
    id: str
    verdict: Verdict
    who: str
    teaches: bool
    rose: tuple[str, ...]
    fell: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A queue at one moment. Estimates are worked out by whoever reads them first."""

    name: str
    seq: int
    version: int
    n_rows: int
    settings: Settings
    read_only: bool
    verdicts: Sequence[Event]  # in force, oldest first, imported ones too
    shown: Mapping[int, Event]  # what they answer
    reviewed: int  # rows with a verdict of this review,
    found: int  # and the wanted among them
    value_found: float | None
    parked: int
    top: tuple[NextUp, ...]  # the best rows that nobody has
    batches: tuple[int, ...]  # how many rows came together
    out: Sequence[tuple[int, bool]]  # rows that somebody has seen, in order, and whether drawn at random
    last: Last | None
    reviewers: dict[str, float]
    waiting: Mapping[int, Event]  # verdicts on which a second opinion is asked for,
    disputed: Mapping[int, Given]  # and rows on which two people differ
    assigned: Mapping[int, str]  # open rows that are for one person
    foreseen: Foreseen | None  # what the model of the queue said of the next ten, where it knows

    def hidden_from(self, who: str) -> frozenset[int]:
        """Rows whose verdict somebody must not know yet: they may be asked what they say of it."""
        return frozenset(row for row, event in self.waiting.items() if event.who != who)

    @property
    def imported(self) -> int:
        """How many verdicts were known before."""
        return len(self.verdicts) - self.reviewed

    @cached_property
    def own(self) -> tuple[Event, ...]:
        """Verdicts of this review, oldest first."""
        return tuple(event for event in self.verdicts if not isinstance(event.body, Imported))

    @cached_property
    def said(self) -> tuple[Verdict, ...]:
        """What they say."""
        return tuple(verdict_of(event) for event in self.own)

    @cached_property
    def unsure(self) -> tuple[int, ...]:
        """Rows that wait for a lead."""
        pairs = zip(self.own, self.said, strict=True)
        return tuple(event.row for event, said in pairs if said is Verdict.UNSURE and event.row is not None)

    @property
    def unseen(self) -> int:
        """Rows without any verdict."""
        return self.n_rows - self.reviewed - self.imported

    @cached_property
    def missed(self) -> Missed | None:
        """What is still missed; None without a random check that could tell."""
        return missed_in(self.batches, self.verdicts, self.out, self.found)

    @cached_property
    def next_ten(self) -> Estimate | None:
        """How many of the next ten rows are wanted; None while no model knows and too few verdicts say."""
        told = [(e, said) for e, said in zip(self.own, self.said, strict=True) if self._is_ranked(e, said)]
        scores = [self.shown[event.body.answers].body.score for event, _ in told]  # type: ignore[union-attr]
        wanted = [said is Verdict.WANTED for _, said in told]
        return expected_yield(scores, wanted, [up.score for up in self.top[:NEXT]], self.foreseen)

    @cached_property
    def curve(self) -> tuple[int, ...]:
        """Wanted rows found after each verdict."""
        found, curve = 0, []
        for verdict in self.said:
            found += verdict is Verdict.WANTED
            curve.append(found)
        return tuple(curve)

    @cached_property
    def _checks(self) -> frozenset[int]:
        return frozenset(row for row, is_check in self.out if is_check)

    def _is_ranked(self, event: Event, said: Verdict) -> bool:
        """Whether a verdict tells what the ranking is worth: on a row that it served, and decided."""
        is_served = isinstance(event.body, Judged) and not was_chosen(event, self.shown)
        return is_served and said.is_decided and event.row not in self._checks


def turn_of(live: LiveQueue, who: str, reason: Reason | None, now: float) -> Turn:
    """The row that a reviewer holds, or the reason why there is none."""
    state = live.state
    last, lease = state.last_verdict(who), state.lease_of(who, now)
    count, undo = state.tally.of(who, dt.date.fromtimestamp(now)), last.seq if last else None
    today = Today(count.verdicts, len(count.wanted), live.rows.value(count.wanted))
    if reason is not None or lease is None:
        return Turn(reason or "waiting", undo=undo, today=today)
    body = lease.body
    assert isinstance(body, Shown)
    # Where a row stands by now would tell what was said of it.
    rank, score = (None, None) if body.drawn is Drawn.SECOND else (body.rank, body.score)
    expected = [None] if score is None else live.expected([body.row], [score])
    return Turn(
        "row", lease.seq, body.row, live.rows.id(body.row), rank, score, body.drawn,
        body.version, state.logged_end(lease.seq), undo, today,
        live.reasons(body.row) if body.why is None else Reasons.read(body.why),
        *expected,
    )  # fmt: skip


def take_snapshot(
    name: str, live: LiveQueue, deal: Deal, before: Snapshot | None, *, read_only: bool
) -> Snapshot:
    """What pages show from now on."""
    state = live.state
    moved = _moves([up.row for up in before.top] if before else [], deal.top)
    verdicts = state.in_force()
    return Snapshot(
        name=name,
        seq=state.seq,
        version=live.engine.version,
        n_rows=state.n_rows,
        settings=state.settings,
        read_only=read_only,
        verdicts=verdicts,
        shown=state.shown,
        reviewed=state.n_reviewed,
        found=len(state.wanted),
        value_found=live.rows.value(state.wanted),
        parked=sum(row not in state.verdict for row in state.parked),
        top=tuple(
            NextUp(row, live.rows.id(row), score, moved.get(row), expected)
            for row, score, expected in zip(
                deal.top, deal.top_scores, live.expected(deal.top, deal.top_scores), strict=True
            )
        ),
        batches=live.rows.batches,
        out=state.seen.until_now(),
        last=_last(verdicts[-1] if verdicts else None, live, moved, before),
        reviewers=dict(state.reviewers),
        waiting=dict(state.opinions.waiting),
        disputed=dict(state.opinions.disputed),
        assigned=dict(state.assigned),
        foreseen=live.foreseen(deal.top[:NEXT]),
    )


def _moves(before: list[int], after: list[int]) -> dict[int, int | None]:
    """Places that each row of the new top went up; None for rows that were not near the top before.

    Rows that left the top (reviewed, or on a screen) are not counted: the others do not move up by their leaving.

    >>> _moves([1, 2, 3, 4], [4, 2, 3, 9])
    {4: 2, 2: -1, 3: -1, 9: None}
    """
    staying = set(after)
    old = {row: place for place, row in enumerate(row for row in before if row in staying)}
    known = [row for row in after if row in old]
    new = {row: place for place, row in enumerate(known)}
    return {row: old[row] - new[row] if row in old else None for row in after}


def _last(
    event: Event | None, live: LiveQueue, moved: dict[int, int | None], before: Snapshot | None
) -> Last | None:
    """The newest verdict; while it stays the newest, so do the rows that rose and fell after it."""
    if event is None or event.row is None or isinstance(event.body, Imported):
        return None
    known = before.last if before else None
    if known and known.seq == event.seq:
        return known
    teaches = not isinstance(event.body, Judged) or event.body.learn
    rose = [row for row in _risen(moved) if teaches]
    fell = [row for row, places in moved.items() if teaches and places is not None and places < 0]
    fell += _pushed_out(live, before, moved) if teaches else []
    ids = (tuple(map(live.rows.id, rows)) for rows in (rose, fell))
    return Last(event.seq, event.row, live.rows.id(event.row), verdict_of(event), event.who, teaches, *ids)


def _risen(moved: dict[int, int | None]) -> list[int]:
    """Rows that went up; a newcomer only where it is now above a row that was there, not where it fills a gap."""
    staying = [at for at, places in enumerate(moved.values()) if places is not None]
    last = staying[-1] if staying else -1
    return [
        row
        for at, (row, places) in enumerate(moved.items())
        if (places is None and at < last) or (places is not None and places > 0)
    ]


def _pushed_out(live: LiveQueue, before: Snapshot | None, moved: dict[int, int | None]) -> list[int]:
    """Rows that were near the top and are not, though nobody has taken them."""
    state = live.state
    held = {state.shown[seq].row for seq in state.held.values()}
    gone = [up.row for up in (before.top if before else ()) if up.row not in moved]
    return [row for row in gone if not (row in held or row in state.verdict or row in state.parked)]
