"""What may be written to the log: each rule checks a request against the state and says which events it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from shortlist.languages.words import Message
from shortlist.review.desk.erasing import Eraser
from shortlist.review.desk.rules.asked import MOST_TOGETHER, Prepared, Said, check_named, checked_text
from shortlist.review.desk.rules.names import ERASED
from shortlist.review.desk.rules.shared import SharedRules
from shortlist.review.errors import (
    AnsweredError,
    BadRequestError,
    LeaseLostError,
    NoQueueError,
    NothingToUndoError,
    NotShownError,
)
from shortlist.review.log.chain import sum_of
from shortlist.review.log.events import (
    Appended,
    Body,
    Drawn,
    Erased,
    Event,
    Imported,
    Judged,
    Kept,
    NameErased,
    Note,
    Override,
    Park,
    Second,
    SettingsChanged,
    Shown,
    Undo,
)
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict


class Rules(SharedRules):
    """The rules of one queue; a refused request changes nothing."""

    def keep(self, who: str, now: float) -> Prepared:
        """A living page keeps its row, also after a silence in which nobody else took it.

        The log is told when half of the lease that it knows of has passed, so that a restart finds nobody's row free
        and an open page does not fill the log.
        """
        state = self._live.state
        seq = state.held.get(who)
        row = None if seq is None else state.shown[seq].row
        if seq is None or row is None or self._why_lost(who, seq, row, now) is not None:
            return Prepared()
        lease = state.settings.lease_seconds
        state.extended[seq] = now + lease
        is_told = state.logged_end(seq) - now > lease / 2
        return Prepared() if is_told else Prepared([Kept(row, seq, now + lease)])

    def verdict(self, who: str, shown: int, said: Said, also: Sequence[int], now: float) -> Prepared:
        """A verdict answers a row that was shown to this reviewer; sent again, it is the same answer.

        It may be given for other rows too, such as near copies.
        """
        row, is_second = self._shown_to(who, shown), self._is_second(shown)
        before = self._live.state.answer.get(shown)
        if before is not None:
            judged = self._judged(row, said, shown)
            return self._answered(before, _as_second(judged) if is_second else judged)
        lost = self._why_lost(who, shown, row, now)
        if lost is not None:
            return self._lost(who, row, said.note, lost)
        if is_second:
            more = self._together(who, also, said, [], now).bodies if also else []
            return Prepared([*more, self._second(row, said, shown)])
        judged = self._judged(row, said, shown)
        if not also:
            return Prepared([judged])
        return self._together(who, [other for other in also if other != row], said, [judged], now)

    def decide(self, who: str, rows: Sequence[int], said: Said, now: float) -> Prepared:
        """One verdict for rows that were chosen from the list."""
        if not rows:
            raise BadRequestError(Message("choose at least one row."))
        if self._are_decided(who, rows, said):
            return Prepared()  # sent again
        return self._together(who, rows, said, [], now)

    def take(self, who: str, row: int, now: float) -> Prepared:
        """A row that a reviewer chose from the list comes onto their screen."""
        taken = self._taken_from(who, self._check_row(row), now)
        if taken is not None:
            raise LeaseLostError(taken)
        return Prepared(next=(row, Drawn.CHOSEN))

    def park(self, who: str, shown: int, seconds: float | None, note: str, now: float) -> Prepared:
        """Put a shown row off; what was noted on it stays with it."""
        row = self._shown_to(who, shown)
        if row in self._live.state.erased:
            return self._lost(who, row, note, self._is_gone())
        seconds = self._live.state.settings.park_seconds if seconds is None else seconds
        if not 1 <= seconds <= 366 * 86_400:
            raise BadRequestError(
                Message(
                    "a row can be put off for a second up to a year; got %(seconds)s seconds.",
                    seconds=seconds,
                )
            )
        park, before = Park(row, shown, now + seconds), self._live.state.answer.get(shown)
        if before is None:
            noted = [Note(row, checked_text(note))] if note.strip() else []
            return Prepared([*noted, park])
        if isinstance(before.body, Park):
            # Sent again, or from another tab: the row is put off already, but the note may be a new one.
            return Prepared(self._new_remark(who, row, checked_text(note)))
        return self._answered(before, park, checked_text(note))

    def undo(self, who: str, verdict: int | None) -> Prepared:
        """Take a verdict back, by its number, or the reviewer's last one."""
        state = self._live.state
        event = state.last_verdict(who) if verdict is None else self._in_force(verdict)
        if event is None:
            raise NothingToUndoError(
                Message("you have given no verdict that is still in force.")
                if verdict is None
                else Message("this verdict was taken back or overridden already.")
            )
        if isinstance(event.body, Second):
            return Prepared([Undo(event.body.row, event.seq, second=True)], (event.body.row, Drawn.SECOND))
        if isinstance(event.body, Override):
            raise NothingToUndoError(
                Message("a lead has decided on this row; decide on it again to change that.")
            )
        group = self._given_with(event)
        back = [each for each in group if len(group) == 1 or self._was_on_screen(each)]
        back = [each for each in back if each.row not in state.erased]
        reopen = back[0].row if back and isinstance(back[0].body, Judged) else None
        # Newest first, so that little has to be learned again.
        undone = [Undo(each.row, each.seq) for each in reversed(group) if each.row is not None]
        return Prepared(undone, None if reopen is None else (reopen, Drawn.REOPENED))

    def override(self, who: str, row: int, verdict: Verdict, note: str) -> Prepared:
        """Decide on a row; what somebody has just decided, sent again, is decided."""
        override = Override(self._check_row(row), verdict, checked_text(note))
        before = self._live.state.verdict.get(row)
        is_there = before is not None and (before.who, before.body) == (who, override)
        return Prepared([] if is_there else [override])

    def note(self, who: str, row: int, text: str) -> Prepared:
        """A remark; the newest of a row, sent again, is the same one."""
        note = Note(self._check_row(row), checked_text(text))
        newest = next(reversed(self._live.state.remarks.get(row, {})), None)
        return Prepared([] if newest == (who, note.note) else [note])

    def settings(self, changes: dict[str, Any]) -> Prepared:
        """Change settings; what stays as it was is not written."""
        now = self._live.state.settings
        settings = now.changed(changes)
        check_named(settings.named_columns() - now.named_columns(), self._live.rows.table.columns)
        new = settings.to_dict()
        changed = {name: value for name, value in new.items() if value != now.to_dict()[name]}
        return Prepared([SettingsChanged(changed)] if changed else [])

    def imports(self, verdicts: Iterable[tuple[int, Verdict, str]]) -> Prepared:
        """Verdicts that were known before; a row that has one keeps it."""
        known = self._live.state.verdict
        new = {row: (verdict, note) for row, verdict, note in verdicts if self._check_row(row) not in known}
        return Prepared([Imported(row, verdict, checked_text(note)) for row, (verdict, note) in new.items()])

    def append(self, frame: pl.DataFrame, workspace: Workspace) -> Prepared:
        """Rows that arrive; their file is written before the log says that they are there."""
        rows = self._live.rows
        frame = rows.check_new(frame)
        self._live.engine.check(rows.features(frame))
        file = workspace.write_rows(frame, self._live.state.seq + 1)
        return Prepared([Appended(file, frame.height, sum_of(workspace.folder / file))])

    def erase(self, rows: Sequence[int], eraser: Eraser) -> Prepared:
        """Nothing is known of these rows any more; those that were erased before stay so.

        Their files are written anew before the log says so, and take the places of the old ones after.
        """
        live = self._live
        new = [row for row in dict.fromkeys(rows) if row not in live.state.erased]
        if not new:
            return Prepared()
        files = eraser.write_anew(live.rows, live.engine.schema, new)
        late = live.fixed.first_rows
        return Prepared(
            [
                Erased(row, files, live.engine.leaves(row) if row >= late else (), eraser.lines(row))
                for row in new
            ]
        )

    def erase_name(self, name: str) -> Prepared:
        """A number stands for a person from now on."""
        person = self._live.state.known.get(name)
        if person is None or ERASED.fullmatch(name):
            raise NoQueueError(Message("there is nobody called '%(name)s' in this log.", name=name))
        return Prepared([NameErased(person)])

    def _judged(self, row: int, said: Said, shown: int, together: int = 0) -> Judged:
        state = self._live.state
        self._check_reason(said)
        learn = state.settings.learn_from_audit or not state.is_check(row)
        return Judged(
            row, said.verdict, shown, learn, checked_text(said.note), checked_text(said.reason), together
        )

    def _together(
        self, who: str, rows: Sequence[int], said: Said, first: Sequence[Judged], now: float
    ) -> Prepared:
        """Each row is logged as shown, with the score it has now, and then as judged."""
        rows = [*dict.fromkeys(map(self._check_row, rows))]
        self._check_choice(who, rows, len(first), now)
        engine, start = self._live.ranking, self._live.state.seq + 1
        scores = engine.scores(rows)
        shown = [
            Shown(row, engine.rank_of(row), score, Drawn.CHOSEN, engine.version, until=now)
            for row, score in zip(rows, scores, strict=True)
        ]
        judged = [self._judged(row, said, start + i, start) for i, row in enumerate(rows)]
        return Prepared([*shown, *(replace(each, together=start) for each in first), *judged])

    def _are_decided(self, who: str, rows: Sequence[int], said: Said) -> bool:
        """Whether this person has said just that of all these rows, and it is in force."""
        words = Said(said.verdict, checked_text(said.note), checked_text(said.reason))
        found = (self._live.state.verdict.get(row) for row in rows)
        return all(
            event is not None
            and event.who == who
            and isinstance(event.body, Judged)
            and (event.body.verdict, event.body.note, event.body.reason) == words
            for event in found
        )

    def _check_choice(self, who: str, rows: Sequence[int], more: int, now: float) -> None:
        """Refuse the whole choice if it is too large or a row of it is not free; nothing is half done."""
        if len(rows) > MOST_TOGETHER:
            raise BadRequestError(
                Message("at most %(most)s rows can be decided together.", most=MOST_TOGETHER)
            )
        state = self._live.state
        budget = state.settings.budget
        if budget is not None and state.n_reviewed + len(rows) + more > budget:
            raise BadRequestError(
                Message(
                    "the budget has room for %(room)s more rows; raise it in the settings.",
                    room=max(0, budget - state.n_reviewed),
                )
            )
        taken = [self._live.rows.id(row) for row in rows if self._taken_from(who, row, now) is not None]
        if taken:
            raise LeaseLostError(
                Message(
                    "nothing was recorded: %(rows)s have a verdict by now, or are on another screen.",
                    rows=", ".join(taken[:10]),
                )
            )

    def _given_with(self, event: Event) -> list[Event]:
        """Verdicts in force that were given together with one."""
        together = getattr(event.body, "together", 0)
        in_force = self._live.state.verdict.values()
        return [e for e in in_force if together and getattr(e.body, "together", 0) == together] or [event]

    def _was_on_screen(self, event: Event) -> bool:
        """Whether a verdict answers a row that was held; rows decided from the list are not."""
        shown = self._live.state.shown.get(event.answers or 0)
        return shown is not None and isinstance(shown.body, Shown) and shown.body.until > shown.at

    def _shown_to(self, who: str, shown: int) -> int:
        event = self._live.state.shown.get(shown)
        if event is None or event.who != who or event.row is None:
            raise NotShownError(
                Message(
                    "no row was shown to %(who)s under the number %(shown)s; ask for one first.",
                    who=who,
                    shown=str(shown),
                )
            )
        return event.row

    def _answered(self, before: Event, now: Judged | Second | Park, note: str = "") -> Prepared:
        """The same answer once more changes nothing; another one is refused, for it would be lost.

        ``note`` is what was noted on a row that is put off, which is told again as that of a verdict is.
        """
        said = before.body
        if isinstance(said, Judged) and isinstance(now, Judged):
            now = replace(now, learn=said.learn, together=said.together)
        if said == now:
            return Prepared()
        raise AnsweredError(
            Message(
                "you said “%(first)s” of %(row)s already; “%(second)s” was not recorded. Take the first one back to "
                "change it. Here is the next row.",
                row=self._live.rows.id(now.row),
                first=self._word(said),
                second=self._word(now, note),
            )
        )

    def _word(self, said: Body, note: str = "") -> str:
        """An answer as the team says it."""
        word: str = Message("later")
        if isinstance(said, Judged | Second):
            word = self._live.state.settings.word(said.verdict) or Message(said.verdict.value)
            note = said.note
        more = [text for text in (getattr(said, "reason", ""), note) if text]
        return Message("%(word)s (%(more)s)", word=word, more=", ".join(more)) if more else word

    def _in_force(self, seq: int) -> Event | None:
        state = self._live.state
        opinions = (
            given.second for given in state.opinions.given.values() if state.is_in_force(given.second)
        )
        return next((event for event in (*state.verdict.values(), *opinions) if event.seq == seq), None)


def _as_second(judged: Judged) -> Second:
    return Second(judged.row, judged.verdict, judged.answers, judged.note, judged.reason)
