"""A server, or one queue, as one file: made while it runs, as it is at one moment."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any

from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.review.archive.portable import copy_log, copy_people
from shortlist.review.archive.scratch import scratch
from shortlist.review.desk.integrity import sums
from shortlist.review.errors import DamagedError
from shortlist.review.log.database import Database, Remote
from shortlist.review.log.postgres import Postgres
from shortlist.review.log.sqlite import Sqlite
from shortlist.review.log.store import Store
from shortlist.review.server.folder import queue_folders
from shortlist.review.workspace import Workspace
from shortlist.tables.io.write import sync, sync_folder

#: What a backup holds comes below this name; what it is is told by the last file.
ROOT, CONTENTS, FORMAT = "folder", "backup.json", 1
PEOPLE = "people.sqlite"
#: What belongs to one server on one machine, or can be made anew.
_LEFT_OUT = ("log.sqlite*", "log.json", "log.end", "lock", "secret", "server.json", "checkpoint-*", ".*")


@dataclass(frozen=True)
class KeptQueue:
    """A queue of a backup: its folder, where its log was kept (``file`` or ``database``), and where the log ends."""

    place: str
    store: str
    queue: str  # what its database calls it
    seq: int
    head: str


@dataclass
class Contents:
    """What a backup holds."""

    made: float
    version: str = __version__
    format: int = FORMAT
    queues: list[KeptQueue] = field(default_factory=list)
    people: str | None = None  # where people were kept; None: there were none
    files: dict[str, str] = field(default_factory=dict)  # SHA-256 of each

    def to_json(self) -> str:
        """As it is written."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: str) -> Contents:
        """What ``to_json`` gave."""
        told: dict[str, Any] = json.loads(text)
        return cls(**{**told, "queues": [KeptQueue(**each) for each in told["queues"]]})


def back_up(folder: Path, target: Path, *, database: str | None = None) -> Contents:
    """Write every queue below a folder, and its people, to one file; others may work on.

    Parameters
    ----------
    folder : that of a server, or of one queue
    target : a file; one that is there is replaced once all is written
    database : URL of the database of people; None: they are in a file of the folder, if there are any
    """
    places = _places(folder)
    contents = Contents(made=time.time())
    with scratch(target) as place:
        unfinished = place / "backup"
        with tarfile.open(unfinished, "w:gz", compresslevel=1) as archive:
            for number, queue in enumerate(places):
                _add_queue(archive, contents, folder, queue, place / f"{number}.sqlite")
            people = _people(folder, database)
            if people is not None:
                copy_people(people, place / PEOPLE)
                contents.people = "file" if isinstance(people, Sqlite) else "database"
                _add(archive, contents, f"{ROOT}/{PEOPLE}", place / PEOPLE)
            _add_text(archive, CONTENTS, contents.to_json())
        sync(unfinished)
        unfinished.replace(target)
        sync_folder(target.absolute().parent)
    return contents


def _places(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {folder}. Name that of a server, or of a queue.")
    places = [place for place in sorted(queue_folders(folder)) if Workspace(place).exists]
    if not places:
        raise InvalidInputError(f"there is no queue in {folder}, nor below it: nothing to back up.")
    databases = {place.url for each in places if isinstance(place := Workspace(each).place, Remote)}
    if len(databases) > 1:
        raise InvalidInputError("the queues are in several databases; back them up one by one.")
    return places


def _add_queue(archive: tarfile.TarFile, contents: Contents, folder: Path, place: Path, log: Path) -> None:
    """The log comes first: files that it names were written before it did."""
    workspace, name = Workspace(place), f"{ROOT}/{place.relative_to(folder).as_posix()}".removesuffix("/.")
    where = workspace.place
    copy_log(where, log)
    with closing(Store.open(log, read_only=True)) as store:
        number = store.number_of(workspace.name)
        (seq, head), expected = store.head(number), sums(store, number)
    kind, known_as = ("database", where.queue) if isinstance(where, Remote) else ("file", "")
    contents.queues.append(KeptQueue(name.removeprefix(ROOT).strip("/") or ".", kind, known_as, seq, head))
    _add(archive, contents, f"{name}/{workspace.log.name}", log)
    log.unlink()
    for path in _files(place):
        _add(archive, contents, f"{name}/{path.relative_to(place).as_posix()}", path)
    for file, told in expected.items():
        if contents.files.get(f"{name}/{file}") != told:
            raise DamagedError(
                f"{place / file} is not as the log says: a row may have been erased just now. Back up again; if this "
                f"stays so, see shortlist replay {place}"
            )


def _files(place: Path) -> Iterator[Path]:
    for path in sorted(place.rglob("*")):
        top = PurePath(path.relative_to(place).parts[0])
        if path.is_file() and not path.is_symlink() and not any(top.match(each) for each in _LEFT_OUT):
            yield path


def _people(folder: Path, database: str | None) -> Database | None:
    if database is not None:
        return Postgres(Remote(database, "", folder), read_only=True)
    path = folder / PEOPLE
    return Sqlite(path, folder, read_only=True) if path.exists() else None


def _add(archive: tarfile.TarFile, contents: Contents, name: str, path: Path) -> None:
    """Add a file; its sum is that of what was added, whatever becomes of the file."""
    with path.open("rb") as file:
        entry = archive.gettarinfo(arcname=name, fileobj=file)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        summed = _Summed(file)
        archive.addfile(entry, summed)
    contents.files[name] = summed.sum.hexdigest()


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(text.encode())
    archive.addfile(entry, io.BytesIO(text.encode()))


class _Summed(io.RawIOBase):
    """A file that is summed as it is read."""

    def __init__(self, file: Any) -> None:
        self._file, self.sum = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content: bytes = self._file.read(size)
        self.sum.update(content)
        return content
