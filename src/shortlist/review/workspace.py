"""The folder of a queue: its rows, its score space, its log, its lock, and the keys of its server."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import polars as pl

from shortlist.review.errors import ReadOnlyError, ReviewError
from shortlist.tables import write_table
from shortlist.tables.io.write import atomic_path

try:
    import fcntl
except ImportError:  # pragma: no cover  Windows has no fcntl
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".review"


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
        return self.log.exists() and (self.folder / "ready").exists()

    def check_exists(self) -> None:
        """Refuse a folder without a queue."""
        if not self.exists:
            raise ReviewError(f"there is no queue in {self.folder}. Make one: shortlist review DATA")

    @property
    def log(self) -> Path:
        """Where the log of events is; all others hand this on to the store, which alone knows what is there."""
        return self.folder / "log.sqlite"

    @property
    def space(self) -> Path:
        """The folder of the score space."""
        return self.folder / "space"

    @property
    def rows(self) -> Path:
        """The first rows."""
        return self.folder / "rows.parquet"

    @property
    def server(self) -> Path:
        """Where a running server says how to reach it."""
        return self.folder / "server.json"

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

    def write_rows(self, frame: pl.DataFrame, number: int) -> str:
        """Keep rows that arrive; returns the name of their file."""
        name = f"rows-{number:06d}.parquet"
        write_table(frame, self.folder / name)
        return name

    def read_rows(self, name: str) -> pl.DataFrame:
        """Rows that were kept."""
        return pl.read_parquet(self.folder / name, glob=False)

    def checkpoints(self) -> list[tuple[int, Path]]:
        """Saved states of the ranking and the events they follow, newest first."""
        found = self.folder.glob("checkpoint-*.npz")
        return sorted(((int(path.stem.split("-")[1]), path) for path in found), reverse=True)

    def checkpoint(self, seq: int) -> Path:
        """The file of the state after an event."""
        return self.folder / f"checkpoint-{seq}.npz"

    def drop_checkpoints(self, keep: int = 2) -> None:
        """Remove all but the newest."""
        for _, path in self.checkpoints()[keep:]:
            path.unlink(missing_ok=True)

    def secret(self) -> str:
        """The key that signs cookies; it outlives the server, so that a page survives a restart."""
        path = self.folder / "secret"
        if not path.exists():
            if not os.access(self.folder, os.W_OK):
                return secrets.token_urlsafe(32)  # for reading only, and only until the server stops
            with contextlib.suppress(FileExistsError), _private(path) as file:
                file.write(secrets.token_urlsafe(32))
        return path.read_text()

    def announce(self, facts: dict[str, Any]) -> None:
        """Tell other commands of this user how to reach the server."""
        with atomic_path(self.server) as beside, _private(beside) as file:
            json.dump(facts, file)

    def running(self) -> dict[str, Any] | None:
        """How to reach the server that owns the queue; None if none runs."""
        if self.is_free():
            return None
        try:
            return json.loads(self.server.read_text())
        except (OSError, ValueError):
            return None

    def is_free(self) -> bool:
        """Whether no server owns the queue."""
        try:
            lock = self.lock()
        except OSError:
            return True  # a folder that cannot be written has no owner
        if lock is None:
            return False
        lock.close()
        return True

    def lock(self) -> IO[str] | None:
        """Own the queue until the file is closed or the process ends; None if somebody else owns it."""
        file = (self.folder / "lock").open("a+")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file


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
