"""Memory and time as a table grows, on one machine and on two; what that comes to at 10 billion rows.

* Growth: scoring and training batch by batch, beside all rows at once and bare XGBoost, on Parquet files of float32
  columns. Every figure is of a process of its own: seconds of the processor, and the largest size that Linux saw.
  Only the smallest size is also done with all rows at once.
* Rounds: which part of a round the gradient takes; two Dask processes beside one on the same rows; bytes that go round.
* Model: lines fitted to the growth, their error on the sizes that were run, and what they say of 10 billion rows.

Runs are kept and gone on with: each is a line of the file of runs, and what it holds is not run again. ``--figure``
draws the growth from what is kept.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from studies.measure import apart
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell
from studies.speed import scale_rounds, scale_works
from studies.speed.scale_model import capacity, draw_growth
from studies.speed.scale_works import AT_ONCE, BY_BATCH, COLUMNS, estimate, make, make_model

PARTS = ("growth", "rounds")
#: A run: what it is called, and the function that measures it, with its arguments.
Work = tuple[str, Callable[..., Any], tuple[Any, ...]]


def growth_works(folder: Path, n_rows: int, *, at_once: bool, learned: int) -> Iterator[Work]:
    """What is measured of one size; rows and the model that scores them are made when they are first needed."""
    rows, model = str(folder / str(n_rows)), str(folder / f"model{learned}.shortlist")
    fresh = str(folder / "fresh")
    for what, work in (BY_BATCH | AT_ONCE if at_once else BY_BATCH).items():
        yield what, _prepared, (work.__name__, rows, n_rows, model, learned, fresh)


def _prepared(work: str, rows: str, n_rows: int, model: str, learned: int, fresh: str) -> dict[str, Any]:
    for folder, size, first in ((rows, n_rows, 0), (fresh, learned, 10_000)):
        make(folder, size, first)
    if not Path(model).exists():
        apart(make_model, model, learned)
    found = apart(getattr(scale_works, work), rows, model, fresh)
    return {"rows": n_rows, "columns": COLUMNS, **found, **estimate(work, rows)}


def round_works(n_rows: int, rounds: int) -> Iterator[Work]:
    """What is measured of rounds."""
    yield "gradient", apart, (scale_rounds.gradient_share, n_rows, rounds)
    for loss in ("mix", "ap_exp"):
        yield f"one process, {loss}", apart, (scale_rounds.one_process, loss, 2 * n_rows, rounds)
        yield f"two processes, {loss}", apart, (scale_rounds.two_processes, loss, 2 * n_rows, rounds)


def run(works: Sequence[Work], kept: Path) -> list[dict[str, Any]]:
    """The figures of all works; those that are kept are not measured again."""
    for what, measure, given in works:
        key = f"{what}, {_sizes(given)}"
        if key not in {each["key"] for each in read_runs(kept)}:
            append_runs(kept, [{"key": key, "what": what, **measure(*given), **_circumstances()}])
    return read_runs(kept)


def _sizes(given: Sequence[Any]) -> str:
    return " ".join(str(each) for each in given if isinstance(each, int))


def _circumstances() -> dict[str, Any]:
    return {"load average": round(os.getloadavg()[0], 1), "date": datetime.now(UTC).date().isoformat()}


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """All that is known, with the model of it."""
    tidy = [{name: value for name, value in each.items() if name != "key"} for each in runs]
    growth = sorted((each for each in tidy if "columns" in each), key=lambda each: each["rows"])
    rounds = {each["what"]: each for each in tidy if "columns" not in each}
    return {"growth": growth, "rounds": rounds, "model": capacity(growth, rounds)}


def show(found: dict[str, Any]) -> None:
    for row in found["growth"]:
        estimated = f", estimated {row['estimated mb']:,} MB" if "estimated mb" in row else ""
        print(f"{row['what']:<24} {row['rows']:>12,} rows: {row['cpu']:8.1f} s, {row['mb']:6,} MB{estimated}")
    for part in ("rounds", "model"):
        for name, values in found[part].items():
            print(f"{name}: {values}")


def main(arguments: list[str] | None = None) -> None:
    parser = study_parser(__name__, __doc__, quick="20,000 and 40,000 rows")
    in_pieces(parser)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 20_000_000])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--dask", action="store_const", dest="parts", const=["rounds"], help="--parts rounds")
    parser.add_argument("--data", type=Path, help="folder of the rows, kept for another run (default: none)")
    parser.add_argument("--figure", type=Path, help="draw the growth into this SVG file")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="shortlist-scale-") as folder:
        kept = (
            Path(folder) / "runs"
            if options.quick and options.results is None
            else runs_file(options, __name__)
        )
        runs = run([*_works(options, options.data or Path(folder))], kept)
    found = summary(runs)
    if options.figure is not None:
        draw_growth(found, options.figure)
    tell(found, options.json, show)


def _works(options: Any, folder: Path) -> Iterator[Work]:
    sizes, learned = ([20_000, 40_000], 3_000) if options.quick else (sorted(options.rows), 20_000)
    if "growth" in options.parts:
        for n_rows in sizes:
            yield from growth_works(folder, n_rows, at_once=n_rows == sizes[0], learned=learned)
    if "rounds" in options.parts:
        yield from round_works(10_000 if options.quick else 200_000, 3 if options.quick else 30)
