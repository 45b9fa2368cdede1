"""Where the windows of a stream come from: a folder that grows, a glob of files, or standard input.

A source never forgets by itself which windows were taken: ``progress`` is kept in the state of the run, in the
same step as what was learned, so that a window is taken exactly once.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from shortlist.exceptions import ShortlistError, TableError
from shortlist.stream.run.lines import ParsedLines, Refusal, is_json, parse_csv, parse_json
from shortlist.tables import read_table
from shortlist.tables.io.files import JSON_LINES, format_of, is_table, matches, usual_endings
from shortlist.tables.io.paths import named_path

#: A file of a growing folder is taken once it has not changed for so many seconds.
SETTLED_AFTER = 1.0
#: Size and time of a file.
Stamp = list[int]
_UNTOUCHED: dict[str, Any] = {"part": 0, "done": False, "stamp": None}


@dataclass(frozen=True)
class Window:
    """Rows that arrived together, the refusals among them, and what of the progress changes by taking them."""

    name: str
    frame: pl.DataFrame
    progress: dict[str, Any]
    refused: list[Refusal] = field(default_factory=list)
    #: Whether the rows can be had again from where they came.
    lasting: bool = True


class FileWindows:
    """Each file is a window, or several windows, where ``window_rows`` splits it.

    Files that are there are taken in order of names; those that come meanwhile after them. A file that cannot be read
    is set aside, said, and tried again once it has changed. One without rows, as of a quiet day, is a window with
    nothing to look at; should rows come into it after all, they are taken.
    """

    def __init__(self, source: str, *, window_rows: int | None = None, settle: bool = False) -> None:
        self.source = named_path(source)
        self.window_rows = window_rows
        self.settle = settle
        self._last: tuple[Path, Stamp | None, ParsedLines] | None = None
        self._listed = deque[Path]()

    def next(self, progress: dict[str, Any]) -> Window | None:
        """The next window after this progress; None: there is none now."""
        path = self._first_new(progress)
        if path is None:  # only now is it worth looking through a folder of thousands again
            self._listed.extend(path for path in self._paths() if not _known(path, progress)["done"])
            path = self._first_new(progress)
        return None if path is None else self._read(path, _known(path, progress)["part"])

    def changed(self, progress: dict[str, Any]) -> list[str]:
        """What to say of files that changed after they were taken."""
        return [
            f"{path.name} changed after it was taken; its new rows are not seen. Give new rows as new files."
            for path in self._paths()
            if _known(path, progress)["done"] and _known(path, progress)["stamp"] != _stamp(path)
        ]

    def _first_new(self, progress: dict[str, Any]) -> Path | None:
        """The first of the listed files that can be taken; those before it are passed over."""
        while self._listed:
            path = self._listed[0]
            known, stamp = _known(path, progress), _stamp(path)
            if not known["done"] and stamp not in (None, known["stamp"]) and self._is_settled(stamp):
                return path
            self._listed.popleft()
        return None

    def _is_settled(self, stamp: Stamp) -> bool:
        return not self.settle or time.time() - stamp[1] / 1e9 > SETTLED_AFTER

    def _paths(self) -> list[Path]:
        found = self.source.iterdir() if self.source.is_dir() else matches(self.source)
        return sorted(filter(is_table, found))

    def _read(self, path: Path, part: int) -> Window:
        stamp = _stamp(path)
        try:
            parsed = self._rows(path, stamp)
        except (ShortlistError, OSError, pl.exceptions.PolarsError) as error:
            unreadable = {path.name: {**_UNTOUCHED, "stamp": stamp}}
            refusal = Refusal(path.name, f"{error} The file is tried again when it has changed.", "")
            return Window(path.name, pl.DataFrame(), unreadable, [refusal])
        if parsed.frame.is_empty():
            untaken = {path.name: {**_UNTOUCHED, "stamp": stamp}}
            return Window(path.name, parsed.frame, untaken, parsed.refused)
        size = self.window_rows or parsed.frame.height
        done = (part + 1) * size >= parsed.frame.height
        known = {"part": part + 1, "done": done, "stamp": stamp if done else None}
        return Window(
            path.name if done and part == 0 else f"{path.name}, part {part + 1}",
            parsed.frame.slice(part * size, size),
            {path.name: known},
            parsed.refused if part == 0 else [],
        )

    def _rows(self, path: Path, stamp: Stamp | None) -> ParsedLines:
        """The rows of a file, read once for all of its parts."""
        if self._last is None or self._last[:2] != (path, stamp):
            self._last = (path, stamp, _read_rows(path))
        return self._last[2]


class LineWindows:
    """Windows of a fixed number of rows from standard input, JSON lines or CSV with a header.

    When a run is started again, its input may begin anew (``cat rows.jsonl | ...``) or go on where it was
    (a pipe): if the first row is the one that the first run began with, the lines taken before are skipped.
    Lines of a window that is not full yet are spooled to a file, so that even a killed run loses none of them.
    """

    def __init__(self, stream: TextIO, spool: Path, *, window_rows: int = 1_000) -> None:
        self.stream = stream
        self.spool = spool
        self.window_rows = window_rows
        self._lines: Iterator[tuple[int, str]] | None = None

    def next(self, progress: dict[str, Any]) -> Window | None:
        """The next window; fewer rows at the end of the input; None: the input has ended."""
        progress = dict(progress)
        if self._lines is None:
            self._lines = self._begin(progress)
        elif self.spool.exists():
            self.spool.unlink()
        lines = []
        with self.spool.open("a", encoding="utf-8") as spool:
            for number, line in itertools.islice(self._lines, self.window_rows):
                lines.append((number, line))
                spool.write(line if line.endswith("\n") else line + "\n")
                spool.flush()
        if not lines:
            self.spool.unlink()
            return None
        progress["lines"] = lines[-1][0]
        parsed = self._parse(lines, progress["header"])
        return Window(
            f"lines {lines[0][0]} to {lines[-1][0]}", parsed.frame, progress, parsed.refused, lasting=False
        )

    def changed(self, progress: dict[str, Any]) -> list[str]:
        """Lines do not change after they were taken."""
        return []

    def _parse(self, lines: list[tuple[int, str]], header: str | None) -> ParsedLines:
        if header is None:
            return parse_json(lines, "standard input")
        return parse_csv(lines, header, "standard input")

    def _begin(self, progress: dict[str, Any]) -> Iterator[tuple[int, str]]:
        """Numbered lines that have not been taken: those of the spool first, where the input goes on."""
        first = next((line for line in self.stream if line.strip()), "")
        taken = progress.get("lines", 0)
        if "header" not in progress:
            progress["header"] = None if is_json(first) else first
        is_header = progress["header"] is not None and first.strip() == progress["header"].strip()
        first_row = next(self.stream, "") if is_header else first
        mark = hashlib.sha256(first_row.encode()).hexdigest()
        again = progress.setdefault("first_row", mark) == mark
        rows = itertools.chain([first_row] if first_row else [], self.stream)
        if again:
            self.spool.unlink(missing_ok=True)
            return itertools.islice(enumerate(rows, start=1), taken, None)
        spooled = (
            self.spool.read_text(encoding="utf-8").splitlines(keepends=True) if self.spool.exists() else []
        )
        self.spool.unlink(missing_ok=True)
        return enumerate(itertools.chain(spooled, rows), start=taken + 1)


def _read_rows(path: Path) -> ParsedLines:
    if format_of(path) is JSON_LINES and path.suffix.lower() != ".gz":
        with path.open(encoding="utf-8", errors="replace") as file:
            return parse_json(enumerate(file, start=1), path.name)
    return ParsedLines(read_table(path, may_be_empty=True))


def _known(path: Path, progress: dict[str, Any]) -> dict[str, Any]:
    """What of a file was taken."""
    known: dict[str, Any] = progress.get(path.name, _UNTOUCHED)
    return known


def _stamp(path: Path) -> Stamp | None:
    """Size and time of a file; None: it has gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return [found.st_size, found.st_mtime_ns]


def open_source(
    source: str, stdin: TextIO, spool: Path, *, window_rows: int | None, watch: bool
) -> FileWindows | LineWindows:
    """The windows of ``-`` (standard input), of a folder or of a glob."""
    if source == "-":
        return LineWindows(stdin, spool, window_rows=window_rows or 1_000)
    path = named_path(source)
    if path.is_file() and format_of(path) is None:
        *others, last = usual_endings()
        raise TableError(
            f"cannot tell the format of {source} by its ending; name it {', '.join(others)} or {last}."
        )
    if not any(sign in source for sign in "*?[") and not path.exists():
        raise TableError(
            f"there is no folder or file {source}; create the folder, or give a glob or - (standard input)."
        )
    return FileWindows(source, window_rows=window_rows, settle=watch)
