"""Whose a row is: on whose screen, assigned to whom, and who may give a second opinion on it."""

from __future__ import annotations

import datetime as dt

from shortlist.languages.words import Message, joined
from shortlist.review.desk.live import LiveQueue
from shortlist.review.desk.rules.asked import Prepared, Said, checked_text, with_unkept
from shortlist.review.desk.rules.names import check_person
from shortlist.review.errors import BadRequestError, ForbiddenError, LeaseLostError
from shortlist.review.log.events import Assigned, Drawn, Note, Second, Shown


class SharedRules:
    """The rules by which people share the rows of a queue."""

    def __init__(self, live: LiveQueue) -> None:
        self._live = live

    def assign(self, who: str, row: int, to: str | None, now: float, *, leads: bool) -> Prepared:
        """Give an open row to somebody, or to nobody; who does not lead hands over only what is theirs."""
        state = self._live.state
        self._check_row(row)
        if row in state.verdict:
            raise LeaseLostError(Message("%(row)s has a verdict by now.", row=self._live.rows.id(row)))
        if not leads and who not in (state.assigned.get(row), state.holder(row, now)):
            raise ForbiddenError(
                Message(
                    "%(row)s is not yours: it is not on your screen, nor assigned to you. A lead can assign it.",
                    row=self._live.rows.id(row),
                )
            )
        if state.assigned.get(row) == to:
            return Prepared()
        if to is None:
            return Prepared([Assigned(row, 0)])
        check_person(to)
        known = state.known.get(to)
        return Prepared([Assigned(row, known or state.seq + 1)], newcomer=None if known else to)

    def _second(self, row: int, said: Said, shown: int) -> Second:
        """What somebody says who was asked for a second opinion; the verdict in force stays."""
        self._check_reason(said)
        return Second(row, said.verdict, shown, checked_text(said.note), checked_text(said.reason))

    def _needs_none(self, row: int) -> Message | None:
        """Why nobody needs to say more on a row, if so."""
        if row in self._live.state.opinions.waiting:
            return None
        return Message(
            "no second opinion on %(row)s is needed any more: somebody else gave it, a lead has decided, or the first "
            "was taken back. Here is the next row.",
            row=self._live.rows.id(row),
        )

    def _is_second(self, shown: int) -> bool:
        body = self._live.state.shown[shown].body
        return isinstance(body, Shown) and body.drawn is Drawn.SECOND

    def _check_reason(self, said: Said) -> None:
        if self._live.state.settings.needs_reason(said.verdict) and not said.reason.strip():
            raise BadRequestError(Message("this verdict needs one of the team's reasons."))

    def _why_lost(self, who: str, shown: int, row: int, now: float) -> Message | None:
        """Why nothing is to be said any more of a row that was shown, if so."""
        if self._is_second(shown):
            return self._needs_none(row) or self._with_somebody_else(who, row, now)
        return self._taken_from(who, row, now)

    def _lost(self, who: str, row: int, note: str, why: Message) -> Prepared:
        """Refuse what was said of a row that is no longer its reviewer's, but keep what they have noted on it.

        An erased row takes no words: they get theirs back.
        """
        text = checked_text(note)
        if not text or row in self._live.state.erased:
            raise LeaseLostError(with_unkept(why, text))
        kept = Message("Your note was kept with %(row)s.", row=self._live.rows.id(row))
        return Prepared(self._new_remark(who, row, text), refused=LeaseLostError(joined([why, kept])))

    def _taken_from(self, who: str, row: int | None, now: float) -> Message | None:
        """Why a row is no longer this reviewer's, if so."""
        state = self._live.state
        if row is None:
            return None
        if row in state.erased:
            return self._is_gone()
        if row in state.verdict:
            event = state.verdict[row]
            return Message(
                "%(who)s reviewed %(row)s at %(at)s. Here is the next row.",
                who=event.who,
                row=self._live.rows.id(row),
                at=dt.datetime.fromtimestamp(event.at).astimezone().timetz(),
            )
        owner = state.assigned.get(row, who)
        if owner != who:
            return Message(
                "%(row)s is assigned to %(who)s. Here is the next row.",
                row=self._live.rows.id(row),
                who=owner,
            )
        return self._with_somebody_else(who, row, now)

    def _with_somebody_else(self, who: str, row: int, now: float) -> Message | None:
        """On whose screen a row is now, if not on this reviewer's."""
        holder = self._live.state.holder(row, now)
        if holder is None or holder == who:
            return None
        return Message(
            "%(row)s went to %(who)s after a long silence. Here is the next row.",
            row=self._live.rows.id(row),
            who=holder,
        )

    def _new_remark(self, who: str, row: int, text: str) -> list[Note]:
        """What somebody noted on a row, unless it is empty or stands there already: a page may send it twice."""
        is_there = (who, text) in self._live.state.remarks.get(row, ())
        return [Note(row, text)] if text and not is_there else []

    @staticmethod
    def _is_gone() -> Message:
        return Message("the row on your screen was erased. Here is the next row.")

    def _check_row(self, row: int) -> int:
        if not 0 <= row < self._live.state.n_rows:
            raise BadRequestError(
                Message(
                    "there is no row %(row)s; rows are numbered from 0 to %(last)s.",
                    row=row,
                    last=self._live.state.n_rows - 1,
                )
            )
        if row in self._live.state.erased:
            raise BadRequestError(
                Message("%(row)s stands for a row that was erased.", row=self._live.rows.id(row))
            )
        return row
