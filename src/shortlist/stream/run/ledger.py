"""What a stream knows beside its ranker: windows, rows asked about, answers, and what was taken from the source.

All of it grows as long as the stream goes on, so that no step may write it whole: a step's changes are one line of a
file that is only ever appended to.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from shortlist.exceptions import TableError
from shortlist.stream.saving import StateFileError
from shortlist.verdicts import Verdict


@dataclass(frozen=True)
class WindowReport:
    """What came of a window; windows are numbered from 1."""

    window: int
    name: str
    rows: int
    labels: int
    precision: float | None = None
    alarm: bool = False
    rounds: int = 1
    file: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return asdict(self)


class Ledger:
    """What is known, and which of it is new since the last step that was kept.

    >>> ledger = Ledger()
    >>> ledger.report(WindowReport(1, "monday.csv", rows=500, labels=1))
    >>> ledger.ask({"claim 7": 31})
    >>> again = Ledger()
    >>> again.replay(ledger.changes())
    >>> again.asked, again.windows[1].rows, ledger.changes()
    ({'claim 7': 31}, 500, {})
    """

    def __init__(self) -> None:
        self.windows: dict[int, WindowReport] = {}
        self.asked: dict[str, int] = {}  # row id -> number in the stream, while its label is awaited
        self.answered: dict[str, Verdict] = {}
        self.progress: dict[str, Any] = {}  # what was taken from the source
        self.precisions: list[tuple[int, float]] = []
        self.alarms: list[int] = []
        self._new: dict[str, Any] = {}

    @property
    def known(self) -> Mapping[str, Any]:
        """The rows that were asked about, answered or not."""
        return ChainMap(self.asked, self.answered)

    def report(self, report: WindowReport) -> None:
        """What came of a window so far."""
        self.windows[report.window] = report
        self._note("windows")[str(report.window)] = report.to_dict()

    def ask(self, rows: Mapping[str, int]) -> None:
        """Labels of these rows are awaited."""
        self.asked |= rows
        self._note("asked").update(rows)

    def answer(self, labels: Mapping[str, Verdict]) -> None:
        """These labels have come."""
        for row, verdict in labels.items():
            del self.asked[row]
            self.answered[row] = verdict
            self._note("answered")[row] = verdict.value

    def move(self, progress: Mapping[str, Any]) -> None:
        """So far the source was taken."""
        moved = {
            name: value
            for name, value in progress.items()
            if name not in self.progress or self.progress[name] != value
        }
        self.progress |= moved
        if moved:
            self._note("progress").update(moved)

    def measure(self, precisions: list[tuple[int, float]], alarms: list[int]) -> list[int]:
        """Take what a ranker has measured so far; gives the windows at which it has raised an alarm since."""
        rung = alarms[len(self.alarms) :]
        for window, precision in precisions[len(self.precisions) :]:
            self.precisions.append((window, precision))
            self._note("precisions", []).append([window, precision])
            if self.windows[window].precision is None:
                self.report(replace(self.windows[window], precision=precision))
        for window in rung:
            self.alarms.append(window)
            self._note("alarms", []).append(window)
            self.report(replace(self.windows[window], alarm=True))
        return rung

    def changes(self) -> dict[str, Any]:
        """What is new since this was asked last."""
        new, self._new = self._new, {}
        return new

    def replay(self, changes: Mapping[str, Any]) -> None:
        """Take in what was new in a step."""
        self.asked |= changes.get("asked", {})
        for row, verdict in changes.get("answered", {}).items():
            self.asked.pop(row, None)
            self.answered[row] = Verdict(verdict)
        for window in changes.get("windows", {}).values():
            self.windows[window["window"]] = WindowReport(**window)
        self.progress |= changes.get("progress", {})
        self.precisions += [(window, precision) for window, precision in changes.get("precisions", [])]
        self.alarms += changes.get("alarms", [])

    def adopt(self, older: Mapping[str, Any], precisions: list[tuple[int, float]], alarms: list[int]) -> None:
        """Take in a state of before there was a file of steps, and its ranker's figures; all is new to that file."""
        # The oldest hold True, False and None for verdicts.
        answered = {row: Verdict.of(told).value for row, told in older["answered"].items()}
        progress = {name: value for name, value in older["progress"].items() if name != "files"}
        self._new = {
            "windows": {str(report["window"]): report for report in older["reports"]},
            "asked": older["asked"],
            "answered": answered,
            "progress": progress | older["progress"].get("files", {}),
            "precisions": [*precisions],
            "alarms": [*alarms],
        }
        self.replay(self._new)

    def take_over(self, ranker: dict[str, Any]) -> dict[str, Any]:
        """A ranker's state without what is known here."""
        if not ranker["started"]:
            return ranker
        return ranker | {"precisions": [], "plain": ranker["plain"] | {"alarms_": []}}

    def give_back(self, ranker: dict[str, Any]) -> dict[str, Any]:
        """The whole state of a ranker again."""
        if not ranker["started"]:
            return ranker
        known = {"precisions": self.precisions, "plain": ranker["plain"] | {"alarms_": self.alarms}}
        return ranker | known

    def _note(self, what: str, empty: Any = None) -> Any:
        return self._new.setdefault(what, {} if empty is None else empty)


class StepLog:
    """The file of a stream's steps, a line each, of which the state says how much counts.

    What a step wrote that was killed before its state was lies beyond that, and is written over.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._size, self._crc = path, 0, 0

    @property
    def mark(self) -> dict[str, int]:
        """How much of the file counts, and its checksum."""
        return {"bytes": self._size, "crc": self._crc}

    def append(self, changes: Mapping[str, Any]) -> None:
        """Write what was new in a step, and wait until the disk has it."""
        line = (json.dumps(changes) + "\n").encode()
        try:
            with self.path.open("r+b" if self.path.exists() else "w+b") as file:
                file.seek(self._size)
                file.truncate()
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise TableError(
                f"cannot write {self.path}: {error}. The step was not kept; start again to go on."
            ) from None
        self._size, self._crc = self._size + len(line), zlib.crc32(line, self._crc)

    def read(self, mark: Mapping[str, int]) -> list[dict[str, Any]]:
        """The steps that count by the mark of a state."""
        try:
            with self.path.open("rb") as file:
                told = file.read(mark["bytes"])
        except FileNotFoundError:
            told = b""
        if (len(told), zlib.crc32(told)) != (mark["bytes"], mark["crc"]):
            raise StateFileError(
                f"{self.path} is gone, damaged or of another stream: it does not hold the steps that its state counts. "
                "The two belong together. Put copies of both back, or begin a new stream with another --state."
            )
        self._size, self._crc = mark["bytes"], mark["crc"]
        return [json.loads(line) for line in told.splitlines()]
