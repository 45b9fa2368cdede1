"""Where the log ends, told in a small file beside it: an end that is cut off is missed."""

from __future__ import annotations

import contextlib
import zlib
from pathlib import Path

from shortlist.tables.io.write import sync


def tell_end(log: Path, seq: int, head: str) -> None:
    """Say that the log ends with this event and its hash.

    It is written over what was there once the log is on disk, and not waited for: after a power cut it may be old, and
    never ahead of the log.
    """
    path = _beside(log)
    with contextlib.suppress(OSError):
        try:
            file = path.open("r+b", buffering=0)
        except FileNotFoundError:
            path.write_text(_line(0, ""))
            sync(path)
            file = path.open("r+b", buffering=0)
        with file:
            file.write(_line(seq, head).encode())


def told_end(log: Path) -> dict[int, str]:
    """The event and its hash; nothing where nothing was told, or where a power cut has torn it.

    >>> told_end(Path("nowhere.sqlite"))
    {}
    """
    try:
        line = _beside(log).read_text(encoding="ascii", errors="replace")
        seq, head, _ = line.split()
        return {int(seq): head} if line == _line(int(seq), head) else {}
    except (OSError, ValueError):
        return {}


def forget_end(log: Path) -> None:
    """Forget what was told of a log that is made anew."""
    _beside(log).unlink(missing_ok=True)


def _beside(log: Path) -> Path:
    return log.with_suffix(".end")


def _line(seq: int, head: str) -> str:
    """Always as long as any other, with a sum that tells whether it is whole."""
    told = f"{seq:>20} {head:>64}"
    return f"{told} {zlib.crc32(told.encode()):08x}\n"
