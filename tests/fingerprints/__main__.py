"""Take all fingerprints, or compare them with earlier ones."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

# The order in which threads add up would be part of the fingerprint; threads that wait must not keep a core busy.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive", COLUMNS="100", TZ="UTC")

from . import commands, learning, measures, rankers, review
from .digest import digest

PARTS = {
    "measures": measures,
    "rankers": rankers,
    "learning": learning,
    "commands": commands,
    "review": review,
}


def take(parts: list[str], jobs: int) -> dict[str, str]:
    """Every fingerprint by its name, in a folder of its own."""
    taken: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in parts:
            for name, value in PARTS[part].lines(jobs):
                assert name not in taken, f"two results are called {name}"
                taken[name] = digest(value)
    return dict(sorted(taken.items()))


def compare(now: dict[str, str], then: dict[str, str]) -> list[str]:
    """What differs, is gone, or is new."""
    changed = [f"differs {name}" for name in now if name in then and now[name] != then[name]]
    gone = [f"gone    {name}" for name in then if name not in now]
    return [*changed, *gone, *(f"new     {name}" for name in now if name not in then)]


def main() -> None:
    """Print one line per result, or what differs."""
    parser = argparse.ArgumentParser(prog="fingerprints", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument("--jobs", type=int, default=1, help="threads; they must change nothing")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS], help="take only these")
    parser.add_argument("--against", type=Path, help="compare with what was printed before")
    asked = parser.parse_args()
    earlier = None if asked.against is None else _read(asked.against)
    now = take(asked.parts, asked.jobs)
    if earlier is None:
        print(json.dumps(now, indent=1) if asked.json else "\n".join(f"{k} {v}" for k, v in now.items()))
        return
    differing = compare(now, earlier)
    print("\n".join([*differing, f"{len(now)} fingerprints, {len(differing)} differ"]))
    sys.exit(bool(differing))


def _read(path: Path) -> dict[str, str]:
    text = path.read_text()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    return dict(line.split(" ") for line in text.splitlines() if line)


if __name__ == "__main__":
    main()
