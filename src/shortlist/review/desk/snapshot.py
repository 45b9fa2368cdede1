"""What reviewers see of a queue: plain values, made by the engine's thread and read by every other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from shortlist.review.desk.estimate import Estimate, Missed, expected_yield, missed
from shortlist.review.log.events import Answer, Drawn, Event, Imported, Verdict
from shortlist.review.log.settings import Settings
from shortlist.review.log.state import answer_of


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
    verdict: Answer
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
    def answers(self) -> tuple[Answer, ...]:
        """What they say."""
        return tuple(answer_of(event) for event in self.own)

    @cached_property
    def unsure(self) -> tuple[int, ...]:
        """Rows that wait for a lead."""
        pairs = zip(self.own, self.answers, strict=True)
        return tuple(event.row for event, said in pairs if said is Answer.UNSURE and event.row is not None)

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
        told = [(e, said) for e, said in zip(self.own, self.answers, strict=True) if self._is_ranked(e, said)]
        scores = [self.shown[event.body.answers].body.score for event, _ in told]  # type: ignore[union-attr]
        wanted = [said is Answer.WANTED for _, said in told]
        return expected_yield(scores, wanted, [up.score for up in self.top[:10]])

    @property
    def base_rate(self) -> float | None:
        """The share of wanted rows that chance would find, as far as random checks tell."""
        return sum(self.checks.values()) / len(self.checks) if self.checks else None

    @cached_property
    def curve(self) -> tuple[int, ...]:
        """Wanted rows found after each verdict."""
        found, curve = 0, []
        for answer in self.answers:
            found += answer is Answer.WANTED
            curve.append(found)
        return tuple(curve)

    def _is_ranked(self, event: Event, said: Answer) -> bool:
        """Whether a verdict tells what the ranking is worth: not on a random check, not undecided."""
        return isinstance(event.body, Verdict) and said is not Answer.UNSURE and event.row not in self.checks
