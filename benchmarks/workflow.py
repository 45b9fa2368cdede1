"""What train and score cost beside the bare model: one million rows of thirty columns, from Parquet.

score: reading, checking, encoding, scoring, drift and reasons, up to the written shortlist; the peer reads the same
file with polars and lets the fitted model predict the encoded matrix, nothing else. train: all of ``shortlist.train``
on 20,000 rows that are read and encoded; the peer is the ranker's own fit. Pairs are measured alternately in one run,
in CPU seconds of the process, and the ratio is that of the best times. Memory is the rise of the peak over what the
process held before, in a process of its own, as a multiple of the table as float64 numbers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from shortlist.models.training import train_on
from shortlist.rankers.catalogue import RankerOptions, find_model
from shortlist.tables import Roles, load_table, read_table, write_table
from shortlist.workflow import score

MODEL = "ap-boost"
TRAINING_ROWS = 20_000
LIMITS = {"score": 2.0, "train": 1.2, "memory": 3.0}


def make_table(rows: int) -> pl.DataFrame:
    """Thirty columns, 27 of them numbers (two with gaps) and 3 categories, and a label that some of them explain."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"number_{i}": rng.normal(size=rows) for i in range(27)}).with_columns(
        *(
            pl.Series(f"category_{i}", rng.integers(0, n, rows)).cast(pl.String) + "c"
            for i, n in enumerate((5, 20, 200))
        ),
    )
    frame = frame.with_columns(
        pl.when(pl.col("number_3") > -1).then(f"number_{i}").alias(f"number_{i}") for i in (1, 2)
    )
    risk = 2 * rng.normal(size=rows) + (frame["number_0"] * frame["number_5"]).to_numpy()
    return frame.with_columns(fraud=pl.Series(risk > np.quantile(risk, 0.97)))


def alternate(ours: Callable[[], object], peer: Callable[[], object], repeats: int) -> dict[str, float]:
    best = {ours: np.inf, peer: np.inf}
    for _ in range(repeats):
        for call in (peer, ours):
            start = time.process_time()
            call()
            best[call] = min(best[call], time.process_time() - start)
    return {"cpu_seconds": best[ours], "peer_cpu_seconds": best[peer], "ratio": best[ours] / best[peer]}


def run(rows: int, repeats: int, folder: Path) -> list[dict[str, object]]:
    frame, new = make_table(rows), folder / "new.parquet"
    write_table(frame.drop("fraud"), new)
    history = load_table(frame.head(TRAINING_ROWS), Roles(label="fraud"))
    options = RankerOptions(budget=50, n_jobs=1)
    model = train_on(history, MODEL, options)
    model.save(folder / "model")
    matrix = model.schema.matrix(read_table(new))
    entry = find_model(MODEL)

    def bare_score() -> None:
        pl.read_parquet(new)
        model.ranker.decision_function(matrix)

    def our_score() -> None:
        write_table(score(folder / "model", new).frame, folder / "top.csv")

    figures = [
        {"what": "score", **alternate(our_score, bare_score, repeats)},
        {
            "what": "train",
            **alternate(
                lambda: train_on(history, MODEL, options),
                lambda: entry.make(options).fit(history.features, history.wanted),
                repeats,
            ),
        },
        {"what": "memory", "ratio": memory(folder / "model", new) / (rows * 30 * 8)},
    ]
    return [{**each, "limit": LIMITS[str(each["what"])]} for each in figures]


MEASURE = """
import sys
from shortlist.workflow import TrainedModel
def held(what):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(what))
model = TrainedModel.load(sys.argv[1])
before = held("VmRSS")
model.score(sys.argv[2])
print(held("VmHWM") - before)
"""


def memory(model: Path, new: Path) -> int:
    """Bytes by which the peak of a fresh process exceeds what it held before scoring (Linux)."""
    command = [sys.executable, "-c", MEASURE, str(model), str(new)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    arguments = parser.parse_args()
    rows = 100_000 if arguments.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        figures = run(rows, 1 if arguments.quick else 2, Path(folder))
    if arguments.json:
        print(json.dumps({"rows": rows, "columns": 30, "model": MODEL, "figures": figures}))
        return
    print(f"{rows:,} rows x 30 columns, {MODEL}")
    for each in figures:
        seconds = (
            f"{each['cpu_seconds']:.2f} / {each['peer_cpu_seconds']:.2f} s" if "cpu_seconds" in each else ""
        )
        print(f"{each['what']:<8} {each['ratio']:.2f} (at most {each['limit']}) {seconds}")


if __name__ == "__main__":
    main()
