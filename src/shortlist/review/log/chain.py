"""What makes the log provable: each event carries a hash of itself and of all before it.

These functions never change: the hashes of logs that exist were made by them. They take what is stored, to the letter,
and not the objects made from it; so an event that gets a new field later leaves the hashes of older ones alone.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def text_of(value: Any) -> str:
    """A value as the text that is stored and hashed.

    >>> text_of({"row": 3, "note": "seen"})
    '{"row":3,"note":"seen"}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def link(before: str, line: Sequence[Any]) -> str:
    """The hash of a line of the log, given that of the line before it.

    >>> first = link("", [1, "a"])
    >>> link(first, [2, "b"]) == link(first, [2, "b"]), link(first, [2, "b"]) == link("", [2, "b"])
    (True, False)
    """
    return hashlib.sha256(f"{before}\n{text_of(list(line))}".encode()).hexdigest()


def mark_of(salt: str, name: str) -> str:
    """What stands for a person in the chain: once name and salt are erased, nobody can tell whose it was.

    >>> mark_of("salt", "ann") == mark_of("salt", "bob")
    False
    """
    return link("person", [salt, name])


def seal_of(salt: str, words: str) -> str:
    """What stands in the chain for what was written or shown of a row: once it is erased, nobody can guess it.

    >>> seal_of("salt", "seen") == seal_of("pepper", "seen")
    False
    """
    return link("words", [salt, words])


def new_salt() -> str:
    """A salt that nobody can guess."""
    return secrets.token_hex(16)


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums_of(folder: Path) -> dict[str, str]:
    """The sums of the files of a workspace that never change: rows, and where their scores come from.

    >>> sums_of(Path("nowhere"))
    {}
    """
    paths = sorted([*folder.glob("rows*.parquet"), *folder.glob("space/*.np[yz]")])
    return {path.relative_to(folder).as_posix(): sum_of(path) for path in paths}
