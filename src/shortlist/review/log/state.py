"""The state of a queue as a function of its log: who holds what, what was said, what is put off."""

from __future__ import annotations

from dataclasses import dataclass, field

from shortlist.review.log.events import (
    Appended,
    Drawn,
    Event,
    Imported,
    Judged,
    Override,
    Park,
    SettingsChanged,
    Shown,
    Undo,
)
from shortlist.review.log.settings import Settings
from shortlist.verdicts import Verdict, decided


@dataclass
class State:
    """Events folded up, in the order of the log; ``apply`` takes the next one."""

    settings: Settings
    n_rows: int
    seq: int = 0
    #: Everything that was shown, by sequence number.
    shown: dict[int, Event] = field(default_factory=dict)
    #: The event that answered a shown row.
    answer: dict[int, Event] = field(default_factory=dict)
    #: The row each reviewer has on the screen: the last one shown to them, while it has no answer.
    held: dict[str, int] = field(default_factory=dict)
    #: The verdict in force on a row.
    verdict: dict[int, Event] = field(default_factory=dict)
    parked: dict[int, float] = field(default_factory=dict)
    #: Ends of leases that a living page has moved; not in the log.
    extended: dict[int, float] = field(default_factory=dict)
    served: int = 0  # rows served in turn: by the ranking or as a random check
    checks: set[int] = field(default_factory=set)  # rows drawn at random,
    passed: set[int] = field(default_factory=set)  # and those of them the ranking has reached since
    reviewers: dict[str, float] = field(default_factory=dict)  # when each was last heard of
    #: Counts of the verdicts of this review in force, kept so that a verdict costs the same late as early.
    n_reviewed: int = 0
    wanted: dict[int, None] = field(default_factory=dict)  # rows that are wanted
    _given: dict[str, list[Event]] = field(default_factory=dict)  # by each reviewer, in order

    def apply(self, event: Event) -> None:
        """Take the next event of the log."""
        self.seq = event.seq
        match event.body:
            case Shown() as shown:
                self._show(event, shown)
            case Judged() as judged:
                self._answer(event, judged.answers)
                self._judge(judged.row, event)
            case Park() as park:
                self._answer(event, park.answers)
                self.parked[park.row] = park.until
            case Undo() as undo:
                self._clear(undo.row)
            case Imported(row=row) | Override(row=row):
                self._judge(row, event)
            case SettingsChanged() as changed:
                self.settings = self.settings.changed(changed.changes)
            case Appended() as appended:
                self.n_rows += appended.rows

    def lease_of(self, who: str, now: float) -> Event | None:
        """The row a reviewer holds, if nobody else may have it yet."""
        seq = self.held.get(who)
        return self.shown[seq] if seq is not None and self.lease_end(seq) > now else None

    def lease_end(self, shown: int) -> float:
        """When the row of a ``shown`` may be given to somebody else."""
        body = self.shown[shown].body
        assert isinstance(body, Shown)
        return max(body.until, self.extended.get(shown, 0.0))

    def leased(self, now: float) -> dict[int, str]:
        """Rows on somebody's screen, and whose."""
        held = ((self.shown[seq], who) for who, seq in self.held.items() if self.lease_end(seq) > now)
        return {event.row: who for event, who in held if event.row is not None}

    def put_off(self, now: float) -> set[int]:
        """Rows whose time has not come."""
        return {row for row, until in self.parked.items() if until > now and row not in self.verdict}

    def last_verdict(self, who: str) -> Event | None:
        """The newest verdict of a reviewer that is in force and may be taken back."""
        given = self._given.get(who, [])
        while given and self.verdict.get(given[-1].body.row) is not given[-1]:  # type: ignore[union-attr]
            given.pop()
        return given[-1] if given else None

    def random_checks(self) -> dict[int, bool]:
        """Rows drawn at random that have a verdict: row -> wanted."""
        told = ((row, self.verdict[row]) for row in sorted(self.checks & self.verdict.keys()))
        said = {row: verdict_of(event) for row, event in told if not isinstance(event.body, Imported)}
        return decided(said)

    def is_check(self, row: int) -> bool:
        """Whether a row stands for the rows that the ranking has not reached."""
        return row in self.checks and row not in self.passed

    def _judge(self, row: int, event: Event) -> None:
        self._clear(row)  # so that verdicts stay in the order of the log
        self.verdict[row] = event
        if isinstance(event.body, Judged):
            self._given.setdefault(event.who, []).append(event)
        if not isinstance(event.body, Imported):
            self.n_reviewed += 1
            if verdict_of(event) is Verdict.WANTED:
                self.wanted[row] = None

    def _clear(self, row: int) -> None:
        event = self.verdict.pop(row, None)
        if event is not None and not isinstance(event.body, Imported):
            self.n_reviewed -= 1
            self.wanted.pop(row, None)

    def _show(self, event: Event, shown: Shown) -> None:
        self.shown[event.seq] = event
        self.held[event.who] = event.seq
        self.parked.pop(shown.row, None)
        self.passed.update(shown.passed)
        self.served += shown.drawn in (Drawn.TOP, Drawn.AUDIT)
        if shown.drawn is Drawn.AUDIT:
            self.checks.add(shown.row)
        self.reviewers[event.who] = event.at

    def _answer(self, event: Event, shown: int) -> None:
        self.answer[shown] = event
        self.extended.pop(shown, None)
        self.reviewers[event.who] = event.at
        if self.held.get(event.who) == shown:
            del self.held[event.who]


def verdict_of(event: Event) -> Verdict:
    """What a verdict, an import or an override says."""
    assert isinstance(event.body, Judged | Imported | Override)
    return event.body.verdict
