"""What reading a table as a matrix costs beside polars' own reading of the same file.

Each pair is measured alternately in one run; the ratio is that of the best times.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shortlist.tables import Schema, read_batches, read_table, write_table
from studies.measure import Run, best_in_turn
from studies.running import study_parser, tell


def make_table(rows: int) -> pl.DataFrame:
    """Thirty columns: 24 numbers with gaps, 3 categories, 2 flags, 1 date."""
    rng = np.random.default_rng(0)
    numbers = {f"number_{i}": rng.normal(size=rows) for i in range(24)}
    words = {f"category_{i}": rng.integers(0, size, rows).astype(str) for i, size in enumerate((5, 50, 2000))}
    flags = {f"flag_{i}": rng.random(rows) < 0.3 for i in range(2)}
    day = pl.Series("day", rng.integers(18_000, 20_000, rows)).cast(pl.Date)
    frame = pl.DataFrame({**numbers, **words, **flags, "day": day})
    return frame.with_columns(
        pl.when(pl.col("number_0") > 0).then("number_1").alias("number_1"),
        pl.selectors.string().str.replace("^", "c"),
    )


def compare(name: str, ours: Run, peer: Run, repeats: int) -> dict[str, float | str]:
    mine, theirs = best_in_turn(ours, peer, repeats=repeats)
    seconds = {"seconds": mine.wall, "peer_seconds": theirs.wall}
    return {"what": name, **seconds, "ratio": mine.wall / theirs.wall}


def encode_for_rank(frame: pl.DataFrame) -> None:
    """All that ``shortlist rank`` encodes, here of a history and as many new rows."""
    schema = Schema.learn(frame)
    schema.encode(frame)
    schema.encode(frame)


def polars_numbers(frame: pl.DataFrame) -> np.ndarray:
    """The same table as numbers, by polars alone and without looking at them."""
    words = pl.selectors.string().cast(pl.Categorical).to_physical()
    return frame.with_columns(words, pl.selectors.date().to_physical()).cast(pl.Float32).to_numpy(order="c")


def run(rows: int, repeats: int, folder: Path) -> list[dict[str, float | str]]:
    frame, parquet, csv = make_table(rows), folder / "table.parquet", folder / "table.csv"
    write_table(frame, parquet)
    write_table(frame, csv)
    schema = Schema.learn(frame)
    numbers = frame.select(pl.selectors.float())
    plain = Schema.learn(numbers)
    return [
        compare(
            "Parquet to matrix / polars.read_parquet",
            lambda: schema.matrix(read_table(parquet)),
            lambda: pl.read_parquet(parquet),
            repeats,
        ),
        compare(
            "Parquet to matrix in batches / polars.read_parquet",
            lambda: [schema.matrix(batch) for batch in read_batches(parquet)],
            lambda: pl.read_parquet(parquet),
            repeats,
        ),
        compare(
            "numbers to matrix / polars cast and to_numpy",
            lambda: plain.matrix(numbers),
            lambda: numbers.cast(pl.Float32).to_numpy(order="c"),
            repeats,
        ),
        compare("CSV / polars.read_csv", lambda: read_table(csv), lambda: pl.read_csv(csv), repeats),
        compare(
            "rank's encoding, 300,000 + 300,000 rows / polars",  # 6.6 before numbers and notes came in one pass
            lambda: encode_for_rank(frame.head(300_000)),
            lambda: [polars_numbers(frame.head(300_000)) for _ in range(2)],
            repeats,
        ),
        compare(
            "learn schema / polars.read_parquet",
            lambda: Schema.learn(frame),
            lambda: pl.read_parquet(parquet),
            repeats,
        ),
    ]


def main(arguments: Sequence[str]) -> None:
    """Read and encode a table in each way."""
    options = study_parser(__name__, __doc__, "a tenth of the rows").parse_args(arguments)
    rows = 100_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        figures = run(rows, 3 if options.quick else 5, Path(folder))
    tell({"rows": rows, "columns": 30, "figures": figures}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"{found['rows']:,} rows x {found['columns']} columns")
    for each in found["figures"]:
        times = f"{each['seconds']:7.3f} / {each['peer_seconds']:7.3f}s = {each['ratio']:.2f}"
        print(f"{each['what']:<52} {times}")
