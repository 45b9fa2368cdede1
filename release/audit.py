"""Whether what is installed is what was locked, fits, may be passed on, and nothing is known against it.

Advisories are read from a copy of the OSV database for PyPI (the folder of JSON files that osv.dev offers as an
archive), named with ``--advisories``: nothing is asked of the network. Without one the audit says that it did not look.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from release.packages import Package, closure

LOCK = Path(__file__).parents[1] / "requirements" / "run.txt"


def problems(found: dict[str, Package], lock: str) -> Iterator[str]:
    """What keeps these packages from being a release."""
    pinned = _pinned(lock)
    for each in found.values():
        if each.name == "shortlist":
            continue
        if each.name not in pinned:
            yield f"{each.name} is installed and not in the lock file: make lock"
        elif each.version not in pinned[each.name]:
            yield f"{each.name} is {each.version}, locked is {' or '.join(sorted(pinned[each.name]))}"
        if not each.is_permissive:
            yield f"{each.name}: licence {each.licence!r} is not known to be permissive; read it"
    for each in found.values():
        yield from _misfits(each)


def _pinned(lock: str) -> dict[str, set[str]]:
    pinned: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[.*?\])?==([^\s;\\]+)", lock, re.MULTILINE):
        pinned.setdefault(canonicalize_name(name), set()).add(version)
    return pinned


def _misfits(package: Package) -> Iterator[str]:
    for line in metadata.requires(package.name) or ():
        need = Requirement(line)
        if need.marker is not None and not need.marker.evaluate({"extra": ""}):
            continue
        try:
            there = metadata.version(need.name)
        except metadata.PackageNotFoundError:
            yield f"{package.name} needs {need.name}, which is not installed"
            continue
        if not need.specifier.contains(there, prereleases=True):
            yield f"{package.name} needs {need.name}{need.specifier}, installed is {there}"


def advisories(found: dict[str, Package], folder: Path) -> Iterator[str]:
    """What a copy of the OSV database knows of these very versions."""
    for path in sorted(folder.glob("*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        if entry.get("withdrawn"):
            continue
        for affected in entry.get("affected", ()):
            name = canonicalize_name(affected.get("package", {}).get("name", ""))
            if name in found and _is_affected(found[name].version, affected):
                yield f"{name} {found[name].version}: {entry['id']} {entry.get('summary', '')}".rstrip()
                break


def _is_affected(version: str, affected: dict) -> bool:
    if version in affected.get("versions", ()):
        return True
    spans = (each for each in affected.get("ranges", ()) if each.get("type") == "ECOSYSTEM")
    return any(_within(Version(version), each["events"]) for each in spans)


def _within(version: Version, events: list[dict[str, str]]) -> bool:
    """Whether the last event at or before a version brought the fault in."""
    bad = False
    for event in events:
        ((kind, at),) = event.items()
        since = Version(at if at != "0" else "0.dev0")
        if kind == "introduced" and version >= since:
            bad = True
        elif (kind == "fixed" and version >= since) or (kind == "last_affected" and version > since):
            bad = False
    return bad


def main(arguments: Sequence[str] = ()) -> None:
    """Print what is wrong, and exit with 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m release audit", description=__doc__)
    parser.add_argument("--advisories", type=Path, help="folder with a copy of the OSV database for PyPI")
    options = parser.parse_args(arguments)
    found = closure()
    wrong = [*problems(found, LOCK.read_text(encoding="utf-8"))]
    if options.advisories:
        wrong += advisories(found, options.advisories)
    else:
        print("advisories were not looked at: name a copy of the database with --advisories")
    print(*wrong, sep="\n")
    print(f"{len(found)} packages, {len(wrong)} to look at")
    sys.exit(bool(wrong))
