"""A claimant is erased: nothing is known of a row any more, and the log can still be proved.

What the ranking rests on stays, so that a replay gives what it gave: the leaves of the row, which tell no value, and
what was said of it. Files are written anew beside the old ones, then the log says what their sums are, then they take
the places of the old ones; whoever opens a queue in which this was cut short finishes it.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np

from shortlist.exceptions import ShortlistError
from shortlist.feedback.spaces.space_files import rewrite_schema
from shortlist.review.desk.integrity import sums
from shortlist.review.desk.rows import Rows, blank
from shortlist.review.log.chain import sum_of
from shortlist.review.log.events import Appended
from shortlist.review.log.settings import Fixed
from shortlist.review.log.store import Store
from shortlist.review.workspace import Workspace
from shortlist.tables import Schema, write_table
from shortlist.tables.io.files import find_files
from shortlist.tables.io.write import sync_folder

#: Files of a queue that hold no value of a row, or that were written anew; all others may be an export.
_OURS = (
    "log.*", "lock", "secret", "server.json", "libraries.json", "ready", "rows*.parquet", "space", "checkpoint-*", ".*",
)  # fmt: skip


@dataclass(frozen=True)
class Erasure:
    """What was erased: how many rows and what files, and what may still hold them.

    removed : what was learned from the rows, and is gone
    elsewhere : files that may still hold them: the one that the queue was made from, and strange ones in its folder
    """

    rows: int
    files: tuple[str, ...]
    removed: tuple[str, ...]
    elsewhere: tuple[str, ...]


class Eraser:
    """The files of a queue, without rows that are erased."""

    def __init__(self, workspace: Workspace, store: Store, queue: int) -> None:
        self._workspace, self._store, self._queue = workspace, store, queue
        self._place = workspace.erasing

    def lines(self, row: int) -> dict[str, str]:
        """Lines of before that the log has on a row; see ``Store.old_words``."""
        return self._store.old_words(self._queue, row)

    def write_anew(self, rows: Rows, schema: Schema, erased: Collection[int]) -> dict[str, str]:
        """Write the files that hold these rows beside the old ones, without them; returns their sums."""
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir(mode=0o700)
        gone, first = rows.erased.union(erased), 0
        for name, n_rows in zip(self._names(), rows.batches, strict=True):
            if any(first <= row < first + n_rows for row in erased):
                write_table(blank(self._workspace.read_rows(name), gone, first), self._place / name)
            first += n_rows
        left = schema.without_words(lost_words(rows, schema, erased))
        if left.to_dict() != schema.to_dict():
            rewrite_schema(self._workspace.space, self._place / self._workspace.space.name, left)
        # Once the log tells their sums, a power cut may not take the folder away in which they lie.
        for folder in (self._place, self._workspace.folder):
            sync_folder(folder)
        return {name: sum_of(self._place / name) for name in self._written()}

    def finish(self, *, is_new: bool) -> tuple[str, ...]:
        """Put the new files into their places, and forget what was there; returns what was removed.

        ``is_new``: whether rows were erased just now, so that a model may have learned from them.
        """
        removed = [self._workspace.model] if is_new and self._workspace.model.exists() else []
        for model in removed:
            model.unlink()
        for name in self._written():
            (self._place / name).replace(self._workspace.folder / name)
            sync_folder((self._workspace.folder / name).parent)
        self._store.forget_the_past()
        shutil.rmtree(self._place, ignore_errors=True)
        return tuple(map(str, removed))

    def finish_what_was_cut_short(self) -> None:
        """Where a process ended in the middle: bring it to its end if the log says so, forget it if not."""
        if not self._place.is_dir():
            return
        expected, written = sums(self._store, self._queue), self._written()
        if all(sum_of(self._place / name) == expected.get(name) for name in written):
            self.finish(is_new=bool(written))
        shutil.rmtree(self._place, ignore_errors=True)

    def elsewhere(self, fixed: Fixed) -> tuple[str, ...]:
        """Files that may still hold what was erased."""
        try:
            source = [path for path in find_files(fixed.source).paths if path.exists()]
        except ShortlistError:
            source = []  # it was moved, or never on this machine
        strange = (
            p for p in self._workspace.folder.iterdir() if not any(fnmatch(p.name, known) for known in _OURS)
        )
        return tuple(map(str, [*source, *sorted(strange)]))

    def _names(self) -> Iterator[str]:
        yield self._workspace.rows.name
        for event in self._store.events(self._queue, kinds=[Appended.kind]):
            if isinstance(event.body, Appended):
                yield event.body.file

    def _written(self) -> list[str]:
        files = (path for path in sorted(self._place.rglob("*")) if path.is_file())
        return [path.relative_to(self._place).as_posix() for path in files]


def lost_words(rows: Rows, schema: Schema, erased: Collection[int]) -> Mapping[str, list[str]]:
    """Categories, by column, that only rows have which are erased: their names must go too.

    >>> import polars as pl
    >>> from shortlist.tables import Roles
    >>> frame = pl.DataFrame({"shop": ["North", "South", "South"]})
    >>> lost_words(Rows(frame, Roles()), Schema.learn(frame), [0, 1])
    {'shop': ['North']}
    """
    gone = np.isin(np.arange(len(rows)), [*erased])
    lost = {}
    for feature in schema.features:
        if feature.kind == "category":
            words = feature.texts(rows.table[feature.name])
            only = {*words.filter(gone).drop_nulls()} - {*words.filter(~gone).drop_nulls()}
            lost[feature.name] = sorted(only)
    return {name: words for name, words in lost.items() if words}
