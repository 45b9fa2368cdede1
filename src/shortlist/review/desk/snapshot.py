"""What reviewers see of a queue: plain values, made by the engine's thread and read by every other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from shortlist.review.desk.dealer import Deal
from shortlist.review.desk.estimate import Estimate, Missed, expected_yield, missed
from shortlist.review.desk.live import LiveQueue
from shortlist.review.log.events import Drawn, Event, Imported, Judged
from shortlist.review.log.settings import Settings
from shortlist.review.log.state import verdict_of
from shortlist.verdicts import Verdict


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
    until: float | None = None
    undo: int | None = None  # the reviewer's last verdict, which may be taken back


@dataclass(frozen=True)
class NextUp:
    """A row near the top, and how the last verdicts moved it."""

    row: int
    id: str
    score: float
    move: int | None  # places up; None: it was not near the top before


@dataclass(frozen=True)
class Last:
    """The newest verdict and how many of the top rows it moved up."""

    seq: int
    row: int
    id: str
    verdict: Verdict
    who: str
    moved: int


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A queue at one moment. Estimates are worked out by whoever reads them first."""

    name: str
    seq: int
    version: int
    n_rows: int
    settings: Settings
    read_only: bool
    verdicts: tuple[Event, ...]  # in force, oldest first, imported ones too
    shown: Mapping[int, Event]  # what they answer
    reviewed: int  # rows with a verdict of this review,
    found: int  # and the wanted among them
    value_found: float | None
    parked: int
    top: tuple[NextUp, ...]  # the best rows that nobody has
    sampled: int  # random checks that stand for the rows nobody has seen
    sampled_wanted: int
    checks: Mapping[int, bool]  # all random checks: row -> wanted
    last: Last | None
    reviewers: dict[str, float]

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
        if self.sampled == 0:
            return None
        return missed(self.unseen, self.sampled, self.sampled_wanted, self.found)

    @cached_property
    def next_ten(self) -> Estimate | None:
        """How many of the next ten rows are wanted; None while too few verdicts say."""
        told = [(e, said) for e, said in zip(self.own, self.said, strict=True) if self._is_ranked(e, said)]
        scores = [self.shown[event.body.answers].body.score for event, _ in told]  # type: ignore[union-attr]
        wanted = [said is Verdict.WANTED for _, said in told]
        return expected_yield(scores, wanted, [up.score for up in self.top[:10]])

    @property
    def base_rate(self) -> float | None:
        """The share of wanted rows that chance would find, as far as random checks tell."""
        return sum(self.checks.values()) / len(self.checks) if self.checks else None

    @cached_property
    def curve(self) -> tuple[int, ...]:
        """Wanted rows found after each verdict."""
        found, curve = 0, []
        for verdict in self.said:
            found += verdict is Verdict.WANTED
            curve.append(found)
        return tuple(curve)

    def _is_ranked(self, event: Event, said: Verdict) -> bool:
        """Whether a verdict tells what the ranking is worth: not on a random check, not undecided."""
        return isinstance(event.body, Judged) and said.is_decided and event.row not in self.checks


def take_snapshot(
    name: str, live: LiveQueue, deal: Deal, before: Snapshot | None, *, read_only: bool
) -> Snapshot:
    """What pages show from now on."""
    state = live.state
    checks = state.random_checks()
    sample = [is_wanted for row, is_wanted in checks.items() if row not in state.passed]
    moved = _moves([up.row for up in before.top] if before else [], deal.top)
    verdicts = tuple(state.verdict.values())
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
        value_found=live.rows.value(list(state.wanted)),
        parked=sum(row not in state.verdict for row in state.parked),
        top=tuple(
            NextUp(row, live.rows.id(row), score, moved.get(row))
            for row, score in zip(deal.top, deal.top_scores, strict=True)
        ),
        sampled=len(sample),
        sampled_wanted=sum(sample),
        checks=checks,
        last=_last(verdicts[-1] if verdicts else None, live, moved, before),
        reviewers=dict(state.reviewers),
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
    """The newest verdict; while it stays the newest, so does the count of rows that it moved up."""
    if event is None or event.row is None or isinstance(event.body, Imported):
        return None
    up = sum(1 for places in moved.values() if places is None or places > 0)
    last = Last(event.seq, event.row, live.rows.id(event.row), verdict_of(event), event.who, up)
    known = before.last if before else None
    return replace(last, moved=known.moved) if known and known.seq == last.seq else last
