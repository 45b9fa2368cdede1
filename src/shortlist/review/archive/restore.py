"""A server from its backup: in any folder, for any user, with or without a database; never over what is there."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath

from shortlist.exceptions import InvalidInputError
from shortlist.review.archive.backup import CONTENTS, FORMAT, PEOPLE, ROOT, Contents, KeptQueue
from shortlist.review.archive.portable import load
from shortlist.review.archive.scratch import scratch
from shortlist.review.desk.integrity import faults
from shortlist.review.errors import DamagedError
from shortlist.review.log import sqlite
from shortlist.review.log.end import tell_end
from shortlist.review.log.store import Store
from shortlist.review.workspace import Workspace
from shortlist.tables.io.write import sync, sync_folder

#: Bytes that are read at a time.
CHUNK = 1 << 20


def restore(source: Path, folder: Path, *, database: str | None = None) -> Contents:
    """Make a folder from a backup; it is complete or not there.

    Parameters
    ----------
    source : the file of a backup
    folder : where there is nothing yet
    database : URL of an empty database for what was in one; None: it becomes files, too
    """
    _check_free(folder)
    with scratch(folder) as place:
        contents = _unpack(source, place)
        root = place / ROOT
        for queue in contents.queues:
            _settle(root / queue.place, queue, source)
        if database is not None:
            _load(root, contents, database)
        if folder.is_dir():
            folder.rmdir()
        root.rename(folder)
        sync_folder(folder.absolute().parent)
    return contents


def _check_free(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInputError(
            f"{folder} is there already, and nothing is written over. Name another folder."
        )


def _unpack(source: Path, place: Path) -> Contents:
    """All files of a backup, each as its sum says; what else the file holds is refused."""
    sums, told = dict[str, str](), ""
    with _opened(source) as archive:
        for entry in archive:
            _check_entry(entry, source)
            content = archive.extractfile(entry)
            assert content is not None
            if entry.name == CONTENTS:
                told = content.read().decode()
                continue
            path = place / entry.name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            sums[entry.name] = _write(content, path)
    return _checked(told, sums, source)


def _checked(told: str, sums: dict[str, str], source: Path) -> Contents:
    if not told:
        raise DamagedError(
            f"{source} is not complete: what it holds should stand at its end. Use another backup."
        )
    try:
        contents = Contents.read(told)
    except (ValueError, TypeError, KeyError):
        raise DamagedError(f"{source} is no backup that this version of Shortlist can read.") from None
    if contents.format > FORMAT:
        raise DamagedError(
            f"{source} was made by a later version of Shortlist ({contents.version}). Install that."
        )
    # No file of ours has a name that leads out of the folder, so neither has a queue whose log is among them.
    strange = [each.place for each in contents.queues if _log_of(each) not in contents.files]
    if strange:
        raise DamagedError(f"{source} names a queue {strange[0]!r} that is not in it. Use another backup.")
    differing = sorted(
        name for name in {*sums, *contents.files} if sums.get(name) != contents.files.get(name)
    )
    if differing:
        raise DamagedError(
            f"{source} is damaged: {', '.join(differing[:3])} is not as it was. Use another backup."
        )
    return contents


def _log_of(queue: KeptQueue) -> str:
    return str(PurePosixPath(ROOT, queue.place, Workspace(queue.place).log.name))


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    if not source.is_file():
        raise InvalidInputError(f"there is no file {source}.")
    try:
        with tarfile.open(source, "r:gz") as archive:
            yield archive
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedError(f"{source} is no backup, or damaged ({error}). Use another one.") from None


def _check_entry(entry: tarfile.TarInfo, source: Path) -> None:
    parts = PurePosixPath(entry.name).parts
    is_ours = entry.name == CONTENTS or (parts[:1] == (ROOT,) and ".." not in parts)
    if not entry.isfile() or not is_ours:
        raise DamagedError(
            f"{source} holds {entry.name!r}, which no backup of ours does. Nothing was taken from it."
        )


def _write(content: object, path: Path) -> str:
    summed = hashlib.sha256()
    with path.open("xb") as file:
        while chunk := content.read(CHUNK):  # type: ignore[attr-defined]
            summed.update(chunk)
            file.write(chunk)
    sync(path)
    return summed.hexdigest()


def _settle(place: Path, queue: KeptQueue, source: Path) -> None:
    """Tell where the log ends, and see that all is as it was written."""
    workspace = Workspace(place)
    tell_end(workspace.log, queue.seq, queue.head)
    with closing(Store.open(workspace.log, read_only=True)) as store:
        number = store.number_of(workspace.name)
        found = next(faults(workspace, store, number, [(queue.seq, queue.head)]), None)
    if found is not None:
        raise DamagedError(f"the queue {queue.place} in {source} is not as it was written: {found}")


def _load(root: Path, contents: Contents, url: str) -> None:
    """Put into a database what was in one; files that were files stay so."""
    moved = [queue for queue in contents.queues if queue.store == "database"]
    people = root / PEOPLE if contents.people == "database" else None
    load(url, root, [Workspace(root / queue.place).log for queue in moved], people)
    for queue in moved:
        workspace = Workspace(root / queue.place)
        sqlite.remove(workspace.log)
        workspace.keep_log_in(url, queue.queue)
        tell_end(workspace.log, queue.seq, queue.head)
    if people is not None:
        sqlite.remove(people)
