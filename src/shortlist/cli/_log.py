"""``--quiet`` and ``--log``: what a command that nobody watches says, and where it is kept."""

from __future__ import annotations

import datetime as dt
import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

import shortlist
from shortlist.exceptions import InvalidInputError

Quiet = Annotated[
    bool, typer.Option("--quiet", help="Say nothing but the result and errors: no notes, no progress.")
]
Log = Annotated[
    Path | None,
    typer.Option(
        "--log", metavar="FILE", help="Add a line to this file for all that is said, with the time."
    ),
]


class _Speech:
    """How the command that runs speaks."""

    quiet = False
    file: Path | None = None
    began = 0.0


def speak(quiet: bool, file: Path | None) -> None:
    """Begin a command: what it says goes to the file, too, if one is named."""
    _Speech.quiet, _Speech.file, _Speech.began = quiet, None, time.monotonic()
    if file is not None:
        from shortlist.tables.io.paths import named_path
        from shortlist.tables.io.sql import hide_password

        if not named_path(file).parent.is_dir():
            raise InvalidInputError(f"there is no folder {file.parent} for the log; create it first.")
        _Speech.file = named_path(file)
        words = map(hide_password, sys.argv[1:])
        log("begin", f"shortlist {shortlist.__version__}: {shlex.join(words)}")


def is_quiet() -> bool:
    """Whether only results and errors are to be said."""
    return _Speech.quiet


def log(kind: str, message: str) -> None:
    """Add a line to the log, if there is one; a message of several lines becomes one."""
    if _Speech.file is None:
        return
    moment = dt.datetime.now().astimezone().isoformat(timespec="seconds")
    try:
        with _Speech.file.open("a", encoding="utf-8") as file:
            file.write(f"{moment} {kind}: {' '.join(message.split())}\n")
    except OSError as error:
        where, _Speech.file = _Speech.file, None
        raise InvalidInputError(f"cannot write the log {where}: {error.strerror}.") from None


def log_end(code: int) -> None:
    """Add the line that says how a command ended and how long it took."""
    log("end", f"exit code {code} after {time.monotonic() - _Speech.began:.1f} s")
    _Speech.file = None
