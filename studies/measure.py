"""The one way to measure: seconds of processor and clock, memory, and work done in a process of its own.

Time of the processor is that of all threads of this process; other programs on the machine count little. Memory is
what Linux says of the process in ``/proc``. ``getrusage`` is no help: a process inherits the largest size of whatever
started it, so that a small child of a large study looks as large as the study.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Run = Callable[[], object]


@dataclass(frozen=True)
class Spent:
    """Seconds that something took."""

    cpu: float
    wall: float


def spent(run: Run) -> Spent:
    """Seconds of all threads of this process, and by the clock."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


def cpu_seconds(run: Run) -> float:
    """Seconds of all threads of this process."""
    return spent(run).cpu


def best_in_turn(*runs: Run, repeats: int) -> list[Spent]:
    """The smallest times of each, taken in turns so that a busy machine slows all of them alike."""
    times = [[spent(run) for run in runs] for _ in range(repeats)]
    each = zip(*times, strict=True)
    return [Spent(min(one.cpu for one in found), min(one.wall for one in found)) for found in each]


def peak_mb() -> float:
    """The most memory that this process has held since it began."""
    return _status("VmHWM")


def held_mb() -> float:
    """The memory that this process holds now."""
    return _status("VmRSS")


def _status(what: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a study gives in a process of its own, so that peaks of memory do not mix.

    Arguments and result pass as JSON.
    """
    place = f"{function.__module__}:{function.__name__}"
    command = [sys.executable, "-m", __name__, place, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def _main(place: str, arguments: str) -> None:
    module, name = place.split(":")
    print(json.dumps(getattr(import_module(module), name)(*json.loads(arguments))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
