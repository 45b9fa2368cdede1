"""A review damaged in every way, and what each command says of it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

from shortlist.cli._app import main
from shortlist.exceptions import ShortlistError
from shortlist.review import Queue

HOW = ("flipped", "cut", "empty", "gone", "replaced")
#: What a log holds, but for how often it has changed hands, which nothing rests on.
HELD = {
    "events": "*",
    "people": "*",
    "queues": "id, name, created, fixed, files, unchained, seq, head",
    "alembic_version": "*",
}


def damage(path: Path, how: str, rng: random.Random) -> None:
    """Damage a file."""
    content = bytearray(path.read_bytes())
    match how:
        case "gone":
            path.unlink()
            return
        case "flipped" if content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case "cut":
            content = content[: len(content) * 2 // 3]
        case "empty":
            content = bytearray()
        case "replaced":
            content = bytearray(b"something else altogether")
    path.write_bytes(content)


def run(*arguments: object) -> tuple[int, str, str]:
    """The program, as a user calls it."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["shortlist", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def open_queue(folder: Path) -> tuple[int, str, str]:
    """The queue as a server opens it: its ranking, if it also has a next row."""
    try:
        queue = Queue.open(folder)
    except ShortlistError as error:
        return 2, "", str(error)
    try:
        digest = queue.digest().result()
        queue.turn("ann").result()
        return 0, digest, ""
    except ShortlistError as error:
        return 2, "", str(error)
    finally:
        queue.close()


def held(log: Path) -> str | None:
    """What the tables of a log hold; None where they cannot be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"{log.as_uri()}?mode=ro&immutable=1", uri=True)) as tool:
            return repr(
                [tool.execute(f"select {names} from {table}").fetchall() for table, names in HELD.items()]
            )
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def ask(folder: Path) -> dict[str, tuple[int, str, str]]:
    """What each command says of a queue; the last one writes to it."""
    return {
        "replay": run("replay", folder),
        "export": run("export", folder, "--json"),
        "open": open_queue(folder),
    }


def every_cell(whole: Path, flips: int, log_flips: int) -> list[tuple[str, str]]:
    """Each file with each damage; flips are many, as what they do depends on where they are."""
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    ways = {name: ["flipped"] * (log_flips if name == "log.sqlite" else flips) + [*HOW[1:]] for name in names}
    return [(name, how) for name in names for how in ways[name]]


def try_all(whole: Path, cells: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What each command says of the whole queue, and of each damage."""
    rng, found, place = random.Random(0), [], whole.with_name("damaged.review")
    for name, how in [("", ""), *cells]:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        if name:
            damage(place / name, how, rng)
        same = held(place / "log.sqlite") == held(whole / "log.sqlite")
        said = ask(place)
        found += [{"file": name, "how": how, "ask": each, "said": said[each], "same": same} for each in said]
    return {"whole": {each["ask"]: each["said"] for each in found[:3]}, "damaged": found[3:]}


def wrong(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Answers that are neither a sentence with the exit code that is due nor the very same verdicts and ranking."""
    whole = told["whole"]
    return [each for each in told["damaged"] if not _is_right(each, whole["export"][1], whole["open"][1])]


def _is_right(each: dict[str, Any], export: str, digest: str) -> bool:
    code, out, err = each["said"]
    if code not in allowed(each["file"], each["how"], each["ask"], same=each["same"]):
        return False
    if re.search(r"Traceback|Panic|\w+Error|a fault in", out + err):
        return False
    if code:
        return len((out + err).split()) > 8 and (code != 1 or "CHANGED: " in out)
    if each["ask"] == "export":
        return bool(json.loads(out) == json.loads(export))
    return each["ask"] != "open" or out == digest


def allowed(file: str, how: str, ask: str, *, same: bool) -> tuple[int, ...]:
    """The exit codes that a command may have: 2 for what it cannot use, 1 for a proof that does not hold.

    ``same``: whether the tables of the log hold what they held; a flip in a part that is not used is no damage.
    """
    if file == "log.sqlite":
        refused = (1, 2) if ask == "replay" else (2,)
        return (0, *refused) if how == "flipped" and same else refused
    if file.startswith(("rows", "space/")):
        return (1,) if ask == "replay" else (2,)
    if file == "ready":
        return (2,) if how == "gone" else (0,)
    if file.startswith("checkpoint-"):
        return (1,) if ask == "replay" and how != "gone" else (0,)
    if file == "log.end":
        return (0, 1) if ask == "replay" else (0, 2)
    return (0,)


def write_told(whole: str, cells: Iterable[tuple[str, str]], target: str) -> None:
    """Try some cells, and write what was said to a file."""
    Path(target).write_text(json.dumps(try_all(Path(whole), cells)))
