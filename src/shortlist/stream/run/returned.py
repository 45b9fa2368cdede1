"""Labels that come back in files: what is new among them, and what cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from shortlist.exceptions import ShortlistError, TableError
from shortlist.tables import read_table
from shortlist.tables.io.files import is_table
from shortlist.verdicts import WORDS, WRITTEN, Verdict


class Returned(NamedTuple):
    """The label of a row, and how many rows had one before it."""

    place: int
    verdict: Verdict


class ReturnedLabels:
    """A file or a folder of files with a column that names rows and a column ``wanted``.

    Files are read once, and again when they change. Rows whose ``wanted`` is empty have no label yet, so that the file
    of rows to label can be filled in and handed back as it is. The first label of a row counts.
    """

    def __init__(self, source: Path, id_column: str) -> None:
        self.source = source
        self.id_column = id_column
        self._stamps: dict[Path, tuple[int, int]] = {}
        self._labels: dict[str, Returned] = {}

    def read(self) -> tuple[dict[str, Returned], list[str]]:
        """The labels in files that are new or have changed, by row id, and what to say of them."""
        found: dict[str, Returned] = {}
        notes: list[str] = []
        for path in self._paths():
            stamp = (path.stat().st_size, path.stat().st_mtime_ns)
            if self._stamps.get(path) == stamp:
                continue
            try:
                found |= _add(self._labels, notes, read_table(path), path.name, self.id_column)
            except (ShortlistError, OSError, pl.exceptions.PolarsError) as error:
                notes.append(f"labels in {path.name} cannot be read yet: {error}")
            self._stamps[path] = stamp
        return found, notes

    def _paths(self) -> list[Path]:
        if self.source.is_dir():
            return sorted(filter(is_table, self.source.iterdir()))
        return [self.source] if self.source.is_file() else []


def _add(
    labels: dict[str, Returned], notes: list[str], frame: pl.DataFrame, name: str, id_column: str
) -> dict[str, Returned]:
    """Add the labels of a file to those of others; gives the first label of each row that it names."""
    for column in (id_column, "wanted"):
        if column not in frame.columns:
            raise TableError(f"there is no column {column!r}; its columns: {', '.join(frame.columns)}.")
    words = frame["wanted"].cast(pl.String).str.strip_chars().str.to_lowercase()
    found = {}
    for row, word in zip(frame[id_column].cast(pl.String), words, strict=True):
        if row is None or not word:
            continue
        if word not in WORDS:
            notes.append(f"{name}: row {row} has the label {word!r}; write {WRITTEN}.")
            continue
        found[row] = labels.setdefault(row, Returned(len(labels), WORDS[word]))
        if found[row].verdict != WORDS[word]:
            notes.append(f"{name}: row {row} has two labels that differ; the first counts.")
    return found
