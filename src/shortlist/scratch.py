"""Temporary folders for what does not fit into memory; that one has no room is told in a sentence."""

from __future__ import annotations

import errno
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polars.exceptions import PolarsError

from shortlist.exceptions import TooLargeError


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone afterwards.

    >>> with scratch_folder() as folder:
    ...     _ = (folder / "rows").write_bytes(b"some")
    >>> folder.exists()
    False
    """
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        try:
            yield Path(folder)
        except (OSError, PolarsError) as error:
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            if not full and not re.search("No space left on device|quota exceeded", str(error)):
                raise
            raise _no_room("is full") from None


def check_room(folder: Path, needed: float) -> None:
    """Refuse to begin what a temporary folder has no room for: some libraries end the whole program then.

    >>> with scratch_folder() as folder:
    ...     check_room(folder, 10**18)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TooLargeError: the folder for temporary files, ..., has room for ... MB, ...
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise _no_room(f"has room for {free / 1e6:,.0f} MB, and {needed / 1e6:,.0f} MB may be needed")


def _no_room(why: str) -> TooLargeError:
    return TooLargeError(
        f"the folder for temporary files, {tempfile.gettempdir()}, {why}. Make room there, or name a larger one: "
        "TMPDIR=/path/to/folder"
    )
