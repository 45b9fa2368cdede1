"""Build the wheel and the source archive, install each into an empty environment, and run what the README begins with.

pip takes what the package needs from wherever it is set up to.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from release.results import ROOT
from shortlist import __version__


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the source archive of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder / f"shortlist-{__version__}-py3-none-any.whl", folder / f"shortlist-{__version__}.tar.gz"


def install(python: str, what: Path, folder: Path) -> Path:
    """An empty environment with one archive in it; the folder of its programs."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    command = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]
    subprocess.run(command, check=True, capture_output=True)
    return programs


def clean() -> dict[str, str]:
    """The environment of somebody who has none of our folders on the path."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def begin(programs: Path, folder: Path) -> None:
    """``shortlist demo``, and a review that is opened and stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    program = programs / "shortlist"
    subprocess.run([program, "demo"], cwd=folder, check=True, capture_output=True, env=clean())
    lines = (folder / "demo" / "shortlist.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 51, f"{len(lines)} lines of a shortlist of 50"
    asked = ["review", "demo/new.csv", "--id", "claim_id", "--no-browser", "--json"]
    with subprocess.Popen(
        [program, *asked], cwd=folder, stdout=subprocess.PIPE, text=True, env=clean()
    ) as server:
        assert server.stdout is not None
        try:
            told = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")
            # Once it answers, it heeds signals, too.
            with browser().open(told["url"], timeout=300) as answer:
                assert b"<html" in answer.read(), told
            server.send_signal(signal.SIGINT)
            server.wait(60)
        finally:
            server.kill()


def browser() -> urllib.request.OpenerDirector:
    """Somebody who keeps cookies, as the page wants it, and asks no proxy."""
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), urllib.request.ProxyHandler({}))


def find(version: str) -> str | None:
    """A Python of that version, if one is here."""
    found = subprocess.run(
        [ROOT / ".ci" / "find-python", version], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def main(arguments: Sequence[str] = ()) -> None:
    """Build, and try each archive."""
    parser = argparse.ArgumentParser(prog="python -m release package", description=__doc__)
    parser.add_argument(
        "pythons", nargs="*", help="versions to try, such as 3.12 (default: the one that runs)"
    )
    options = parser.parse_args(arguments)
    wheel, source = build(ROOT / "dist")
    for archive in (wheel, source):
        print(f"built {archive.name} ({archive.stat().st_size / 1e6:.1f} MB)")
    pythons = {each: find(each) for each in options.pythons} or {"this one": sys.executable}
    with tempfile.TemporaryDirectory() as place:
        for number, (name, python) in enumerate(pythons.items()):
            if python is None:
                print(f"Python {name} is not here: not tried")
                continue
            # One of them from source, which is what packagers of systems do.
            what = source if number == 0 else wheel
            start = time.monotonic()
            programs = install(python, what, Path(place, f"env-{number}"))
            begin(programs, Path(place, f"home-{number}"))
            print(
                f"Python {name}: {what.name} installed, demo and review ran, {time.monotonic() - start:.0f} s"
            )
