"""A queue damaged in every way, run in a process of its own: python -m tests.review.damage FOLDER, told as JSON."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import random
import shutil
import sys
from pathlib import Path
from unittest import mock

from shortlist.cli._app import main
from shortlist.exceptions import ShortlistError
from shortlist.review import Queue

HOW = ("flipped", "cut", "empty", "gone", "replaced")


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
    """The queue as a server opens it, and the next row."""
    try:
        queue = Queue.open(folder)
    except ShortlistError as error:
        return 2, "", str(error)
    try:
        return 0, str(queue.turn("ann").result().row), ""
    except ShortlistError as error:
        return 2, "", str(error)
    finally:
        queue.close()


def try_all(whole: Path, place: Path, flips: int) -> list[dict[str, object]]:
    """What each command says of each damage."""
    rng, found = random.Random(0), []
    names = sorted(path.relative_to(whole).as_posix() for path in whole.rglob("*") if path.is_file())
    ways = [*(("flipped",) * flips), *HOW[1:]]
    for name, how in itertools.product(names, ways):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        damage(place / name, how, rng)
        told = {
            "replay": run("replay", place),
            "export": run("export", place, "--json"),
            "open": open_queue(place),
        }
        found += [{"file": name, "how": how, "ask": ask, "said": said} for ask, said in told.items()]
    return found


if __name__ == "__main__":
    source = Path(sys.argv[1])
    target = source.with_name("damaged.review")
    undamaged = {"replay": run("replay", source), "export": run("export", source, "--json")}
    print(json.dumps({"whole": undamaged, "damaged": try_all(source, target, int(sys.argv[2]))}))
