"""What the program costs before it does anything: CPU seconds of fresh processes.

``shortlist --help`` (bar: .3 s), ``shortlist score`` of 300 claims by a boosted model that was trained here (bar: 2 s),
and the same for a stranger's model, which a child process opens first, once. Beside them, in turns, what Python takes
to import the libraries that a trained model rests on, and nothing else: ``score`` loads less of them than that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from shortlist.datasets import make_claims
from shortlist.workflow import train
from studies.running import study_parser, tell
from studies.speed.model_files import of_child

PROGRAM = (sys.executable, "-m", "shortlist")
LIBRARIES = "import numpy, polars, sklearn.base, xgboost, typer"
BARS = {"help": 0.3, "score": 2.0}


def make_files(folder: Path) -> None:
    """A model and 300 rows for it."""
    train(make_claims(2_000, random_state=0), label="fraud", id="claim_id", budget=20).save(
        folder / "m.shortlist"
    )
    make_claims(300, random_state=1).drop("fraud").write_csv(folder / "new.csv")


def call(folder: Path, *command: str, cache: str = "cache") -> None:
    """Run it in a process of its own, which remembers in ``cache`` what it knows of model files."""
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / cache)}
    subprocess.run(
        command, check=True, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def runs(folder: Path) -> dict[str, Callable[[], None]]:
    """What is measured, by name."""
    score = (*PROGRAM, "score", "m.shortlist", "new.csv", "-o", "top.csv", "--replace")
    fresh = iter(range(1_000))
    return {
        "help": lambda: call(folder, *PROGRAM, "--help"),
        "score": lambda: call(folder, *score),
        "score, a stranger's model": lambda: call(folder, *score, cache=f"cache {next(fresh)}"),
        "the libraries alone": lambda: call(folder, sys.executable, "-c", LIBRARIES),
    }


def main(arguments: Sequence[str]) -> None:
    """The least of several runs, taken in turns."""
    options = study_parser(__name__, __doc__, "2 runs of each instead of 10").parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_files(folder)
        asked = runs(folder)
        for run in asked.values():  # compiled files are made, and files of the system read
            run()
        times = [
            {name: of_child(run) for name, run in asked.items()} for _ in range(2 if options.quick else 10)
        ]
    found = {name: round(min(each[name] for each in times), 3) for name in asked}
    tell({"cpu seconds": found, "bars": BARS}, options.json, show)


def show(found: dict[str, Any]) -> None:
    for name, seconds in found["cpu seconds"].items():
        bar = f"   bar {BARS[name]}" if name in BARS else ""
        print(f"{name:30} {seconds:.2f}{bar}")
