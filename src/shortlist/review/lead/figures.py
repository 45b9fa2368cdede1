"""The figures of a review for whoever leads it; a share always comes with what it is a share of, and its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.stats import beta

from shortlist.review.desk.queue import Queue
from shortlist.review.log.tally import ALL, Count, Key

CONFIDENCE = 0.9


@dataclass(frozen=True)
class Share:
    """Part of a whole, with the exact (Clopper-Pearson) interval that holds the chance behind it in 90 % of cases."""

    part: int
    whole: int
    low: float
    high: float

    @classmethod
    def of(cls, part: int, whole: int) -> Share | None:
        """A share; None of nothing.

        >>> share = Share.of(3, 10)
        >>> share.value, round(share.low, 3), round(share.high, 3)
        (0.3, 0.087, 0.607)
        >>> Share.of(0, 0) is None
        True
        """
        if whole == 0:
            return None
        tail = (1 - CONFIDENCE) / 2
        low = float(beta.ppf(tail, part, whole - part + 1)) if part else 0.0
        high = float(beta.ppf(1 - tail, part + 1, whole - part)) if part < whole else 1.0
        return cls(part, whole, low, high)

    @property
    def value(self) -> float:
        """The share itself."""
        return self.part / self.whole


@dataclass(frozen=True)
class Line:
    """The figures of a week, of a reviewer, of a reason code, or of the whole review."""

    name: str
    reviewed: int  # rows; of a reviewer, those they gave a verdict on, also as a second opinion
    unsure: int
    found: int
    value: float | None  # of what was found; None without a value column
    precision: Share | None  # of the rows that the ranking put forward; random checks are not its doing
    agreement: Share | None  # where two people decided
    taken_back: int
    hours: float  # with a row on the screen
    verdicts: int  # first and second ones: each is work of an hour

    @property
    def per_hour(self) -> float | None:
        """Rows judged per hour, also for a second opinion."""
        return self.verdicts / self.hours if self.hours else None

    @property
    def value_per_hour(self) -> float | None:
        """Value found per hour."""
        return self.value / self.hours if self.hours and self.value is not None else None


@dataclass(frozen=True)
class Figures:
    """What a lead looks at: the whole review, and its parts."""

    whole: Line
    weeks: tuple[Line, ...]  # oldest first
    reviewers: tuple[Line, ...]  # most rows first, as reason codes are
    reasons: tuple[Line, ...]


def figures_of(queue: Queue) -> Figures:
    """The figures of a queue as it stands."""
    return figures(queue.counts(), queue.rows.value)


def figures(counts: Mapping[Key, Count], worth: Callable[[Sequence[int]], float | None]) -> Figures:
    """The figures of a tally; ``worth`` says what rows are worth together."""

    def lines(kind: str) -> Iterable[Line]:
        parts = ((key[1], count) for key, count in counts.items() if key[0] == kind)
        return (_line(name, count, worth) for name, count in parts if _has_anything(count))

    return Figures(
        _line("", counts.get(ALL, Count()), worth),
        tuple(sorted(lines("week"), key=lambda line: line.name)),
        tuple(sorted(map(_by_one, lines("reviewer")), key=_most_first)),
        tuple(sorted(lines("reason"), key=_most_first)),
    )


def _line(name: str, count: Count, worth: Callable[[Sequence[int]], float | None]) -> Line:
    return Line(
        name=name,
        reviewed=count.reviewed,
        unsure=count.unsure,
        found=len(count.wanted),
        value=worth(list(count.wanted)),
        precision=Share.of(count.ranked_wanted, count.ranked),
        agreement=Share.of(count.agreed, count.twice),
        taken_back=count.taken_back,
        hours=count.seconds / 3600,
        verdicts=count.verdicts,
    )


def _by_one(line: Line) -> Line:
    """The line of one reviewer, whose work are second opinions too; what was found counts for the first who judged."""
    return replace(line, reviewed=line.verdicts)


def _has_anything(count: Count) -> bool:
    return bool(count.verdicts or count.taken_back or count.seconds)


def _most_first(line: Line) -> tuple[int, str]:
    return -line.reviewed, line.name
