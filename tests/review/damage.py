"""A queue damaged in every way, in a process of its own: python -m tests.review.damage FOLDER FLIPS LOG_FLIPS."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
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


def try_all(whole: Path, cells: Iterable[tuple[str, str]]) -> dict[str, object]:
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


def tell(whole: str, cells: Iterable[tuple[str, str]], target: str) -> None:
    """Try some cells, and write what was said to a file."""
    Path(target).write_text(json.dumps(try_all(Path(whole), cells)))


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(json.dumps(try_all(source, every_cell(source, *map(int, sys.argv[2:4])))))
