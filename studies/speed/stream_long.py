"""Ten thousand windows in one stream: whether a step stays as quick, and its state as small, as they were.

Labels come back for every window, as fast as they are asked for. After every tenth of the windows: the processor's time
and the clock per window (of writing files, mostly), and the sizes of the state, which is written at each step, and of
the file of steps, which is added to. Over the second half a line is drawn through each (Theil and Sen's); what grows
along it by more than 20 % makes the exit code 1, but for the file of steps.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist.stream import ActiveRanker
from shortlist.stream.run.folder import StreamFolder
from shortlist.stream.run.returned import ReturnedLabels
from shortlist.stream.run.sources import LineWindows
from shortlist.stream.run.stream_run import StreamRun
from shortlist.tables import Roles, write_table
from studies.running import study_parser, tell
from studies.speed.review_long import MOST_GROWTH, growth

COLUMNS, WINDOW_ROWS, BUDGET = 5, 50, 5


def open_run(folder: Path, n_windows: int) -> StreamRun:
    """A stream of standard input whose labels are all in one file."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_windows * WINDOW_ROWS, COLUMNS))
    rows = pl.DataFrame(X, schema=[f"x{i}" for i in range(COLUMNS)])
    rows = rows.with_columns(id=pl.format("r{}", pl.int_range(pl.len())))
    write_table(
        rows.select("id", wanted=pl.Series(X[:, 0] + X[:, 1] > 2.5).cast(int)), folder / "answers.parquet"
    )
    return StreamRun(
        ActiveRanker(BUDGET, random_state=0),
        LineWindows(io.StringIO(rows.write_ndjson()), folder / "lines", window_rows=WINDOW_ROWS),
        state=folder / "state",
        folder=StreamFolder(folder / "out"),
        roles=Roles(id="id"),
        labels=ReturnedLabels(folder / "answers.parquet", "id"),
        say=lambda _: None,
    )


def measure(n_windows: int) -> dict[str, Any]:
    """The steps of a stream, by tenths of its windows."""
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder), n_windows)
        tenths = [_tenth(run, Path(folder), n_windows // 10) for _ in range(10)]
    half = tenths[5:]
    grown = {f"{name} grows by %": round(growth([each[name] for each in half]), 1) for name in half[0]}
    return {"windows": n_windows, "rows": WINDOW_ROWS, "tenths": tenths, **grown}


def _tenth(run: StreamRun, folder: Path, n: int) -> dict[str, float]:
    cpu, began, until = time.process_time(), time.perf_counter(), len(run.windows) + n
    while len(run.windows) < until or run.ledger.asked:
        run.step()
    return {
        "cpu_ms": 1000 * (time.process_time() - cpu) / n,
        "ms": 1000 * (time.perf_counter() - began) / n,
        "state_kb": (folder / "state").stat().st_size / 1000,
        "steps_kb": (folder / "state.log").stat().st_size / 1000,
    }


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    parser = study_parser(__name__, __doc__, "100 windows")
    parser.add_argument("--windows", type=int, default=10_000)
    options = parser.parse_args(arguments)
    found = measure(100 if options.quick else options.windows)
    tell(found, options.json, show)
    # Of so few windows as in the quick form nothing follows.
    grown = [found[f"{name} grows by %"] > MOST_GROWTH for name in ("cpu_ms", "ms", "state_kb")]
    sys.exit(1 if any(grown) and not options.quick else 0)


def show(result: dict[str, Any]) -> None:
    for number, tenth in enumerate(result["tenths"], 1):
        told = "  ".join(f"{name} {value:8.1f}" for name, value in tenth.items())
        print(f"{number * result['windows'] // 10:>7,} windows  {told}")
    for name, value in result.items():
        if name != "tenths":
            print(f"{name:24} {value}")
