"""The queues below a folder: found, opened, looked for again, and made from rows that somebody sends."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.exceptions import InvalidInputError, ShortlistError
from shortlist.languages.words import Message
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.errors import BadRequestError
from shortlist.review.workspace import SUFFIX, Workspace
from shortlist.tables.io.write import atomic_path
from shortlist.tables.stranger import check_table, named_as

log = logging.getLogger("shortlist.review")
#: What a queue made on a page may be called: a folder of that name is made.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,59}")
FORMATS = ("csv", "parquet", "jsonl")
#: Files that a page offers; others can be typed.
MOST_FILES = 200


class Made(NamedTuple):
    """A queue that was made, and what whoever made it should know."""

    queue: Queue
    notes: tuple[str, ...]


class QueueFolder(Mapping[str, Queue]):
    """All queues below a folder, by their names.

    One that cannot be opened keeps nobody from the others: ``problems`` tells what is wrong with it.

    Parameters
    ----------
    folder : where queues are looked for, at any depth
    database : URL of the database that keeps the logs of queues made here; None: a file beside the rows does
    sources : folders of this machine whose files leads may make queues from
    """

    def __init__(self, folder: Path, database: str | None = None, sources: Sequence[Path] = ()) -> None:
        for place in (folder, *sources):
            if not place.is_dir():
                raise InvalidInputError(f"there is no folder {place}; make it first: mkdir {place}")
        self.folder, self._database = folder, database
        self.sources = [place.resolve() for place in sources]
        self.problems: dict[str, ShortlistError] = {}
        self._queues: dict[str, Queue] = {}
        self._changing = threading.Lock()
        self.refresh()

    def __getitem__(self, name: str) -> Queue:
        return self._queues[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._queues))

    def __len__(self) -> int:
        return len(self._queues)

    def refresh(self) -> None:
        """Open queues that were made since; those that could not be opened are tried again."""
        with self._changing:
            there = _names(self.folder)
            for name, place in there.items():
                if name not in self._queues:
                    self._open(name, place)
            self.problems = {name: error for name, error in self.problems.items() if name in there}

    def _open(self, name: str, place: Path) -> None:
        try:
            self._queues[name] = Queue.open(place)
            self.problems.pop(name, None)
        except ShortlistError as error:
            if str(self.problems.get(name)) != str(error):
                log.warning("the queue %s cannot be opened: %s", name, error)
            self.problems[name] = error

    def make(self, name: str, content: bytes, format: str, called: tuple[str, str], **options: Any) -> Made:
        """Make a queue from rows; options as in ``create``. Nothing stays of one that cannot be made.

        called : the name that their sender knows the file by, and what is said beside where it cannot be read
        """
        _check_name(name)
        _check_format(format)
        data = self.folder / f"{name}.{format}"
        with self._changing:
            self._check_free(name, data)
            with contextlib.ExitStack() as unless_made:
                with atomic_path(data) as beside:
                    beside.write_bytes(content)
                unless_made.callback(data.unlink)
                with named_as(data, *called):
                    check_table(data)
                    notes = self._create(name, data, options)
                unless_made.pop_all()
        return Made(self._queues[name], notes)

    def make_from(self, name: str, path: str, **options: Any) -> Made:
        """Make a queue from a file of this machine, below one of the folders that may be named."""
        _check_name(name)
        data = self._source(path)
        _check_format(data.suffix[1:].lower())
        with self._changing:
            self._check_free(name)
            with named_as(data, path):
                notes = self._create(name, data, options)
        return Made(self._queues[name], notes)

    def files(self) -> list[str]:
        """Files that a queue may be made from, by their paths below the folders that may be named."""
        found = (
            path.relative_to(source).as_posix()
            for source in self.sources
            for path in sorted(source.rglob("*"))
            if path.suffix[1:].lower() in FORMATS and _is_below(path, source)
        )
        return [*itertools.islice(dict.fromkeys(found), MOST_FILES)]

    def _source(self, path: str) -> Path:
        """A file that may be named; whether there are others nobody is told."""
        for source in self.sources:
            with contextlib.suppress(OSError, ValueError):  # what is no name of a file
                if _is_below(source / path, source):
                    return (source / path).resolve()
        raise BadRequestError(
            Message(
                "there is no file '%(path)s' that rows may be taken from. Send one, or ask whoever runs the server to "
                "name its folder: shortlist serve --rows-from FOLDER",
                path=path[:200],
            )
        )

    def _check_free(self, name: str, *files: Path) -> None:
        place = self.folder / f"{name}{SUFFIX}"
        if name in self._queues or any(each.exists() for each in (place, *files)):
            raise BadRequestError(
                Message("there is a queue '%(name)s' already, or a file of that name.", name=name)
            )

    def _create(self, name: str, data: Path, options: dict[str, Any]) -> tuple[str, ...]:
        place = Workspace(self.folder / f"{name}{SUFFIX}")
        notes = create(str(data), place, database=self._database, **options)
        self._open(name, place.folder)
        return notes

    def close(self) -> None:
        """Let others own the queues."""
        for queue in self._queues.values():
            queue.close()


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise BadRequestError(
            Message(
                "a name has up to 60 letters (A to Z), digits, spaces, - and _, and begins with a letter or digit."
            )
        )


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise BadRequestError(Message("rows come as one of: %(known)s.", known=", ".join(FORMATS)))


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path is a file of a folder, wherever links and dots lead."""
    found = path.resolve()
    return found.is_relative_to(folder) and found.is_file()


def _names(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for place in sorted(queue_folders(folder)):
        workspace = Workspace(place)
        if not workspace.exists:
            continue
        if workspace.name in found:
            raise InvalidInputError(
                f"two queues are called {workspace.name!r}: {found[workspace.name]} and {place}. Rename one."
            )
        found[workspace.name] = place
    return found


def queue_folders(folder: Path) -> Iterator[Path]:
    """Folders in which a queue was finished; what lies inside of one is its own."""
    for place, inside, files in os.walk(folder):
        if "ready" in files:
            inside.clear()
            yield Path(place)
