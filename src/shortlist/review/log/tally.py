"""What a review amounts to, by week, reviewer and reason code: counts that follow the log, event by event."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from shortlist.review.log.events import Event, Imported, Judged, Override, Park, Second, Undo, was_chosen
from shortlist.verdicts import Verdict

#: A row that stays on a screen for longer was left alone.
MOST_SECONDS = 600.0
#: What is counted together: all, ("week", "2026-W47"), ("reviewer", who), ("reason", code) or ("day", day, who).
Key = tuple[str, ...]
ALL: Key = ("all",)


@dataclass
class Count:
    """Counts of some rows of a review; a row counts for the first who judged it, by the verdict in force."""

    reviewed: int = 0  # rows with a verdict in force,
    second_opinions: int = 0  # on rows that count for somebody else
    unsure: int = 0  # rows without a decision
    ranked: int = 0  # decided rows that the ranking put forward,
    ranked_wanted: int = 0  # and the wanted among them
    twice: int = 0  # rows on which two people decided,
    agreed: int = 0  # and said the same
    taken_back: int = 0
    seconds: float = 0.0  # with a row on the screen
    wanted: dict[int, None] = field(default_factory=dict)  # rows found

    @property
    def verdicts(self) -> int:
        """Verdicts given, first and second: what the time went into."""
        return self.reviewed + self.second_opinions

    def copy(self) -> Count:
        """These counts, which stay as they are."""
        return replace(self, wanted=dict(self.wanted))


class Counted(NamedTuple):
    """What one row adds to the counts it belongs to."""

    keys: tuple[Key, ...]
    second: tuple[Key, ...]  # what a second opinion counts for, as work
    outcome: Verdict
    is_ranked: bool
    has_two: bool
    is_agreed: bool


@dataclass
class Tally:
    """Counts kept as the log grows; what a row adds is taken off again when its verdict changes."""

    shown: Mapping[int, Event] = field(compare=False)  # those of the state, as are
    out: dict[int, bool] = field(compare=False)  # rows that were seen, and whether drawn at random
    counts: defaultdict[Key, Count] = field(default_factory=lambda: defaultdict(Count))
    _looks: dict[int, list[Event]] = field(default_factory=dict)  # verdicts on a row since it had none
    _added: dict[int, Counted] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Take the next event of the log."""
        match event.body:
            case Judged(row=row, answers=answers) | Second(row=row, answers=answers):
                self._spend(event, answers)
                self._look(row, [*self._looks.get(row, ()), event])
            case Override(row=row):
                self._look(row, [*self._looks.get(row, ()), event])
            case Park(answers=answers):
                self._spend(event, answers)
            case Undo(row=row, second=second):
                self._take_back(row, second=second)
            case Imported(row=row):
                self._look(row, [])

    def parts(self) -> dict[Key, Count]:
        """All counts but those of single days, as they are now."""
        return {key: count.copy() for key, count in self.counts.items() if key[0] != "day"}

    def of(self, who: str, day: dt.date) -> Count:
        """What somebody has done on a day."""
        return self.counts.get(("day", day.isoformat(), who), Count())

    def _look(self, row: int, looks: list[Event]) -> None:
        if row in self._added:
            self._add(row, self._added.pop(row), -1)
        self._looks.pop(row, None)
        if looks:
            self._looks[row] = looks
            self._added[row] = counted = self._counted(row, looks)
            self._add(row, counted, 1)

    def _counted(self, row: int, looks: Sequence[Event]) -> Counted:
        first, outcome = looks[0], _said([look for look in looks if not isinstance(look.body, Second)][-1])
        reasons = [body.reason for look in looks if isinstance(body := look.body, Judged) and body.reason]
        keys = _keys(first.who, first.at)
        pair = _two_decisions(looks)
        return Counted(
            (*keys, ("reason", reasons[-1])) if reasons else keys,
            tuple(key for look in looks if isinstance(look.body, Second) for key in _keys(look.who, look.at)),
            outcome,
            outcome.is_decided and self._was_served(row, first),
            pair is not None,
            pair is not None and pair[0] is pair[1],
        )

    def _was_served(self, row: int, first: Event) -> bool:
        """Whether the ranking served a row: nobody drew it at random or chose it from the list."""
        is_answer = isinstance(first.body, Judged) and not was_chosen(first, self.shown)
        return is_answer and not self.out.get(row, False)

    def _add(self, row: int, counted: Counted, sign: int) -> None:
        is_wanted = counted.outcome is Verdict.WANTED
        for key in counted.second:
            self.counts[key].second_opinions += sign
        for count in (self.counts[key] for key in counted.keys):
            count.reviewed += sign
            count.unsure += sign * (not counted.outcome.is_decided)
            count.ranked += sign * counted.is_ranked
            count.ranked_wanted += sign * (counted.is_ranked and is_wanted)
            count.twice += sign * counted.has_two
            count.agreed += sign * counted.is_agreed
            if is_wanted and sign > 0:
                count.wanted[row] = None
            elif is_wanted:
                del count.wanted[row]

    def _take_back(self, row: int, *, second: bool) -> None:
        """A second opinion that is taken back leaves the others; a verdict takes all with it."""
        looks = self._looks.get(row, [])
        gone = [look for look in looks if isinstance(look.body, Second) is second]
        for key in _keys(gone[-1].who, gone[-1].at) if gone else ():
            self.counts[key].taken_back += 1
        self._look(row, [look for look in looks if look is not gone[-1]] if second else [])

    def _spend(self, event: Event, shown: int) -> None:
        seconds = min(max(event.at - self.shown[shown].at, 0.0), MOST_SECONDS)
        for key in _keys(event.who, event.at):
            self.counts[key].seconds += seconds


def _keys(who: str, at: float) -> tuple[Key, ...]:
    """What an event counts for, in the time zone of the server."""
    when = dt.datetime.fromtimestamp(at)
    return ALL, ("week", f"{when:%G-W%V}"), ("reviewer", who), ("day", when.date().isoformat(), who)


def _two_decisions(looks: Sequence[Event]) -> tuple[Verdict, Verdict] | None:
    """What the first who decided said, and the next who was somebody else; None where only one decided."""
    decided = [(look.who, _said(look)) for look in looks if _said(look).is_decided]
    others = (said for who, said in decided[1:] if who != decided[0][0])
    second = next(others, None)
    return None if second is None else (decided[0][1], second)


def _said(look: Event) -> Verdict:
    assert isinstance(look.body, Judged | Override | Second)
    return look.body.verdict
