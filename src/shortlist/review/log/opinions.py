"""Second opinions: which rows another person judges too, what both said, and where they differ."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from shortlist.review.log.events import Erased, Event, Judged, Override, Second, SettingsChanged, Undo
from shortlist.verdicts import Verdict


class Given(NamedTuple):
    """Two opinions on one row; neither knew the other."""

    first: Event
    second: Event

    @property
    def said(self) -> tuple[Verdict, Verdict]:
        """What the first and the second said."""
        first, second = self.first.body, self.second.body
        assert isinstance(first, Judged)
        assert isinstance(second, Second)
        return first.verdict, second.verdict

    @property
    def is_same(self) -> bool:
        """Whether both said the same."""
        return self.said[0] is self.said[1]


@dataclass
class Opinions:
    """Kept as the log grows. Which rows are judged twice is drawn by the seed, whatever is said of them.

    verdict : the verdicts in force, those of the state
    share : of the rows that one person has decided
    """

    seed: int
    verdict: Mapping[int, Event] = field(compare=False)
    share: float = 0.0
    #: Verdicts that another person should give too, oldest first.
    waiting: dict[int, Event] = field(default_factory=dict)
    given: dict[int, Given] = field(default_factory=dict)
    resolved: set[int] = field(
        default_factory=set
    )  # rows on which a lead has decided since, or can no longer
    erased: set[int] = field(default_factory=set)  # rows that nobody can look at any more
    #: Rows on which two people differ and no lead has decided.
    disputed: dict[int, Given] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Take the next event of the log, which the state has taken."""
        match event.body:
            case Judged(row=row):
                self._forget(row)
                if self._is_drawn(row, event):
                    self.waiting[row] = event
            case Second(row=row):
                self.given[row] = given = Given(self.waiting.pop(row), event)
                if not given.is_same and row not in self.resolved:
                    self.disputed[row] = given
            case Undo(row=row, second=True):
                self.waiting[row] = self.given.pop(row).first
                self.disputed.pop(row, None)
            case Undo(row=row):
                self._forget(row)
            case Override(row=row):
                self._resolve(row)
            case Erased(row=row):
                self.erased.add(row)
                self._resolve(row)
            case SettingsChanged(changes=changes) if "second_opinions" in changes:
                self.draw(changes["second_opinions"])

    def draw(self, share: float) -> None:
        """Let another share of the rows be judged twice, also of those that have a verdict."""
        self.share = share
        drawn = ((row, event) for row, event in self.verdict.items() if row not in self.given)
        self.waiting = {row: event for row, event in drawn if self._is_drawn(row, event)}

    def _is_drawn(self, row: int, event: Event) -> bool:
        """Whether a row is judged twice; one on which the first is unsure goes to a lead anyway."""
        is_decided = isinstance(event.body, Judged) and event.body.verdict.is_decided
        return is_decided and row not in self.erased and place_of(self.seed, row) < self.share

    def _resolve(self, row: int) -> None:
        self.waiting.pop(row, None)
        self.disputed.pop(row, None)
        if row in self.given:
            self.resolved.add(row)

    def _forget(self, row: int) -> None:
        self.waiting.pop(row, None)
        self.disputed.pop(row, None)
        self.given.pop(row, None)
        self.resolved.discard(row)


def place_of(seed: int, row: int) -> float:
    """Where a row stands between 0 and 1, at random: the same for a seed on every machine.

    >>> round(place_of(0, 7), 4), sum(place_of(0, row) < 0.1 for row in range(10_000))
    (0.6471, 975)
    """
    digest = hashlib.blake2b(f"{seed} {row}".encode(), digest_size=8, person=b"opinions").digest()
    return int.from_bytes(digest) / 2**64
