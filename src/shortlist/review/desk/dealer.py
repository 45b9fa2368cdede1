"""Which row a reviewer gets next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shortlist.review.desk.audit import AuditOrder, is_due, passed_by_ranking
from shortlist.review.desk.engine import Engine
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

    def __init__(self, state: State, engine: Engine, order: AuditOrder, now: float) -> None:
        self._state, self._engine, self._order, self._now = state, engine, order, now
        self._leased = set(state.leased(now))
        self._off = state.put_off(now)
        self._served = state.served
        self._reviewed = state.n_reviewed

    def deal(self, reviewers: list[str], reopened: dict[str, int]) -> Deal:
        """A row for each reviewer; those who took a verdict back get that row again."""
        # A row that is being replaced on a reviewer's screen goes back to the others.
        for who in reviewers:
            self._leased.discard(self._row_held_by(who))
        self._leased.update(reopened.values())
        ranking = self._engine.top(WINDOW + len(reviewers) + len(self._leased) + len(self._off))
        drawn = {who: self._draw(ranking, reopened.get(who)) for who in reviewers}
        free = [row for row in ranking if row not in self._leased | self._off][:WINDOW]
        rows = [each[0] for each in drawn.values() if isinstance(each, tuple)]
        scores = self._engine.scores([*rows, *free])
        score = dict(zip(rows, scores, strict=False))
        shown = {who: self._shown(each, ranking, score) for who, each in drawn.items()}
        return Deal(self._with_passed(shown), free, scores[len(rows) :])

    def _row_held_by(self, who: str) -> int:
        lease = self._state.lease_of(who, self._now)
        return -1 if lease is None or lease.row is None else lease.row

    def _draw(self, ranking: list[int], reopened: int | None) -> tuple[int, Drawn] | Reason:
        if reopened is not None:
            return reopened, Drawn.REOPENED
        budget = self._state.settings.budget
        if budget is not None and self._reviewed + len(self._leased) >= budget:
            return "budget" if self._reviewed >= budget else "waiting"
        row, drawn = None, Drawn.TOP
        if is_due(self._served, self._state.settings.audit):
            row, drawn = self._order.next(self._is_free), Drawn.AUDIT
        else:
            row = next((row for row in ranking if row not in self._leased and row not in self._off), None)
        if row is None:
            return "waiting" if self._leased or self._off else "finished"
        self._leased.add(row)
        self._served += 1
        return row, drawn

    def _is_free(self, row: int) -> bool:
        return row not in self._state.verdict and row not in self._leased and row not in self._off

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

    def _with_passed(self, given: dict[str, Shown | Reason]) -> dict[str, Shown | Reason]:
        """Note on the lowest row of the ranking which random checks the ranking has reached by now."""
        top = {w: s for w, s in given.items() if isinstance(s, Shown) and s.drawn is Drawn.TOP}
        checks = sorted(self._state.checks - self._state.passed)
        if not top or not checks:
            return given
        who, lowest = min(top.items(), key=lambda pair: pair[1].score)
        passed = passed_by_ranking(checks, self._engine.scores(checks), lowest.score)
        noted = Shown(**{**vars(lowest), "passed": passed})
        return {**given, who: noted}
