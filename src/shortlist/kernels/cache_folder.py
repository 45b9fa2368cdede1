"""Where compiled kernels are kept: a folder per version of everything that they are made from."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np

from shortlist.places import user_cache

log = logging.getLogger("shortlist")

_KERNELS = Path(__file__).parent
_SOURCES = sorted(_KERNELS.rglob("*.py"))
_DAY = 24 * 60 * 60
#: A folder that no program has opened for so long is removed.
_KEPT = 30 * _DAY
#: What numba can be told by its environment about the code that it makes; the CPU is part of each kernel's key.
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK")
_said: list[str] = []


def usable_folder() -> Path | None:
    """The folder of this version; None where kernels are not kept, for a reason that is said once."""
    folder = _opened()
    if folder is not None and _stamps() != _IMPORTED:
        say_once("the package has changed since this program started, which should be started anew")
        return None
    return folder


def make_folder(folder: Path) -> bool:
    """Make the folder, and the one that holds it, for this user alone; tells whether it is new."""
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def say_once(reason: str) -> None:
    """Tell why compiled kernels are not kept, the first time that it matters."""
    if not _said:
        _said.append(reason)
        log.warning("compiled kernels are not kept, and each program compiles them anew: %s.", reason)


def version() -> str:
    """A name for all that decides what the code of a kernel is, but its CPU.

    A kernel contains those that it calls, wherever they are, so that each source counts for all kernels.
    """
    parts = [sys.version, numba.__version__, llvmlite.__version__, np.__version__]
    parts += [f"{name}={getattr(numba.config, name, None)}" for name in _SETTINGS]
    if not _SOURCES:
        raise FileNotFoundError(f"there are no sources in {_KERNELS}")
    for path in _SOURCES:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        parts.append(f"{path.relative_to(_KERNELS).as_posix()} {digest}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


@cache
def _opened() -> Path | None:
    """Find, make and check the folder."""
    try:
        folder = _root() / "shortlist-kernels" / version()
        new = make_folder(folder)
        reason = _distrust(folder.parent) or _distrust(folder)
    except (OSError, RuntimeError) as problem:
        reason = f"{problem}. Set NUMBA_CACHE_DIR to a folder that can be written to"
    if reason:
        say_once(reason)
        return None
    if new:
        remove_unused(folder.parent)
    else:
        _mark_as_used(folder)
    return folder


def _root() -> Path:
    """Numba's cache directory if one is set, and otherwise that of the user."""
    return Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else user_cache()


def _distrust(folder: Path) -> str | None:
    """Why code in this folder is not run: somebody else could have put it there."""
    if not hasattr(os, "geteuid"):  # Windows keeps a user's folders apart by itself
        return None
    status = folder.stat()
    if status.st_uid not in {0, os.geteuid()}:
        return f"{folder} belongs to another user. Set NUMBA_CACHE_DIR to a folder of your own"
    if status.st_mode & 0o022:
        return f"others can write to {folder}. Take that right from them: chmod go-w {folder}"
    return None


def remove_unused(home: Path) -> None:
    """Remove the folders of versions that nobody has used for long; another process may do the same."""
    for folder in home.iterdir():
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


def _mark_as_used(folder: Path) -> None:
    """Once a day is enough. Where only loading is allowed, its owner must see to it."""
    with suppress(OSError):
        if time.time() - folder.stat().st_mtime > _DAY:
            os.utime(folder)


def _stamps() -> list[tuple[int, int, int]]:
    """What tells an edited or replaced source from the one that was imported, without reading it."""
    with suppress(OSError):
        return [(each.st_ino, each.st_mtime_ns, each.st_size) for each in map(os.stat, _SOURCES)]
    return []


# Kernel modules import this one first, so that each of them was read as it is here or later.
_IMPORTED = _stamps()
