"""A stream that is worked off window by window, each exactly once, whatever interrupts it.

Every step computes a new state and the files that follow from it. The files are written first, under names
and with contents that the old state determines; the state is replaced last, in one step. A run that is killed
in between does the step again and writes the same files again.

Taking labels writes no rows to label. What a learner that asks in rounds wants to know next is a step of its own,
and comes before further labels are taken: its file, too, follows from the state alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, SchemaError, ShortlistError, TableError
from shortlist.stream.active_ranker import ActiveRanker
from shortlist.stream.run.folder import Round, StreamFolder
from shortlist.stream.run.lines import Refusal
from shortlist.stream.run.returned import ReturnedLabels
from shortlist.stream.run.sources import FileWindows, LineWindows, Window
from shortlist.stream.run.window_rows import row_ids, take_rows
from shortlist.stream.saving import read_state, write_state
from shortlist.stream.window import OpenWindow
from shortlist.tables import Roles, Schema, Table, read_table
from shortlist.tables.columns.words import listed
from shortlist.tables.label import wanted_in_window
from shortlist.tables.table import labelled_part
from shortlist.verdicts import Verdict

_FIRST_WINDOW = (
    "A stream learns from its first window, here of {:,} rows, what its columns are. Where those are too few, begin "
    "with more, or name a table of typical rows: --like FILE"
)
_OTHER_COLUMNS = (
    " For the stream, training is its first window or --like. Give mended rows as a new file; for other columns begin "
    "a new stream with another --state."
)
#: Rows that a message names.
_MOST_NAMES = 5


class StreamRun:
    """Takes windows from a source and labels from files, and keeps its state after every step.

    Parameters
    ----------
    ranker : the ranker of a new stream; where the state file exists, the kept one goes on
    state : file that holds everything between runs
    folder : where rows to label and refused rows go
    roles : the columns that are not features; with a label the run is a simulation: labels are told at once
    like : table of typical rows to learn from what columns are; None: the first window
    wanted : value of the label that means wanted
    skip_empty_labels : in a simulation, leave out rows without a label, where they would be refused
    say : called once with each message for the user
    """

    def __init__(
        self,
        ranker: ActiveRanker,
        source: FileWindows | LineWindows,
        *,
        state: Path,
        folder: StreamFolder,
        roles: Roles,
        like: str | None = None,
        labels: ReturnedLabels | None = None,
        wanted: str | None = None,
        skip_empty_labels: bool = False,
        say: Callable[[str], None] = print,
    ) -> None:
        self.ranker, self.source, self.state, self.folder = ranker, source, state, folder
        self.roles, self.like, self.labels, self.wanted = roles, like, labels, wanted
        self.skip_empty_labels = skip_empty_labels
        self._hear, self._said = say, set[str]()
        self._not_asked = set[str]()  # rows whose label came unasked, and was said to have come
        self.progress: dict[str, Any] = {}
        self.steps = 0
        self.asked: dict[str, int] = {}  # row id -> number in the stream, while its label is awaited
        self.answered: dict[str, Verdict] = {}
        self.reports: list[dict[str, Any]] = []
        self.settled = 0  # labels that the last step took
        if state.exists():
            self._resume()

    @property
    def schema(self) -> Schema | None:
        """What the columns are; all windows must have them. None: the first window is still to come."""
        return getattr(self.ranker, "schema_", None)

    # -- steps

    def step(self) -> str:
        """Do what is next: "round", "labels" or "window"; empty: there is nothing to do now."""
        if self.take_round():
            return "round"
        if self.take_labels():
            return "labels"
        return "window" if self.take_window() else ""

    def take_round(self) -> bool:
        """Ask further about windows whose labels are in; False: no window needs that."""
        if self.schema is None or not self.ranker.is_due_:
            return False
        numbers = self.ranker.ask()
        for window in [*self.ranker.open_.values()]:
            mine = numbers[(numbers >= window.first_row) & (numbers < window.first_row + window.size)]
            if mine.size:
                self._ask_again(window, mine)
        self._note_precisions()
        self._keep()
        return True

    def take_window(self) -> bool:
        """Take the next window, if there is one; False: there is none now."""
        for message in self.source.changed(self.progress):
            self._say(message)
        window = self.source.next(self.progress)
        if window is None:
            return False
        self.steps += 1
        self.progress = window.progress
        refused = [*window.refused, *self._rank(window)]
        for message in self.folder.set_aside(refused, self.steps):
            self._say(message)
        self._keep()
        return True

    def take_labels(self) -> int:
        """Take labels that have come back; gives how many rows they settle."""
        self.settled = 0
        if self.labels is None:
            return 0
        found, messages = self.labels.read()
        for message in [*messages, *self._strange(found)]:
            self._say(message)
        known = {row: label for row, label in found.items() if row in self.asked}
        if known:
            self._tell(known)
            self._keep()
        self.settled = len(known)
        return self.settled

    # -- one window

    def _rank(self, window: Window) -> list[Refusal]:
        """Rank a window; gives what of it was refused."""
        if window.frame.is_empty():
            if not window.refused:  # a quiet day
                self._say(f"{window.name} has no rows: there is nothing to look at.")
            return []
        first_row = getattr(self.ranker, "n_rows_", 0)
        try:
            frame = self._labelled(window.frame)
            frame, refused = take_rows(frame, self.roles, {*self.asked, *self.answered}, window.name)
            if frame.height:
                self._ask(window.name, self._table(frame, first_row))
            return refused
        except ShortlistError as error:
            if self.schema is None:
                raise  # nothing fits before the first window does: the user must mend the call
            advice = _OTHER_COLUMNS if isinstance(error, SchemaError) else ""
            content = "" if window.lasting else window.frame.write_ndjson()
            return [Refusal(window.name, f"{error}{advice}", content)]

    def _labelled(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows to take: all, or those with a label."""
        if not self.skip_empty_labels:
            return frame
        rows, messages = labelled_part(frame, self.roles)
        for message in messages:
            self._say(message)
        return frame[rows]

    def _ask(self, name: str, rows: Table) -> None:
        k, n_rows = self.ranker.k, len(rows)
        if n_rows < k:
            self._say(f"{name} has {counted(n_rows, 'row')}, fewer than the budget of {k}: all are shown.")
        numbers = self.ranker.ask(rows.features)
        places = numbers - (self.ranker.n_rows_ - n_rows)
        report = {"window": self.ranker.n_windows_, "name": name, "rows": n_rows, "labels": int(numbers.size)}
        report |= {"precision": None, "alarm": False, "rounds": 1, "file": ""}
        self.reports.append(report)
        if rows.y is None:
            if not self.ranker.plan_.one_round:
                self.folder.keep_rows(rows.frame, self.ranker.n_windows_)
            self._write_to_label(report, rows.frame[places], rows.ids[places], numbers)
        else:
            report["rounds"], report["labels"] = self._answer(numbers, rows.y)
            report["precision"] = float(rows.y[places[:k]].mean()) if places.size else None
        self._mark_alarms()

    def _ask_again(self, window: OpenWindow, numbers: NDArray[np.int64]) -> None:
        """Write the rows of a window's next round; rows that were asked about in another window are unsure."""
        frame = self.folder.kept_rows(window.number + 1)
        places = numbers - window.first_row
        ids = row_ids(frame, self.roles, window.first_row)[places]
        known = {*self.asked, *self.answered}
        strange = np.array([row in known for row in ids])
        if strange.any():
            named = listed(ids[strange].tolist(), _MOST_NAMES)
            self._say(f"asked about in another window, so left out here: {named}.")
            self.ranker.tell(numbers[strange], [Verdict.UNSURE] * int(strange.sum()))
        numbers, report = numbers[~strange], self.reports[window.number]
        if numbers.size:
            report["rounds"] += 1
            self._write_to_label(report, frame[places[~strange]], ids[~strange], numbers)
            report["labels"] += int(numbers.size)

    def _write_to_label(
        self, report: dict[str, Any], frame: pl.DataFrame, ids: NDArray, numbers: NDArray[np.int64]
    ) -> None:
        first = report["rounds"] == 1
        round_ = Round(report["window"], self.ranker.k, report["rounds"], 0 if first else report["labels"])
        report["file"] = self.folder.write_to_label(frame, ids, round_, self.roles.id)
        self.asked |= dict(zip(ids.tolist(), numbers.tolist(), strict=True))

    def _answer(self, numbers: NDArray[np.int64], truth: NDArray[np.bool_]) -> tuple[int, int]:
        """Tell labels that are known, as often as the learner asks; gives how often, and how many it took."""
        first, rounds, labels = self.ranker.n_rows_ - truth.size, 0, 0
        while numbers.size:
            self.ranker.tell(numbers, truth[numbers - first])
            rounds, labels = rounds + 1, labels + numbers.size
            numbers = self.ranker.ask()
        return rounds, labels

    def _table(self, frame: pl.DataFrame, first_row: int) -> Table:
        """The rows of a window as a ranker takes them, with their labels where the stream is a simulation."""
        schema = self.schema or self._learn_columns(frame)
        encoded = schema.encode(frame)
        for message in [*(() if self.schema else schema.notes), *encoded.notes]:
            self._say(message)
        label = self.roles.label
        return Table(
            ids=row_ids(frame, self.roles, first_row),
            y=None if label is None else wanted_in_window(frame[label], self.wanted),
            frame=frame,
            features=encoded,
        )

    def _learn_columns(self, first: pl.DataFrame) -> Schema:
        """What the columns of the first window are, by typical rows where there are some, else by its own."""
        if self.like is not None:
            typical = read_table(self.like)
            return Schema.learn(
                typical[[name for name in typical.columns if name in first.columns]], self.roles
            )
        try:
            return Schema.learn(first, self.roles)
        except TableError as error:
            raise TableError(f"{error} {_FIRST_WINDOW.format(first.height)}") from None

    # -- labels

    def _tell(self, labels: dict[str, Verdict]) -> None:
        numbers = np.array([self.asked[row] for row in labels])
        self.ranker.tell(numbers, [*labels.values()])
        for row, label in labels.items():
            del self.asked[row]
            self.answered[row] = label
        self._note_precisions()

    def _note_precisions(self) -> None:
        for window, precision in self.ranker.precisions_:
            self.reports[window]["precision"] = precision
        self._mark_alarms()

    def _mark_alarms(self) -> None:
        for window in self.ranker.alarms_:
            report = self.reports[window]
            if not report["alarm"]:
                report["alarm"] = True
                self._say(
                    f"drift: the top {self.ranker.k} of window {window + 1} held far fewer wanted rows than "
                    "before; old labels count less from now on."
                )

    def _strange(self, found: dict[str, Verdict]) -> list[str]:
        known = self.asked.keys() | self.answered.keys() | self._not_asked
        never = [row for row in found if row not in known]
        self._not_asked.update(never)
        other = [row for row in found if row in self.answered and self.answered[row] != found[row]]
        messages = []
        if never:
            messages.append(
                f"labels of rows not asked about are used if they are asked about: {listed(never, _MOST_NAMES)}."
            )
        if other:
            messages.append(
                f"the first label of a row counts; other ones came for {listed(other, _MOST_NAMES)}."
            )
        return messages

    # -- the state

    def _keep(self) -> None:
        """Make the step count: from here on it is never done again."""
        self.folder.write_report(self.reports)
        write_state(
            self.state,
            {
                "ranker": self.ranker.to_state(),
                "roles": self.roles.to_dict(),
                "progress": self.progress,
                "steps": self.steps,
                "asked": self.asked,
                "answered": {row: verdict.value for row, verdict in self.answered.items()},
                "reports": self.reports,
            },
        )
        self._drop_rows()

    def _resume(self) -> None:
        kept = read_state(self.state)
        ranker = ActiveRanker.from_state(kept["ranker"])
        _check_same(self.state, ranker.get_params(), self.ranker.get_params())
        _check_same(self.state, kept["roles"], self.roles.to_dict())
        self.ranker = ranker
        for name in ("progress", "steps", "asked", "reports"):
            setattr(self, name, kept[name])
        # Older states hold True, False and None.
        self.answered = {row: Verdict.of(told) for row, told in kept["answered"].items()}
        self._drop_rows()

    def _drop_rows(self) -> None:
        self.folder.drop_rows({number + 1 for number in getattr(self.ranker, "open_", {})})

    def _say(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._hear(message)


def _check_same(path: Path, kept: dict[str, Any], given: dict[str, Any]) -> None:
    changed = [name for name in given if kept.get(name) != given[name]]
    if changed:
        name = changed[0]
        option = {"k": "budget", "random_state": "seed"}.get(name, name)
        raise InvalidInputError(
            f"the stream in {path} was begun with {option} = {kept.get(name)!r}, and now {option} = {given[name]!r} "
            "is asked for. Use the same options, or begin a new stream with another --state."
        )
