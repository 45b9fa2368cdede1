"""What reviewers see of a queue: plain values, made by the engine's thread and read by every other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from shortlist.review.estimate import Estimate, Missed, expected_yield, missed
from shortlist.review.events import Answer, Drawn
from shortlist.review.settings import Settings


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
    answers: tuple[Answer, ...]  # verdicts of this review in force, oldest first
    value_found: float | None
    unsure: tuple[int, ...]
    parked: int
    imported: int
    top: tuple[NextUp, ...]  # the best rows that nobody has
    shown_scores: tuple[float, ...]  # the score each row of the ranking had when it was shown,
    shown_wanted: tuple[bool, ...]  # and whether it was wanted
    sampled: int  # random checks that stand for the rows nobody has seen
    sampled_wanted: int
    checks: int  # all random checks, and the wanted among them
    checks_wanted: int
    last: Last | None
    reviewers: dict[str, float]

    @property
    def reviewed(self) -> int:
        """How many rows have a verdict of this review."""
        return len(self.answers)

    @property
    def found(self) -> int:
        """How many of them are wanted."""
        return sum(answer is Answer.WANTED for answer in self.answers)

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
        return expected_yield(self.shown_scores, self.shown_wanted, [up.score for up in self.top[:10]])

    @property
    def base_rate(self) -> float | None:
        """The share of wanted rows that chance would find, as far as random checks tell."""
        return self.checks_wanted / self.checks if self.checks else None

    @cached_property
    def curve(self) -> tuple[int, ...]:
        """Wanted rows found after each verdict."""
        found, curve = 0, []
        for answer in self.answers:
            found += answer is Answer.WANTED
            curve.append(found)
        return tuple(curve)
