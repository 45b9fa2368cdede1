"""Power cuts while files are written: rows that are appended, what was learned, files without rows that are erased.

What Python does to the files of a folder is noted between what SQLite does. A file that was written and synced is on
the disk. A name is there for good once its folder was synced after it was given, changed or taken away; until then a
power cut may undo any of that, in any order.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

from shortlist.datasets import make_claims
from shortlist.review import Queue
from shortlist.review.desk import keeper
from shortlist.verdicts import Verdict
from studies.quality.review_counts import Held, count_folder
from studies.quality.review_disk import FATES, Recorder, Step
from studies.quality.review_servers import Part

FIRST_ROWS, APPENDED = 80, 10
#: A row of a region that no other has: the score space has that word too.
ALONE = 3


def small_claims(n_rows: int) -> pl.DataFrame:
    """Claims of which nothing is known beforehand."""
    claims = make_claims(n_rows, random_state=0).drop("fraud", "repair_shop")
    region = pl.when(pl.int_range(pl.len()) == ALONE).then(pl.lit("abroad")).otherwise("region")
    return claims.with_columns(region=region)


def file_cuts(folder: Path, until: float, seed: int = 0, most: int | None = None) -> Part:
    """A review in which rows are appended and erased, as power cuts at its moments could leave the disk, looked at."""
    rng = random.Random(seed)
    recorder = record_files(folder)
    images = [(n, fate) for n in range(len(recorder.steps) + 1) for fate in FATES]
    rng.shuffle(images)  # what time allows is spread over the whole review
    cuts, found = 0, Held()
    for n, fate in images[:most]:
        marks = [step.mark for step in recorder.steps[:n] if step.what == "mark"]
        found += look_at_files(recorder.image(n, fate, rng), marks, folder.with_name("cut.review"))
        cuts += 1
        if time.monotonic() > until:
            break
    return {"moments": len(recorder.steps), "power cuts": cuts}, found


def record_files(folder: Path) -> Recorder:
    """A short review with rows appended and erased, and with what was learned kept again and again."""
    recorder, claims = Recorder(folder), small_claims(FIRST_ROWS + APPENDED)
    often = mock.patch.object(keeper, "CHECKPOINT_EVERY", 4)
    with often, recorder.recording(), recording_files(recorder), closing(Queue.open(folder)) as queue:
        _review(queue, recorder)
        queue.append("lead", claims[FIRST_ROWS:]).result()
        recorder.mark(("rows", len(claims)))
        _review(queue, recorder)
        for row in (ALONE, len(claims) - 1):
            queue.erase_rows("lead", [row]).result()
            recorder.mark(("erased", row))
        _review(queue, recorder)
    return recorder


def _review(queue: Queue, recorder: Recorder, n_verdicts: int = 3) -> None:
    turn = queue.turn("ann").result()
    for _ in range(n_verdicts):
        shown = turn.shown or 0
        turn = queue.record("ann", shown, Verdict.WANTED).result()
        recorder.mark((shown, str(Verdict.WANTED)))
        recorder.wrote("log.end")


def look_at_files(image: dict[str, bytes], marks: list[tuple[Any, Any]], place: Path) -> Held:
    """A folder after a power cut: it opens, has what was acknowledged and nothing of what was erased, and replays."""
    shutil.rmtree(place, ignore_errors=True)
    for name, content in image.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    told = {shown: said for shown, said in marks if isinstance(shown, int)}
    with closing(Queue.open(place)) as queue:
        is_known = [row for what, row in marks if what == "erased" and queue.rows.id(row) != f"erased {row}"]
        fewer = [n_rows for what, n_rows in marks if what == "rows" and len(queue.rows) != n_rows]
        shown = queue.turn("bob").result().shown or 0
        queue.record("bob", shown, Verdict.NOT_WANTED).result()
    return count_folder(place, {**told, shown: Verdict.NOT_WANTED}) + Held(lost=len(is_known) + len(fewer))


@contextlib.contextmanager
def recording_files(recorder: Recorder) -> Iterator[None]:
    """Record what Python syncs, renames, makes and removes in the folder of the recorder, and below it."""
    noting = _Noting(recorder)
    with contextlib.ExitStack() as patches:
        for name in ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir"):
            patches.enter_context(mock.patch.object(os, name, getattr(noting, f"_{name}")))
        yield


class _Noting:
    """The functions of ``os`` that change files, each noted once it is done."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._folder = recorder, recorder.folder
        self._real = {name: getattr(os, name) for name in ("fsync", "replace", "unlink", "mkdir", "rmdir")}
        self._written = dict[str, bytes]()

    def _fsync(self, handle: int) -> None:
        name = self._name(_opened(handle))
        if name is None or self._is_recorded(name):
            self._real["fsync"](handle)
            return
        if (self._folder / name).is_file():
            self._note_content(name)
        self._real["fsync"](handle)
        self._recorder.steps.append(Step("sync", name))

    def _replace(self, old: Any, new: Any) -> None:
        before, after = self._name(Path(old)), self._name(Path(new))
        if before is not None and after is not None:
            self._note_content(before)  # what was not synced may be lost although its new name is there
        self._real["replace"](old, new)
        if before is not None and after is not None:
            self._recorder.steps.append(Step("rename", before, content=after.encode()))
            self._written[after] = self._written.pop(before, b"")

    _rename = _replace

    def _unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._real["unlink"](path, dir_fd=dir_fd)
        self._note("remove", path, dir_fd)

    _remove = _unlink

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._real["mkdir"](path, mode, dir_fd=dir_fd)
        self._note("folder", path, dir_fd)

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._real["rmdir"](path, dir_fd=dir_fd)
        self._note("remove", path, dir_fd)

    def _note(self, what: Any, path: Any, dir_fd: int | None) -> None:
        name = self._name(Path(path) if dir_fd is None else _opened(dir_fd) / path)
        if name is not None and not self._is_recorded(name):
            self._recorder.steps.append(Step(what, name))

    def _note_content(self, name: str) -> None:
        content = (self._folder / name).read_bytes() if (self._folder / name).is_file() else b""
        if self._written.get(name) != content:
            self._recorder.steps.append(Step("write", name, 0, content))
            self._written[name] = content

    def _name(self, path: Path) -> str | None:
        path = path.absolute()
        path = path.parent.resolve() / path.name
        return path.relative_to(self._folder).as_posix() if path.is_relative_to(self._folder) else None

    @staticmethod
    def _is_recorded(name: str) -> bool:
        """Whether the recorder sees to a file itself; nobody minds who locks a folder."""
        return name.startswith("log.") or name == "lock"


def _opened(handle: int) -> Path:
    return Path(f"/proc/self/fd/{handle}").readlink()
