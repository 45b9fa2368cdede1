"""Which row a reviewer gets next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shortlist.review.desk.audit import AuditOrder, is_due
from shortlist.review.desk.engine import Engine
from shortlist.review.desk.worth import ByExpectedValue
from shortlist.review.log.events import Drawn, Shown
from shortlist.review.log.state import State

Reason = Literal["budget", "waiting", "finished"]
#: How many of the top rows are looked at after every verdict, to tell how it moved them.
WINDOW = 50


@dataclass(frozen=True)
class Deal:
    """Rows shown to reviewers, or why they get none; and the top rows that nobody has."""

    given: dict[str, Shown | Reason]
    top: list[int]
    top_scores: list[float]


class Dealer:
    """Gives each reviewer the best row that is not reviewed, put off or on somebody else's screen.

    About every 1/audit-th row is the next of a random order instead. Reviewers in one deal are served in turn,
    from one ranking.
    """

    def __init__(self, state: State, engine: Engine | ByExpectedValue, order: AuditOrder, now: float) -> None:
        self._state, self._engine, self._order, self._now = state, engine, order, now
        self._leased = set(state.leased(now))
        self._off = {*state.put_off(now)}
        self._assigned = {*state.assigned}
        # A difference of sets would go through all verdicts.
        self._erased = {row for row in state.erased if row not in state.verdict}
        self._served = state.served
        self._reviewed = state.n_reviewed

    def deal(self, reviewers: list[str], asked: Mapping[str, tuple[int, Drawn]]) -> Deal:
        """A row for each reviewer; those who took a verdict back, or chose a row from the list, get that row."""
        # A row that is being replaced on a reviewer's screen goes back to the others.
        for who in reviewers:
            self._leased.discard(self._row_held_by(who))
        self._leased.update(row for row, _ in asked.values())
        gone = len(self._leased) + len(self._off) + len(self._assigned) + len(self._erased)
        ranking = self._engine.top(WINDOW + len(reviewers) + gone)
        drawn = {who: asked.get(who) or self._draw(who, ranking) for who in reviewers}
        free = [row for row in ranking if self._is_free(row)][:WINDOW]
        rows = [each[0] for each in drawn.values() if isinstance(each, tuple)]
        scores = self._engine.scores([*rows, *free])
        score = dict(zip(rows, scores, strict=False))
        shown = {who: self._shown(each, ranking, score) for who, each in drawn.items()}
        return Deal(shown, free, scores[len(rows) :])

    def _row_held_by(self, who: str) -> int:
        lease = self._state.lease_of(who, self._now)
        return -1 if lease is None or lease.row is None else lease.row

    def _draw(self, who: str, ranking: list[int]) -> tuple[int, Drawn] | Reason:
        """A second opinion takes nothing off the budget, which counts rows; then come rows that are this reviewer's."""
        given = self._second_for(who)
        if given is None and (ended := self._ended()):
            return ended
        given = given or self._assigned_to(who) or self._served_in_turn(ranking)
        if given is None:
            return "waiting" if self._leased or self._off or self._assigned else "finished"
        self._leased.add(given[0])
        return given

    def _ended(self) -> Reason | None:
        """Whether the budget is spent, or will be by what is on screens."""
        budget, verdict = self._state.settings.budget, self._state.verdict
        if budget is None or self._reviewed + sum(row not in verdict for row in self._leased) < budget:
            return None
        return "budget" if self._reviewed >= budget else "waiting"

    def _second_for(self, who: str) -> tuple[int, Drawn] | None:
        """The oldest verdict of somebody else that this reviewer should give too."""
        waiting, later = self._state.opinions.waiting, self._state.parked
        rows = (row for row, first in waiting.items() if first.who != who and row not in self._leased)
        row = next((row for row in rows if later.get(row, 0.0) <= self._now), None)
        return None if row is None else (row, Drawn.SECOND)

    def _assigned_to(self, who: str) -> tuple[int, Drawn] | None:
        rows = (row for row, owner in self._state.assigned.items() if owner == who)
        row = next((row for row in rows if row not in self._leased | self._off), None)
        return None if row is None else (row, Drawn.ASSIGNED)

    def _served_in_turn(self, ranking: list[int]) -> tuple[int, Drawn] | None:
        """The next of the random order where a check is due, else the best row that nobody has."""
        due = is_due(self._served, self._state.settings.audit)
        row, drawn = (self._order.next(self._is_unseen) if due else None), Drawn.AUDIT
        if row is None:
            row, drawn = next((row for row in ranking if self._is_free(row)), None), Drawn.TOP
        if row is None:
            return None
        self._served += 1
        return row, drawn

    def _is_free(self, row: int) -> bool:
        # Asked of every row near the top after every verdict: a loop over the sets would take three times as long.
        return not (row in self._leased or row in self._off or row in self._assigned or row in self._erased)

    def _is_unseen(self, row: int) -> bool:
        """Only among rows that nobody has had is every one as likely to be drawn as the next."""
        return row not in self._state.out and row not in self._leased

    def _shown(
        self, drawn: tuple[int, Drawn] | Reason, ranking: list[int], score: dict[int, float]
    ) -> Shown | Reason:
        if isinstance(drawn, str):
            return drawn
        row, why = drawn
        near = why is Drawn.TOP
        rank = ranking.index(row) + 1 if near else self._engine.rank_of(row)
        until = self._now + self._state.settings.lease_seconds
        return Shown(row, rank, score[row], why, self._engine.version, until)
