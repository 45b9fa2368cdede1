"""The public data sets that the papers used, read from a folder of Parquet files where one is at hand."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shortlist.exceptions import TableError
from studies.measure import ROOT

#: What to do where a set is missing.
HOW = "Set SHORTLIST_DATA to the folder that holds the sets of the papers, or try `python -m studies data get NAME`."
#: Columns that hold labels or describe the sampling; never features.
NOT_FEATURES = ("y", "list", "cluster", "orig_label", "sample")


@dataclass(frozen=True, eq=False)
class PaperSet:
    """One data set: features, what is known of each row, and its list where rows come in lists."""

    name: str
    X: Any  # a polars frame, or a CSR matrix for the sparse set
    y: NDArray
    groups: NDArray | None
    frame: pl.DataFrame | None  # all columns, features and others


def data_folder() -> Path:
    """The folder with the sets: ``$SHORTLIST_DATA``, ``shared/data`` beside the checkout, or one of the user's own."""
    beside_the_checkout = ROOT.parent / "shared" / "data"
    own = Path.home() / ".cache" / "shortlist" / "data"
    named = os.environ.get("SHORTLIST_DATA")
    return Path(named) if named else beside_the_checkout if beside_the_checkout.is_dir() else own


def paper_sets() -> pl.DataFrame:
    """One row per available set: name, paper, rows, features, positives, ... (empty where there are none)."""
    manifest = data_folder() / "manifest.csv"
    return pl.read_csv(manifest) if manifest.is_file() else pl.DataFrame()


def load_paper_set(name: str) -> PaperSet:
    """Read one set by its name in the manifest."""
    path = set_file(name)
    return _read_sparse(name, path) if path.suffix == ".npz" else _read_dense(name, path)


def set_file(name: str) -> Path:
    """The file of a set."""
    for path in (data_folder() / f"{name}.parquet", data_folder() / f"{name}.npz"):
        if path.is_file():
            return path
    raise TableError(f"no data set {name!r} in {data_folder()}. {HOW}")


def checksum(name: str) -> str:
    """SHA-256 of the file of a set."""
    return _sum(set_file(name))


@cache
def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def need(names: Iterable[str]) -> None:
    """Say in one sentence which sets are not here, and how to get them."""
    missing = [name for name in sorted(names) if not is_here(name)]
    if missing:
        raise TableError(f"no data set {', '.join(map(repr, missing))} in {data_folder()}. {HOW}")


def is_here(name: str) -> bool:
    """Whether the folder has a set."""
    return any((data_folder() / f"{name}.{ending}").is_file() for ending in ("parquet", "npz"))


def _read_dense(name: str, path: Path) -> PaperSet:
    frame = pl.read_parquet(path)
    groups = frame["list"].to_numpy() if "list" in frame.columns else None
    return PaperSet(name, frame.drop(NOT_FEATURES, strict=False), frame["y"].to_numpy(), groups, frame)


def _read_sparse(name: str, path: Path) -> PaperSet:
    with np.load(path, allow_pickle=False) as arrays:
        indices, indptr, shape, y = (arrays[key] for key in ("indices", "indptr", "shape", "y"))
    X = csr_matrix((np.ones(indices.size, dtype=np.float32), indices, indptr), shape=tuple(shape))
    return PaperSet(name, X, (y > 0).astype(np.int8), None, None)
