"""A stream that is worked off window by window, each exactly once, whatever interrupts it.

Every step computes a new state and the files that follow from it. The files are written first, under names
and with contents that the old state determines; then what is new is added to the file of steps; the state, which says
how much of that counts, is replaced last, in one go. A run that is killed in between does the step again and writes
the same files again.

Taking labels writes no rows to label. What a learner that asks in rounds wants to know next is a step of its own,
and comes before further labels are taken: its file, too, follows from the state alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, SchemaError, ShortlistError, TableError
from shortlist.stream.active_ranker import ActiveRanker
from shortlist.stream.run.folder import Round, StreamFolder
from shortlist.stream.run.ledger import Ledger, StepLog, WindowReport
from shortlist.stream.run.lines import Refusal
from shortlist.stream.run.returned import Returned, ReturnedLabels
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
#: The table of windows is written anew after so many steps for each one that it holds: all of it is written each time.
_STEPS_PER_WINDOW = 1 / 20


class StreamRun:
    """Takes windows from a source and labels from files, and keeps its state after every step.

    Parameters
    ----------
    ranker : the ranker of a new stream; where the state file exists, the kept one goes on
    state : file that holds, with the file of steps beside it, everything between runs
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
        self._early: dict[str, Returned] = {}  # labels of rows that were not asked about so far
        self._due: dict[str, Returned] = {}  # those whose row has been asked about since
        self.ledger, self._log = Ledger(), StepLog(Path(f"{state}.log"))
        self.steps = self._untold = 0  # untold: steps since the table of windows was written
        self.settled = 0  # labels that the last step took
        if state.exists():
            self._resume()

    @property
    def schema(self) -> Schema | None:
        """What the columns are; all windows must have them. None: the first window is still to come."""
        return getattr(self.ranker, "schema_", None)

    @property
    def windows(self) -> dict[int, WindowReport]:
        """What came of each window so far, by its number."""
        return self.ledger.windows

    # -- steps

    def step(self) -> str:
        """Do what is next: "round", "labels" or "window"; empty: there is nothing to do now."""
        if self.take_round():
            return "round"
        if self.take_labels():
            return "labels"
        if self.take_window():
            return "window"
        self._write_report()
        return ""

    def take_round(self) -> bool:
        """Ask further about windows whose labels are in; False: no window needs that."""
        if self.schema is None or not self.ranker.is_due_:
            return False
        numbers = self.ranker.ask()
        for window in [*self.ranker.open_.values()]:
            mine = numbers[(numbers >= window.first_row) & (numbers < window.first_row + window.size)]
            if mine.size:
                self._ask_again(window, mine)
        self._measure()
        self._keep()
        return True

    def take_window(self) -> bool:
        """Take the next window, if there is one; False: there is none now."""
        window = self.source.next(self.ledger.progress)
        if window is None:
            for message in self.source.changed(self.ledger.progress):
                self._say(message)
            return False
        self.steps += 1
        self.ledger.move(window.progress)
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
        due = self._due | {row: label for row, label in found.items() if row in self.ledger.asked}
        known = self.ledger.known
        self._early |= {row: label for row, label in found.items() if row not in known}
        self._due = {}
        if due:
            self._tell({row: due[row].verdict for row in sorted(due, key=lambda row: due[row].place)})
            self._keep()
        self.settled = len(due)
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
            frame, refused = take_rows(frame, self.roles, self.ledger.known, window.name)
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
        report = WindowReport(self.ranker.n_windows_, name, n_rows, int(numbers.size))
        if rows.y is None:
            if not self.ranker.plan_.one_round:
                self.folder.keep_rows(rows.frame, report.window)
            report = self._write_to_label(report, rows.frame[places], rows.ids[places], numbers)
        else:
            rounds, labels = self._answer(numbers, rows.y)
            precision = float(rows.y[places[:k]].mean()) if places.size else None
            report = replace(report, rounds=rounds, labels=labels, precision=precision)
        self.ledger.report(report)
        self._measure()

    def _ask_again(self, window: OpenWindow, numbers: NDArray[np.int64]) -> None:
        """Write the rows of a window's next round; rows that were asked about in another window are unsure."""
        frame = self.folder.kept_rows(window.number)
        places = numbers - window.first_row
        ids = row_ids(frame, self.roles, window.first_row)[places]
        known = self.ledger.known
        strange = np.array([row in known for row in ids])
        if strange.any():
            named = listed(ids[strange].tolist(), _MOST_NAMES)
            self._say(f"asked about in another window, so left out here: {named}.")
            self.ranker.tell(numbers[strange], [Verdict.UNSURE] * int(strange.sum()))
        numbers = numbers[~strange]
        if numbers.size:
            before = self.ledger.windows[window.number]
            report = replace(before, rounds=before.rounds + 1)
            report = self._write_to_label(report, frame[places[~strange]], ids[~strange], numbers)
            self.ledger.report(replace(report, labels=before.labels + int(numbers.size)))

    def _write_to_label(
        self, report: WindowReport, frame: pl.DataFrame, ids: NDArray, numbers: NDArray[np.int64]
    ) -> WindowReport:
        asked_before = 0 if report.rounds == 1 else report.labels
        round_ = Round(report.window, self.ranker.k, report.rounds, asked_before)
        self.ledger.ask(dict(zip(ids.tolist(), numbers.tolist(), strict=True)))
        self._due |= {row: self._early.pop(row) for row in ids.tolist() if row in self._early}
        return replace(report, file=self.folder.write_to_label(frame, ids, round_, self.roles.id))

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
        numbers = np.array([self.ledger.asked[row] for row in labels])
        self.ranker.tell(numbers, [*labels.values()])
        self.ledger.answer(labels)
        self._measure()

    def _measure(self) -> None:
        for window in self.ledger.measure(self.ranker.precisions_, self.ranker.alarms_):
            self._say(
                f"drift: the top {self.ranker.k} of window {window} held far fewer wanted rows than before; old labels "
                "count less from now on."
            )

    def _strange(self, found: dict[str, Returned]) -> list[str]:
        known, answered = self.ledger.known, self.ledger.answered
        never = [row for row in found if row not in known and row not in self._early]
        other = [row for row in found if row in answered and answered[row] != found[row].verdict]
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
        self._untold += 1
        if self._untold >= _STEPS_PER_WINDOW * len(self.windows):
            self._write_report()
        self._log.append(self.ledger.changes())
        write_state(
            self.state,
            {
                "ranker": self.ledger.take_over(self.ranker.to_state()),
                "roles": self.roles.to_dict(),
                "steps": self.steps,
                "log": self._log.mark,
            },
        )
        self._drop_rows()

    def _resume(self) -> None:
        kept = read_state(self.state)
        for changes in self._log.read(kept["log"]) if "log" in kept else ():
            self.ledger.replay(changes)
        ranker = ActiveRanker.from_state(
            self.ledger.give_back(kept["ranker"]) if "log" in kept else kept["ranker"]
        )
        _check_same(self.state, ranker.get_params(), self.ranker.get_params())
        _check_same(self.state, kept["roles"], self.roles.to_dict())
        if "log" not in kept:
            self.ledger.adopt(kept, ranker.precisions_, ranker.alarms_)
        self.ranker, self.steps, self._untold = ranker, kept["steps"], 1
        self._drop_rows()

    def _write_report(self) -> None:
        """Write what came of each window, unless that is what the table says."""
        if self._untold:
            self.folder.write_report([*self.windows.values()])
            self._untold = 0

    def _drop_rows(self) -> None:
        self.folder.drop_rows({*getattr(self.ranker, "open_", ())})

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
