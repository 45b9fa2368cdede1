"""One process per stream."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shortlist.exceptions import InvalidInputError


@contextmanager
def only_one(state: Path) -> Iterator[None]:
    """Hold the stream of this state file; the system lets go of it when the process ends, however it ends."""
    if not state.parent.is_dir():
        raise InvalidInputError(f"there is no folder {state.parent} for the state; create it first.")
    with Path(f"{state}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidInputError(
                f"another process works on {state}; stop it first, or use another --state."
            ) from None
        yield
