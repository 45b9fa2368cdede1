"""What each reviewer has done, for a lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from shortlist.review.log.events import Event, Imported, Judged, Override, Undo
from shortlist.verdicts import Verdict

#: The verdicts that a lead sees counted; what is not wanted is the rest.
COUNTED = tuple(verdict for verdict in Verdict if verdict is not Verdict.NOT_WANTED)


@dataclass
class Person:
    """One reviewer's verdicts."""

    who: str
    said: Counter[Verdict] = field(default_factory=Counter)
    undone: int = 0
    overridden: int = 0  # a lead decided otherwise
    first: float = 0.0
    last: float = 0.0

    @property
    def verdicts(self) -> int:
        """How many verdicts, of any class."""
        return self.said.total()

    @property
    def per_hour(self) -> float | None:
        """Verdicts per hour between the first and the last one."""
        hours = (self.last - self.first) / 3600
        return (self.verdicts - 1) / hours if self.verdicts > 1 and hours > 0 else None

    @property
    def agreement(self) -> float | None:
        """The share of verdicts that no lead has changed."""
        return 1 - self.overridden / self.verdicts if self.verdicts else None


def people(log: Iterable[Event]) -> list[Person]:
    """Everybody who gave a verdict, most verdicts first."""
    found: dict[str, Person] = {}
    latest: dict[int, Event] = {}  # the verdict in force on a row
    for event in log:
        match event.body:
            case Judged(row=row, verdict=verdict):
                person = found.setdefault(event.who, Person(event.who, first=event.at))
                person.said[verdict] += 1
                person.last = event.at
                latest[row] = event
            case Override(row=row, verdict=verdict):
                _count_override(found, latest.get(row), verdict)
                latest[row] = event
            case Undo(row=row):
                undone = latest.pop(row, None)
                if undone is not None and not isinstance(undone.body, Imported):
                    found[undone.who].undone += 1
    return sorted(found.values(), key=lambda person: (-person.verdicts, person.who))


def _count_override(found: dict[str, Person], before: Event | None, verdict: Verdict) -> None:
    if before is not None and isinstance(before.body, Judged):
        said = before.body.verdict
        # Deciding what a reviewer left open is not a disagreement.
        found[before.who].overridden += said.is_decided and said is not verdict
