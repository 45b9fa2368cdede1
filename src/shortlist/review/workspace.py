"""The folder of a queue: its rows, its score space, its log, its lock, and the keys of its server."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import polars as pl

from shortlist.review.errors import DamagedError, ReadOnlyError, ReviewError
from shortlist.review.log.chain import link, sum_of
from shortlist.review.log.database import Lock, Remote
from shortlist.review.log.postgres import AdvisoryLock, address_of, without_password
from shortlist.review.log.sqlite import LockFile
from shortlist.tables import write_table
from shortlist.tables.io.write import atomic_path, sync_folder

SUFFIX = ".review"
#: A secret as we write it, 256 bits. Zeros, spaces or one letter all over, as damage leaves them, anybody could guess.
SECRET = re.compile(r"(?!(.)\1*$)[A-Za-z0-9_-]{43,}")
#: Where the logs are, with a password that no folder holds; else libpq's own ways (PGPASSWORD, ~/.pgpass) are taken.
DATABASE = "SHORTLIST_DB"
#: The event that a saved state of the ranking follows, the beginning of its hash, and what tells the content.
CHECKPOINT = re.compile(r"checkpoint-(\d+)(?:-([0-9a-f]{16}))?(?:-([0-9a-f]{16}))?\.npz")


class Checkpoint(NamedTuple):
    """A saved state of the ranking."""

    seq: int
    head: str  # how the hash of the event begins that it follows; empty: written before there were hashes
    seal: str  # of its content; empty: written before names told it
    path: Path

    def is_as_written(self, head: str) -> bool:
        """Whether the file holds what it did when it was written after the event with this hash."""
        try:
            return _seal(self.path, head) == self.seal
        except OSError:
            return False


class Workspace:
    """The files of one queue.

    >>> import tempfile
    >>> workspace = Workspace(Path(tempfile.mkdtemp()) / "claims.review").make()
    >>> workspace.name
    'claims'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def beside(cls, data: str) -> Workspace:
        """Where the queue of a data file lives unless told otherwise."""
        path = Path(data.rstrip("/*"))
        return cls(path.parent / f"{path.name.split('.')[0] or 'rows'}{SUFFIX}")

    @property
    def name(self) -> str:
        """What people call the queue."""
        return self.folder.name.removesuffix(SUFFIX)

    @property
    def exists(self) -> bool:
        """Whether a queue was made here; the log is the last thing that is written."""
        return self.has_log and (self.folder / "ready").exists()

    @property
    def has_log(self) -> bool:
        """Whether there is a log, or was to be one."""
        return self.log.exists() or self._elsewhere.exists()

    def check_exists(self) -> None:
        """Refuse a folder without a queue."""
        if self.has_log and not self.exists:
            raise DamagedError(
                f"the queue in {self.folder} is not complete: its file 'ready' is gone, or making it was cut short. "
                "If it was complete, put a file of that name back; else make the queue anew: shortlist review DATA"
            )
        if not self.exists:
            raise ReviewError(f"there is no queue in {self.folder}. Make one: shortlist review DATA")

    @property
    def log(self) -> Path:
        """The file of the log, where it is kept in one."""
        return self.folder / "log.sqlite"

    @property
    def place(self) -> Path | Remote:
        """Where the log of events is; all others hand this on to the store, which alone knows what is there."""
        try:
            told = json.loads(self._elsewhere.read_text())
            return Remote(os.environ.get(DATABASE) or str(told["url"]), str(told["queue"]), self.folder)
        except FileNotFoundError:
            return self.log
        except (ValueError, TypeError, KeyError):
            raise DamagedError(
                f"{self._elsewhere} does not tell where the log is. Put a copy of that file back."
            ) from None

    def keep_log_in(self, url: str, known_as: str | None = None) -> None:
        """Keep the log of a queue that is about to be made in a database; its password is not written down.

        ``known_as``: what the queue is called there; None: a new name, which no other queue has.
        """
        address_of(url)
        name = "".join(letter if letter.isalnum() else " " for letter in self.name)[:60]
        told = {"url": without_password(url), "queue": known_as or f"{name} {secrets.token_hex(8)}"}
        with atomic_path(self._elsewhere) as beside:
            beside.write_text(json.dumps(told))

    @property
    def _elsewhere(self) -> Path:
        return self.folder / "log.json"

    @property
    def space(self) -> Path:
        """The folder of the score space."""
        return self.folder / "space"

    @property
    def chances(self) -> Path:
        """What the model knew of its chances, where the score space was made from one that does."""
        return self.space / "chances.npz"

    @property
    def rows(self) -> Path:
        """The first rows."""
        return self.folder / "rows.parquet"

    @property
    def model(self) -> Path:
        """What was trained from the verdicts, where no other file was named."""
        return self.folder / "model.shortlist"

    @property
    def erasing(self) -> Path:
        """Files written anew without rows that are being erased."""
        return self.folder / ".erasing"

    @property
    def server(self) -> Path:
        """Where a running server says how to reach it."""
        return self.folder / "server.json"

    @property
    def libraries(self) -> Path:
        """The releases of libraries with which the queue was last seen to replay."""
        return self.folder / "libraries.json"

    def make(self) -> Workspace:
        """Make the folder; only its owner may look inside."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            probe = self.folder / f".{secrets.token_hex(4)}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise ReadOnlyError(
                f"the folder {self.folder} cannot be written ({error.strerror}). Name another with --workspace."
            ) from None
        return self

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """Make the folder; an error inside removes what has been put there since."""
        before = {*self.folder.iterdir()} if self.folder.is_dir() else None
        self.make()
        try:
            yield
        except BaseException:
            for path in {*self.folder.iterdir()} - (before or set()):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if before is None:
                self.folder.rmdir()
            raise

    def finish(self) -> None:
        """Say that the queue is complete: a crash before this leaves nothing to continue."""
        (self.folder / "ready").touch()
        for folder in (self.folder, self.folder.absolute().parent):
            sync_folder(folder)

    def write_rows(self, frame: pl.DataFrame, number: int) -> str:
        """Keep rows that arrive; returns the name of their file, which is never that of others."""
        name = f"rows-{number:06d}-{secrets.token_hex(4)}.parquet"
        write_table(frame, self.folder / name)
        return name

    def read_rows(self, name: str) -> pl.DataFrame:
        """Rows that were kept."""
        return pl.read_parquet(self.folder / name, glob=False)

    def checkpoints(self) -> list[Checkpoint]:
        """Saved states of the ranking, newest first."""
        named = ((CHECKPOINT.fullmatch(path.name), path) for path in self.folder.glob("checkpoint-*"))
        found = (Checkpoint(int(n[1]), n[2] or "", n[3] or "", path) for n, path in named if n)
        return sorted(found, reverse=True)

    @property
    def new_checkpoint(self) -> Path:
        """Where a state of the ranking is written; what is left there by a crash is written over."""
        return self.folder / ".checkpoint.npz"

    def name_checkpoint(self, seq: int, head: str) -> None:
        """Name what was just written by the event it follows, its hash and its content."""
        new = self.new_checkpoint
        new.replace(self.folder / f"checkpoint-{seq}-{head[:16]}-{_seal(new, head)}.npz")

    def drop_checkpoints(self, keep: int = 2) -> None:
        """Remove all but the newest."""
        for checkpoint in self.checkpoints()[keep:]:
            checkpoint.path.unlink(missing_ok=True)

    def secret(self) -> str:
        """The key that signs cookies; it outlives the server, so that a page survives a restart."""
        path = self.folder / "secret"
        if not path.exists():
            if not os.access(self.folder, os.W_OK):
                return secrets.token_urlsafe(32)  # for reading only, and only until the server stops
            with atomic_path(path) as beside, _private(beside) as file:
                file.write(secrets.token_urlsafe(32))
        secret = path.read_text(errors="replace")
        if not SECRET.fullmatch(secret):
            raise ReviewError(
                f"{path} is cut off or damaged, and with a secret that can be guessed anybody could forge a cookie. "
                "Remove that file and start again; reviewers then sign in anew."
            )
        return secret

    def announce(self, facts: dict[str, Any]) -> None:
        """Tell other commands of this user how to reach the server."""
        with atomic_path(self.server) as beside, _private(beside) as file:
            json.dump(facts, file)

    def running(self) -> dict[str, Any] | None:
        """How to reach the server that owns the queue; None if none runs.

        What a server that was killed has left is told by its process, which is gone: the lock may be held by the next
        one, which has not said yet where it is, and must not be kept from it by people who ask.
        """
        try:
            told = json.loads(self.server.read_text())
            return told if lives(told["pid"]) and not self.is_free() else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def is_free(self) -> bool:
        """Whether no server owns the queue."""
        try:
            lock = self.lock()
        except OSError:
            return True  # a folder that cannot be written has no owner
        if lock is None:
            return False
        lock.release()
        return True

    def lock(self, wait: float = 0.0) -> Lock | None:
        """Own the queue until the lock is released or the process ends; None if somebody else owns it.

        Whoever asks whether a queue is free holds it for a moment: an owner to be waits that long.
        """
        place, until = self.place, time.monotonic() + wait
        if isinstance(place, Path):
            return LockFile.take(self.folder, wait)
        while (lock := AdvisoryLock.take(place)) is None and time.monotonic() < until:
            time.sleep(0.05)
        return lock


def lives(process: int) -> bool:
    """Whether there is such a process; where it cannot be asked, it may be."""
    if os.name != "posix":
        return True  # elsewhere signal 0 is one that ends programs
    try:
        os.kill(process, 0)
    except PermissionError:
        return True  # it is somebody else's
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _seal(path: Path, head: str) -> str:
    """What tells the content of a file that belongs to an event with this hash."""
    return link(head, [sum_of(path)])[:16]


@contextlib.contextmanager
def _private(path: Path) -> Iterator[IO[str]]:
    """A new file that only its owner can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        yield file


def fingerprint(paths: Sequence[Path]) -> dict[str, Any]:
    """Tells whether data files are the ones a queue was made from."""
    sums = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            sums.update(hashlib.file_digest(file, "sha256").digest())
    return {"sha256": sums.hexdigest(), "files": len(paths), "bytes": sum(p.stat().st_size for p in paths)}
