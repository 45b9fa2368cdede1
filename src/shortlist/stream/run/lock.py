"""One process per stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from shortlist.exceptions import InvalidInputError


@contextmanager
def only_one(state: Path) -> Iterator[None]:
    """Hold the stream of this state file; the system lets go of it when the process ends, however it ends."""
    if not state.parent.is_dir():
        raise InvalidInputError(f"there is no folder {state.parent} for the state; create it first.")
    lock = Path(f"{state}.lock")
    try:
        with FileLock(lock, timeout=0):
            try:
                yield
            finally:
                if not state.exists():  # a stream that did not begin leaves nothing behind
                    with suppress(OSError):  # some systems keep a file that is open
                        lock.unlink()
    except Timeout:
        raise InvalidInputError(
            f"another process works on {state}; stop it first, or use another --state."
        ) from None
