"""What train and score cost beside the bare model: one million rows of thirty columns, from Parquet.

score: reading, checking, encoding, scoring, drift and reasons, up to the written shortlist; the peer reads the same
file with polars and lets the fitted model predict the encoded matrix, nothing else. train: all of ``shortlist.train``
on 20,000 rows that are read and encoded; the peer is the ranker's own fit. Pairs are measured alternately in one run,
in CPU seconds of the process, and the ratio is that of the best times. Memory is the rise of the peak over what the
process held before, in a process of its own, as a multiple of the table as float64 numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist.models import TrainedModel
from shortlist.models.training import train_on
from shortlist.rankers.catalogue import RankerOptions, find_model
from shortlist.tables import Roles, load_table, read_table, write_table
from shortlist.workflow import score
from studies.measure import Run, apart, best_in_turn, held_mb, peak_mb
from studies.running import study_parser, tell

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


def alternate(ours: Run, peer: Run, repeats: int) -> dict[str, float]:
    theirs, mine = best_in_turn(peer, ours, repeats=repeats)
    return {"cpu_seconds": mine.cpu, "peer_cpu_seconds": theirs.cpu, "ratio": mine.cpu / theirs.cpu}


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
        {
            "what": "memory",
            "ratio": apart(score_rise_mb, str(folder / "model"), str(new)) * 2**20 / (rows * 30 * 8),
        },
    ]
    return [{**each, "limit": LIMITS[str(each["what"])]} for each in figures]


def score_rise_mb(model: str, new: str) -> float:
    """By how much the peak of this process exceeds what it held before scoring."""
    trained = TrainedModel.load(model)
    before = held_mb()
    trained.score(new)
    return peak_mb() - before


def main(arguments: Sequence[str]) -> None:
    """Train, score, and the memory of scoring."""
    options = study_parser(__name__, __doc__, "a tenth of the rows").parse_args(arguments)
    rows = 100_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        figures = run(rows, 1 if options.quick else 2, Path(folder))
    tell({"rows": rows, "columns": 30, "model": MODEL, "figures": figures}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"{found['rows']:,} rows x {found['columns']} columns, {found['model']}")
    for each in found["figures"]:
        seconds = (
            f"{each['cpu_seconds']:.2f} / {each['peer_cpu_seconds']:.2f} s" if "cpu_seconds" in each else ""
        )
        print(f"{each['what']:<8} {each['ratio']:.2f} (at most {each['limit']}) {seconds}")
