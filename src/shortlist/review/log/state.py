"""The state of a queue as a function of its log: who holds what, what was said, what is put off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar, overload

from shortlist.review.log.events import (
    Appended,
    Assigned,
    Drawn,
    Erased,
    Event,
    Imported,
    Judged,
    Kept,
    Note,
    Override,
    Park,
    Second,
    SettingsChanged,
    Shown,
    Undo,
)
from shortlist.review.log.opinions import Opinions
from shortlist.review.log.settings import Settings
from shortlist.review.log.tally import Tally
from shortlist.verdicts import Verdict

T = TypeVar("T")


@dataclass
class Trail(Generic[T]):
    """Things in the order in which they came; nothing that is there ever changes.

    So what was there at a moment is told by how much it was: a queue of a hundred thousand verdicts is shown after one
    more as fast as one of ten.

    >>> trail = Trail(["a", "b"])
    >>> seen = trail.until_now()
    >>> trail.append("c")
    >>> [*seen], len(seen), seen[-1], [*trail.until_now()]
    (['a', 'b'], 2, 'b', ['a', 'b', 'c'])
    """

    things: list[T] = field(default_factory=list)

    def append(self, thing: T) -> None:
        """One more."""
        self.things.append(thing)

    def until_now(self) -> Sequence[T]:
        """All that is there now, whatever comes later."""
        return _First(self.things, len(self.things))


class _First(Sequence[T]):
    """The first things of a list that only grows."""

    def __init__(self, things: list[T], n: int) -> None:
        self._things, self._n = things, n

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[T]:
        return islice(self._things, self._n)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return self._things[: self._n][at]
        return self._things[range(self._n)[at]]


@dataclass
class State:
    """Events folded up, in the order of the log; ``apply`` takes the next one."""

    settings: Settings
    n_rows: int
    seed: int = 0
    seq: int = 0
    at: float = 0.0  # when the last event was written
    #: Everything that was shown, by sequence number.
    shown: dict[int, Event] = field(default_factory=dict)
    #: The event that answered a shown row.
    answer: dict[int, Event] = field(default_factory=dict)
    #: The row each reviewer has on the screen: the last one shown to them, while it has no answer.
    held: dict[str, int] = field(default_factory=dict)
    #: The verdict in force on a row.
    verdict: dict[int, Event] = field(default_factory=dict)
    parked: dict[int, float] = field(default_factory=dict)
    #: Who has remarked what on a row, the newest last.
    remarks: dict[int, dict[tuple[str, str], None]] = field(default_factory=dict)
    #: Ends of leases that a living page has moved: as the log tells, and since then, which only memory knows.
    kept: dict[int, float] = field(default_factory=dict)
    extended: dict[int, float] = field(default_factory=dict)
    served: int = 0  # rows served in turn: by the ranking or as a random check
    #: Rows that somebody has seen or decided, in the order of the first time, and whether they were drawn at random.
    out: dict[int, bool] = field(default_factory=dict)
    seen: Trail[tuple[int, bool]] = field(default_factory=Trail)  # the same, read while events go on coming
    reviewers: dict[str, float] = field(default_factory=dict)  # when each was last heard of
    #: Counts of the verdicts of this review in force, kept so that a verdict costs the same late as early.
    n_reviewed: int = 0
    wanted: dict[int, None] = field(default_factory=dict)  # rows that are wanted
    _given: dict[str, list[Event]] = field(default_factory=dict)  # by each reviewer, in order
    #: The first event of everybody of whom the log has heard, and whose it is.
    known: dict[str, int] = field(default_factory=dict)
    _person: dict[int, str] = field(default_factory=dict)
    #: Open rows that are for one person, in the order in which they were assigned.
    assigned: dict[int, str] = field(default_factory=dict)
    erased: set[int] = field(default_factory=set)  # rows of which nothing is known any more
    #: Counts for progress and for the lead.
    tally: Tally = field(init=False)
    opinions: Opinions = field(init=False)

    def __post_init__(self) -> None:
        self._in_force: Trail[Event] | None = None  # made when it is asked for
        self.tally = Tally(self.shown, self.out)
        self.opinions = Opinions(self.seed, self.verdict, self.settings.second_opinions)

    def apply(self, event: Event) -> None:
        """Take the next event of the log."""
        self.seq, self.at = event.seq, max(self.at, event.at)
        self._meet(event)
        match event.body:
            case Shown() as shown:
                self._show(event, shown)
            case Judged() as judged:
                self._answer(event, judged.answers)
                self._judge(judged.row, event)
                held = self.held.get(event.who)
                if held is not None and self.shown[held].row == judged.row:
                    del self.held[event.who]
            case Park() as park:
                self._answer(event, park.answers)
                self.parked[park.row] = park.until
            case Note() as note:
                self._remark(note.row, (event.who, note.note))
            case Second() as second:
                self._answer(event, second.answers)
                self._given.setdefault(event.who, []).append(event)
            case Undo() as undo:
                self._take_back(undo)
            case Assigned() as assigned:
                self._assign(assigned)
            case Kept() as kept:
                self.kept[kept.shown] = kept.until
                self.reviewers[event.who] = event.at
            case Imported(row=row) | Override(row=row):
                self._judge(row, event)
                self._release(row)
            case SettingsChanged() | Appended() | Erased() as change:
                self._change(change)
        self.tally.apply(event)
        self.opinions.apply(event)

    def lease_of(self, who: str, now: float) -> Event | None:
        """The row a reviewer holds, if nobody else may have it yet."""
        seq = self.held.get(who)
        return self.shown[seq] if seq is not None and self.lease_end(seq) > now else None

    def lease_end(self, shown: int) -> float:
        """When the row of a ``shown`` may be given to somebody else."""
        return max(self.logged_end(shown), self.extended.get(shown, 0.0))

    def logged_end(self, shown: int) -> float:
        """The same as far as the log knows."""
        body = self.shown[shown].body
        assert isinstance(body, Shown)
        return max(body.until, self.kept.get(shown, 0.0))

    def leased(self, now: float) -> dict[int, str]:
        """Rows on somebody's screen, and whose."""
        held = ((self.shown[seq], who) for who, seq in self.held.items() if self.lease_end(seq) > now)
        return {event.row: who for event, who in held if event.row is not None}

    def holder(self, row: int, now: float) -> str | None:
        """On whose screen a row is."""
        for who, seq in reversed(self.held.items()):
            if self.shown[seq].row == row and self.lease_end(seq) > now:
                return who
        return None

    def put_off(self, now: float) -> dict[int, float]:
        """Rows whose time has not come, and when it does."""
        return {row: until for row, until in self.parked.items() if until > now and row not in self.verdict}

    def last_verdict(self, who: str) -> Event | None:
        """The newest verdict of a reviewer that is in force and may be taken back."""
        given = self._given.get(who, [])
        while given and not self.is_in_force(given[-1]):
            given.pop()
        return given[-1] if given else None

    def is_in_force(self, event: Event) -> bool:
        """Whether a verdict, or a second opinion on which no lead has decided, still stands."""
        row = event.row if event.row is not None else -1
        if not isinstance(event.body, Second):
            return self.verdict.get(row) is event
        given = self.opinions.given.get(row)
        return given is not None and given.second is event and row not in self.opinions.resolved

    def in_force(self) -> Sequence[Event]:
        """The verdicts in force, oldest first; they stay as they are now."""
        if self._in_force is None:
            self._in_force = Trail([*self.verdict.values()])
        return self._in_force.until_now()

    def person(self, event: int) -> str | None:
        """Whose first event it is."""
        return self._person.get(event)

    def is_check(self, row: int) -> bool:
        """Whether a row was drawn at random from those that nobody had seen."""
        return self.out.get(row, False)

    def _meet(self, event: Event) -> None:
        if event.who not in self.known:
            self.known[event.who], self._person[event.seq] = event.seq, event.who

    def _change(self, change: SettingsChanged | Appended | Erased) -> None:
        """What happens to the queue itself."""
        match change:
            case SettingsChanged(changes=changes):
                self.settings = self.settings.changed(changes)
            case Appended(rows=rows):
                self.n_rows += rows
            case Erased(row=row):
                self._erase(row)

    def _remark(self, row: int, remark: tuple[str, str]) -> None:
        remarks = self.remarks.setdefault(row, {})
        remarks.pop(remark, None)
        remarks[remark] = None

    def _take_back(self, undo: Undo) -> None:
        """Where a verdict is gone, whoever was asked for a second one need not give it."""
        if not undo.second:
            self._clear(undo.row)
            self._release(undo.row)

    def _judge(self, row: int, event: Event) -> None:
        self._clear(row)  # so that verdicts stay in the order of the log
        self._see(row)
        self.assigned.pop(row, None)
        self.verdict[row] = event
        if self._in_force is not None:
            self._in_force.append(event)
        if isinstance(event.body, Judged):
            self._given.setdefault(event.who, []).append(event)
        if not isinstance(event.body, Imported):
            self.n_reviewed += 1
            if verdict_of(event) is Verdict.WANTED:
                self.wanted[row] = None

    def _clear(self, row: int) -> None:
        event = self.verdict.pop(row, None)
        if event is None:
            return
        self._in_force = None  # who reads what was there still can
        if not isinstance(event.body, Imported):
            self.n_reviewed -= 1
            self.wanted.pop(row, None)

    def _see(self, row: int, *, at_random: bool = False) -> None:
        if row not in self.out:
            self.out[row] = at_random
            self.seen.append((row, at_random))

    def _release(self, row: int, but: str | None = None) -> None:
        """Whoever has the row on the screen gets another one: there is nothing left for them to decide."""
        for who in [who for who, seq in self.held.items() if self.shown[seq].row == row and who != but]:
            del self.held[who]

    def _assign(self, assigned: Assigned) -> None:
        """From now on the row is somebody's: nobody chose it at random, and it leaves all other screens."""
        self.assigned.pop(assigned.row, None)
        self._see(assigned.row)
        if assigned.to:
            owner = self.assigned[assigned.row] = self._person[assigned.to]
            self._release(assigned.row, but=owner)

    def _erase(self, row: int) -> None:
        """There is nothing left to look at: the row leaves all screens and lists, and what was said of it stays."""
        self.erased.add(row)
        self._see(row)
        self.assigned.pop(row, None)
        self.parked.pop(row, None)
        self.remarks.pop(row, None)
        self._release(row)

    def _show(self, event: Event, shown: Shown) -> None:
        self.shown[event.seq] = event
        if shown.until > event.at:  # rows that are decided from the list are on nobody's screen
            self.held[event.who] = event.seq
        self.parked.pop(shown.row, None)
        self.served += shown.drawn in (Drawn.TOP, Drawn.AUDIT)
        self._see(shown.row, at_random=shown.drawn is Drawn.AUDIT)
        self.reviewers[event.who] = event.at

    def _answer(self, event: Event, shown: int) -> None:
        self.answer[shown] = event
        self.extended.pop(shown, None)
        self.kept.pop(shown, None)
        self.reviewers[event.who] = event.at
        if self.held.get(event.who) == shown:
            del self.held[event.who]


def verdict_of(event: Event) -> Verdict:
    """What a verdict, an import or an override says."""
    assert isinstance(event.body, Judged | Imported | Override)
    return event.body.verdict
