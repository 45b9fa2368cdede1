"""A disk that can be cut off anywhere: what is written is recorded, and the disk of any moment is made again.

``Recorder`` goes between SQLite and the system (by its table of functions, for this process): each write, truncation,
sync and deletion of a file of one folder is noted, in order, between what else happens (``mark``); what Python does
there is noted by ``review_files``. ``image`` gives the files as a power cut at some moment could leave them: what was
synced is there, and of what was not each write, and each change of a name, is there, lost or (a write) torn.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Fate = Literal["lost", "kept", "torn"]
FATES: tuple[Fate, ...] = ("lost", "kept", "torn")
FILE, LONG, INT, POINTER = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p
# Names are addresses: SQLite keeps the one it is given, so it must be handed on as it is.
OPEN = ctypes.CFUNCTYPE(INT, POINTER, POINTER, FILE, INT, POINTER)
DELETE = ctypes.CFUNCTYPE(INT, POINTER, POINTER, INT)
WRITE = ctypes.CFUNCTYPE(INT, FILE, POINTER, INT, LONG)
TRUNCATE = ctypes.CFUNCTYPE(INT, FILE, LONG)
SYNC = ctypes.CFUNCTYPE(INT, FILE, INT)


class _Methods(ctypes.Structure):
    """sqlite3_io_methods, as far as all versions have it."""

    _fields_ = [("version", INT), ("close", POINTER), ("read", POINTER), ("write", POINTER), ("truncate", POINTER),
                ("sync", POINTER), ("others", POINTER * 13)]  # fmt: skip


class _Vfs(ctypes.Structure):
    """The beginning of sqlite3_vfs."""

    _fields_ = [("version", INT), ("file_size", INT), ("longest_path", INT), ("next", POINTER),
                ("name", ctypes.c_char_p), ("data", POINTER), ("open", POINTER), ("delete", POINTER)]  # fmt: skip


@dataclass(frozen=True)
class Step:
    """Something that happened: to a file, or a mark that something else had happened."""

    what: Literal["write", "truncate", "sync", "delete", "rename", "remove", "folder", "mark"]
    file: str = ""  # below the folder that is recorded; "sync" also has folders
    at: int = 0  # an offset, or the new size
    content: bytes = b""  # of "rename": the new name
    mark: Any = None


class Recorder:
    """All that happens to the files of a folder while ``recording``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps = folder.resolve(), list[Step]()
        files = (path for path in self.folder.rglob("*") if path.is_file())
        self.before = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}

    def mark(self, what: Any) -> None:
        """Note that something has happened by now, such as an answer that a reviewer got."""
        self.steps.append(Step("mark", mark=what))

    def wrote(self, file: str) -> None:
        """Note that Python has written a small file anew, and not synced it."""
        self.steps.append(Step("write", file, 0, (self.folder / file).read_bytes()))

    def check_synced(self) -> None:
        """Refuse a record in which something has happened without a sync before it: nothing is seen of what is written.

        Python may have been linked with another SQLite than the one that is found and looked into.
        """
        synced = False
        for step in self.steps:
            if step.what == "mark" and not synced:
                raise RuntimeError(
                    f"no sync was recorded before {step.mark}: Python writes by another SQLite than "
                    f"{ctypes.util.find_library('sqlite3')}. Run the study with a Python that uses this one."
                )
            synced = step.what == "sync" or (synced and step.what != "mark")

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record what SQLite does in this process."""
        library = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
        library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        vfs = library.sqlite3_vfs_find(None).contents
        before = vfs.open, vfs.delete
        self._kept: list[Any] = []  # what C points to must stay alive
        opened, deleted = OPEN(vfs.open), DELETE(vfs.delete)
        vfs.open = self._callback(OPEN, lambda *a: self._open(opened, *a))
        vfs.delete = self._callback(DELETE, lambda *a: self._delete(deleted, *a))
        try:
            yield
        finally:
            vfs.open, vfs.delete = before

    def _callback(self, kind: Any, function: Any) -> Any:
        self._kept.append(kind(function))
        return ctypes.cast(self._kept[-1], POINTER).value

    def _open(self, real: Any, vfs: int, name: int | None, file: int, flags: int, out: int) -> int:
        done = real(vfs, name, file, flags, out)
        path = _path(name)
        if done == 0 and path is not None and path.parent.resolve() == self.folder:
            self._watch(file, path.name)
        return done

    def _watch(self, file: int, name: str) -> None:
        pointer = ctypes.c_void_p.from_address(file)
        real = ctypes.cast(pointer, ctypes.POINTER(_Methods)).contents
        methods = _Methods.from_buffer_copy(real)
        write, truncate, sync = WRITE(real.write), TRUNCATE(real.truncate), SYNC(real.sync)

        def writing(file: int, content: int, size: int, at: int) -> int:
            self.steps.append(Step("write", name, at, ctypes.string_at(content, size)))
            return write(file, content, size, at)

        def truncating(file: int, size: int) -> int:
            self.steps.append(Step("truncate", name, size))
            return truncate(file, size)

        def syncing(file: int, flags: int) -> int:
            done = sync(file, flags)
            self.steps.append(Step("sync", name))
            return done

        methods.write = self._callback(WRITE, writing)
        methods.truncate = self._callback(TRUNCATE, truncating)
        methods.sync = self._callback(SYNC, syncing)
        self._kept += [methods, real]
        pointer.value = ctypes.addressof(methods)

    def _delete(self, real: Any, vfs: int, name: int, sync_folder: int) -> int:
        path = _path(name)
        if path is not None and path.parent.resolve() == self.folder:
            self.steps.append(Step("delete", path.name))
        return real(vfs, name, sync_folder)

    def image(self, n_steps: int, fate: Fate, rng: random.Random) -> dict[str, bytes]:
        """The files after a power cut once so many steps were done: what was not synced meets its fate."""
        done = self.steps[:n_steps]
        synced = {step.file: place for place, step in enumerate(done) if step.what == "sync"}
        files = {name: bytearray(content) for name, content in self.before.items()}
        lost = set[str]()  # folders whose names were
        for place, step in enumerate(done):
            is_name = step.what in ("rename", "remove", "folder")
            is_there = place < synced.get(_folder_of(step) if is_name else step.file, -1) or fate == "kept"
            if step.what == "delete":
                files.pop(step.file, None)
            elif is_name and not is_there and (fate == "lost" or rng.random() < 0.3):
                lost |= {step.file} if step.what == "folder" else set()
            elif is_name:
                _name(files, step)
            elif is_there:
                _apply(files, step, step.content)
            elif fate == "torn" and step.what in ("write", "truncate") and rng.random() < 0.7:
                _apply(files, step, step.content[: rng.randint(0, len(step.content))])
        return {name: bytes(content) for name, content in files.items() if not lost & _folders(name)}


def _path(name: int | None) -> Path | None:
    return None if name is None else Path(os.fsdecode(ctypes.string_at(name)))


def _folder_of(step: Step) -> str:
    """The folder that must be synced before a change of a name is there for good: of a rename, that of the new name."""
    name = step.content.decode() if step.what == "rename" else step.file
    return Path(name).parent.as_posix()


def _folders(name: str) -> set[str]:
    return {parent.as_posix() for parent in Path(name).parents}


def _name(files: dict[str, bytearray], step: Step) -> None:
    """Change a name; of a file whose content was lost, only the name is there."""
    if step.what == "rename":
        files[step.content.decode()] = files.pop(step.file, bytearray())
    elif step.what == "remove":
        files.pop(step.file, None)


def _apply(files: dict[str, bytearray], step: Step, content: bytes) -> None:
    if step.what == "truncate":
        del files.setdefault(step.file, bytearray())[step.at :]
    if step.what == "write":
        file = files.setdefault(step.file, bytearray())
        file.extend(bytes(max(0, step.at - len(file))))
        file[step.at : step.at + len(content)] = content
