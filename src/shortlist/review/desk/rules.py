"""What may be written to the log: each rule checks a request against the state and says which events it makes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shortlist.review.desk.live import LiveQueue
from shortlist.review.errors import BadRequestError, LeaseLostError, NothingToUndoError, NotShownError
from shortlist.review.log.events import (
    Appended,
    Body,
    Event,
    Imported,
    Judged,
    Note,
    Override,
    Park,
    SettingsChanged,
    Undo,
)
from shortlist.review.workspace import Workspace
from shortlist.verdicts import Verdict

MOST_TEXT = 2000


@dataclass(frozen=True)
class Prepared:
    """Events to write, and a row that its reviewer gets back."""

    bodies: Sequence[Body] = ()
    reopen: int | None = None


class Rules:
    """The rules of one queue; a refused request changes nothing."""

    def __init__(self, live: LiveQueue) -> None:
        self._live = live

    def keep(self, who: str, now: float) -> Prepared:
        """A living page keeps its row, also after a silence in which nobody else took it."""
        state = self._live.state
        seq = state.held.get(who)
        if seq is not None and self._taken_from(who, state.shown[seq].row, now) is None:
            state.extended[seq] = now + state.settings.lease_seconds
        return Prepared()

    def verdict(self, who: str, shown: int, verdict: Verdict, note: str, reason: str, now: float) -> Prepared:
        """A verdict answers a row that was shown to this reviewer; sent again, it is the same answer."""
        state = self._live.state
        row = self._shown_to(who, shown)
        if shown in state.answer:
            return Prepared()
        taken = self._taken_from(who, row, now)
        if taken is not None:
            raise LeaseLostError(taken)
        learn = state.settings.learn_from_audit or not state.is_check(row)
        return Prepared([Judged(row, verdict, shown, learn, _text(note), _text(reason))])

    def park(self, who: str, shown: int, seconds: float | None, now: float) -> Prepared:
        """Put a shown row off."""
        row = self._shown_to(who, shown)
        if shown in self._live.state.answer:
            return Prepared()
        seconds = self._live.state.settings.park_seconds if seconds is None else seconds
        if not 1 <= seconds <= 366 * 86_400:
            raise BadRequestError(f"a row can be put off for a second up to a year; got {seconds} seconds.")
        return Prepared([Park(row, shown, now + seconds)])

    def undo(self, who: str, verdict: int | None) -> Prepared:
        """Take a verdict back, by its number, or the reviewer's last one."""
        state = self._live.state
        event = state.last_verdict(who) if verdict is None else self._in_force(verdict)
        if event is None:
            raise NothingToUndoError(
                "you have given no verdict that is still in force."
                if verdict is None
                else "this verdict was taken back or overridden already."
            )
        if isinstance(event.body, Override):
            raise NothingToUndoError("a lead has decided on this row; decide on it again to change that.")
        assert event.row is not None
        reopen = event.row if isinstance(event.body, Judged) else None
        return Prepared([Undo(event.row, event.seq)], reopen)

    def override(self, row: int, verdict: Verdict, note: str) -> Prepared:
        """Decide on a row."""
        return Prepared([Override(self._check_row(row), verdict, _text(note))])

    def note(self, row: int, text: str) -> Prepared:
        """A remark."""
        return Prepared([Note(self._check_row(row), _text(text))])

    def settings(self, changes: dict[str, Any]) -> Prepared:
        """Change settings; what stays as it was is not written."""
        now = self._live.state.settings
        new = now.changed(changes).to_dict()
        changed = {name: value for name, value in new.items() if value != now.to_dict()[name]}
        return Prepared([SettingsChanged(changed)] if changed else [])

    def imports(self, verdicts: Iterable[tuple[int, Verdict, str]]) -> Prepared:
        """Verdicts that were known before; a row that has one keeps it."""
        known = self._live.state.verdict
        new = {row: (verdict, note) for row, verdict, note in verdicts if self._check_row(row) not in known}
        return Prepared([Imported(row, verdict, _text(note)) for row, (verdict, note) in new.items()])

    def append(self, frame: pl.DataFrame, workspace: Workspace) -> Prepared:
        """Rows that arrive; their file is written before the log says that they are there."""
        rows = self._live.rows
        frame = rows.check_new(frame)
        self._live.engine.check(rows.features(frame))
        file = workspace.write_rows(frame, self._live.state.seq + 1)
        return Prepared([Appended(file, frame.height)])

    def _shown_to(self, who: str, shown: int) -> int:
        event = self._live.state.shown.get(shown)
        if event is None or event.who != who or event.row is None:
            raise NotShownError(f"no row was shown to {who} under the number {shown}; ask for one first.")
        return event.row

    def _taken_from(self, who: str, row: int | None, now: float) -> str | None:
        """Why a row is no longer this reviewer's, if so."""
        state = self._live.state
        if row is None:
            return None
        if row in state.verdict:
            event = state.verdict[row]
            at = dt.datetime.fromtimestamp(event.at).strftime("%H:%M")
            return f"{event.who} reviewed {self._live.rows.id(row)} at {at}. Here is the next row."
        holder = state.leased(now).get(row, who)
        if holder != who:
            return f"{self._live.rows.id(row)} went to {holder} after a long silence. Here is the next row."
        return None

    def _in_force(self, seq: int) -> Event | None:
        return next((event for event in self._live.state.verdict.values() if event.seq == seq), None)

    def _check_row(self, row: int) -> int:
        if not 0 <= row < self._live.state.n_rows:
            raise BadRequestError(
                f"there is no row {row}; rows are numbered from 0 to {self._live.state.n_rows - 1}."
            )
        return row


def _text(text: str) -> str:
    """A text that fits the log."""
    if len(text) > MOST_TEXT:
        raise BadRequestError(f"a note has at most {MOST_TEXT} characters; this one has {len(text)}.")
    return text.strip()
