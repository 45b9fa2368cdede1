"""What people write for a file: home folders, links and pipes, and why something cannot be read or written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Literal

from shortlist.exceptions import TableError
from shortlist.tables.roles import did_you_mean

Kind = Literal["file", "folder", "pipe", "device", "circle of links", "locked", "nothing"]
#: Systems take 255 bytes; a file is written under a somewhat longer name first.
LONGEST_NAME = 230
_FAULTS: dict[int | None, Kind] = {errno.ELOOP: "circle of links", errno.EACCES: "locked"}


def named_path(name: str | Path) -> Path:
    """A path as it was written, with ~ as the home folder that it stands for.

    >>> named_path("claims.csv").name
    'claims.csv'
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        user = Path(name).parts[0]
        raise TableError(
            f"{name}: there is no user {user[1:]!r} with a home folder; write the folder out, or ./{user} for a folder "
            "of that name."
        ) from None


def kind_of(path: Path) -> Kind:
    """What a path leads to, over links; asking never fails.

    >>> kind_of(Path("/")), kind_of(Path("no such file"))
    ('folder', 'nothing')
    """
    try:
        mode = path.stat().st_mode
    except ValueError:  # a name that no system takes
        return "nothing"
    except OSError as error:
        return _FAULTS.get(error.errno, "nothing")
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "device"


def is_pipe(source: object) -> bool:
    """Whether a source is a pipe with a name, such as a shell makes of <(...): it can be read once only."""
    named = isinstance(source, str | Path) and "://" not in str(source)
    return named and kind_of(named_path(str(source))) == "pipe"


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, over links of any kind."""
    return kind_of(one) == kind_of(other) == "file" and one.samefile(other)


def no_file(path: Path) -> TableError:
    """Why nothing can be read at a path, and what may have been meant."""
    kind = kind_of(path)
    if kind == "circle of links":
        return TableError(f"{path} is a link that leads back to itself; make it anew.")
    if kind == "locked":
        return TableError(f"{path} may not be read; ask its owner, or copy it to where you may.")
    if kind != "nothing":
        return TableError(f"{path} is a {kind}, not a file; give a file.")
    if os.path.lexists(path):
        return TableError(f"{path} is a link to {path.readlink()}, where there is no file; make it anew.")
    return TableError(f"there is no file {path}.{_close_files(path)}")


def place_to_write(target: str | Path) -> Path:
    """Where a file that is written comes to lie: links are followed, and stay. Refused where none can be written."""
    path = named_path(target)
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise TableError(f"{path.name[:40]}... is too long for the name of a file; choose a shorter one.")
    kind = kind_of(path)
    if kind == "folder":
        raise TableError(f"{path} is a folder; give the name of a file in it.")
    if kind not in ("file", "nothing"):
        raise no_file(path)
    place = path.resolve() if path.is_symlink() else path
    if kind_of(place.parent) != "folder":
        raise TableError(f"there is no folder {place.parent} to write {place.name} into; create it first.")
    if not os.access(place.parent, os.W_OK):
        raise TableError(
            f"the folder {place.parent} may not be written to; choose another, or ask its owner."
        )
    return place


def _close_files(path: Path) -> str:
    if kind_of(path.parent) != "folder":
        return f" Nor is there a folder {path.parent}."
    try:
        names = [each.name for each in path.parent.iterdir()]
    except OSError:  # it may be entered, not looked through
        return ""
    return did_you_mean(path.name, names)
