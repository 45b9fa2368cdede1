"""What it costs to open a review: how much of it goes into proving that no file and no event was changed.

CPU seconds of opening a queue of many rows and some verdicts, of the sums of its files (SHA-256) and of the chain of
hashes over its log, which are part of it, and of reading the same files and nothing else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist.review import Queue, Workspace, create
from shortlist.review.log.chain import sums_of
from shortlist.review.log.store import Store
from shortlist.verdicts import Verdict
from studies.measure import best_in_turn
from studies.running import study_parser, tell

VERDICTS, REPEATS = 100, 3


def make_review(place: Path, n_rows: int) -> Path:
    """A review of rows with ten columns, in which some verdicts were given."""
    values = np.random.default_rng(0).standard_normal((n_rows, 10)).round(3)
    data, folder = place / "rows.parquet", place / "rows.review"
    pl.DataFrame(values, [f"x{i}" for i in range(10)]).with_row_index("id").write_parquet(data)
    create(str(data), Workspace(folder), id="id", settings={"budget": None})
    queue = Queue.open(folder)
    turn = queue.turn("ann").result()
    for number in range(VERDICTS):
        said = Verdict.WANTED if number % 3 == 0 else Verdict.NOT_WANTED
        turn = queue.record("ann", turn.shown or 0, said).result()
    queue.close()
    return folder


def check_chain(folder: Path) -> None:
    """Follow the chain over the log."""
    with closing(Store.open(folder / "log.sqlite", read_only=True)) as store:
        assert list(store.faults(1)) == []


def read_all(folder: Path) -> int:
    """Read every byte of a folder."""
    return sum(len(path.read_bytes()) for path in folder.rglob("*") if path.is_file())


def main(arguments: Sequence[str]) -> None:
    """Open one review a few times."""
    parser = study_parser(__name__, __doc__, "20,000 rows")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    n_rows = 20_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory() as place:
        folder = make_review(Path(place), n_rows)
        opened, sums, chain, read = best_in_turn(
            lambda: Queue.open(folder).close(),
            lambda: sums_of(folder),
            lambda: check_chain(folder),
            lambda: read_all(folder),
            repeats=REPEATS,
        )
        size = read_all(folder)
    found = {"rows": n_rows, "verdicts": VERDICTS, "bytes": size, "open": opened.cpu, "sums": sums.cpu}
    tell({**found, "chain": chain.cpu, "read": read.cpu}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(
        f"a review of {found['rows']:,} rows, {found['verdicts']} verdicts, {found['bytes']:,} bytes; CPU seconds"
    )
    for name in ("open", "sums", "chain", "read"):
        print(f"{name:8} {found[name]:.3f}  {found[name] / found['open']:.0%} of opening")
