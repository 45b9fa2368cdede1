"""Training from a table that does not fit into memory.

Rows are read batch by batch: to learn what the columns are, for the outcomes, and into bins that XGBoost keeps on disk.
Outcomes, lists, margins and gradients stay in memory; ``studies.speed.scale`` measures how much that is.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import ShortlistError
from shortlist.rankers.boosting.trees.bins import CUT_ROWS, cut_sample, feature_types
from shortlist.tables import Roles, Schema, read_batches, scan_table
from shortlist.tables.columns.values import blanked
from shortlist.tables.io.readable import readable
from shortlist.tables.label import wanted_rows
from shortlist.tables.row_keys import keys_of_ids
from shortlist.tables.table import RowFacts, read_facts


def read_outcomes(
    source: Any, roles: Roles, wanted: Any = None, *, batch_rows: int = 100_000
) -> tuple[RowFacts, Schema]:
    """All that training needs beside the features, and their schema."""
    table = scan_table(source)
    # What is left out here is not learned from; any other role is.
    used = replace(roles, id=None, time=None, ignore=(), category=())
    with readable(str(source) if isinstance(source, str | Path) else "the table"):
        names = table.collect_schema().names()
        schema = Schema.learn_by_batch(read_batches(source, batch_rows=batch_rows), names, roles)
        facts = _facts(table, used, wanted, batch_rows)
        keys = None if roles.id is None else _keys(table, roles.id, batch_rows)
    # Nobody asks what rows on disk are called, only by what they are drawn: one name for all saves 8 bytes a row.
    nameless = np.broadcast_to(np.int64(0), facts.ids.shape)
    return replace(facts, ids=nameless, keys=keys), schema


def _keys(table: pl.LazyFrame, column: str, batch_rows: int) -> NDArray[np.uint64]:
    """What names each row, as ``read_facts`` has it."""
    batches = read_batches(table.select(column), batch_rows=batch_rows)
    return np.concatenate([keys_of_ids(batch.to_series()) for batch in batches])


def _facts(table: pl.LazyFrame, roles: Roles, wanted: Any, batch_rows: int) -> RowFacts:
    """What is known of the rows; the label becomes flags batch by batch: at once it would take much more memory."""
    roles.check(table.collect_schema().names())
    beside = [name for name in roles.names if name != roles.label]
    read = table.select(beside).collect(engine="streaming") if beside else pl.DataFrame()
    known = [*blanked(read, roles.missing).iter_columns()]
    if roles.label is not None:
        label = pl.col(roles.label)
        values = table.select(label.unique()).collect(engine="streaming").to_series()
        try:
            flags = wanted_rows(blanked(values.to_frame(), roles.missing).to_series(), wanted)
        except ShortlistError:  # told below, with the number of rows
            read_facts(blanked(table.select(roles.names).collect(), roles.missing), roles, wanted=wanted)
            raise
        is_wanted = label.replace_strict(values, pl.Series(flags), return_dtype=pl.Boolean)
        batches = read_batches(table.select(label), batch_rows=batch_rows)
        flagged = [batch.select(is_wanted).to_series().to_numpy() for batch in batches]
        known.append(pl.Series(roles.label, np.concatenate(flagged)))
    return read_facts(pl.DataFrame(known), roles)


def boost_from_disk(
    source: Any,
    schema: Schema,
    grow: Callable[[xgb.DMatrix], tuple[xgb.Booster, NDArray[np.float32]]],
    *,
    n_rows: int,
    batch_rows: int,
    max_bin: int,
    n_jobs: int | None,
    keys: NDArray[np.uint64],
) -> tuple[xgb.Booster, NDArray[np.float32]]:
    """What ``grow`` makes of the features in bins: a model, and margins; the bins' folder is removed afterwards."""

    def rows() -> Iterator[NDArray]:
        return (schema.matrix(batch) for batch in read_batches(source, batch_rows=batch_rows))

    def inside(folder: Path) -> tuple[xgb.Booster, NDArray[np.float32]]:
        types = feature_types(schema.categorical)
        bins = {"max_bin": max_bin, "nthread": n_jobs, "enable_categorical": True}
        cuts = None
        if n_rows > CUT_ROWS:
            cuts = xgb.QuantileDMatrix(
                cut_sample(rows(), n_rows, schema.categorical, keys), feature_types=types, **bins
            )
        try:
            matrix = xgb.ExtMemQuantileDMatrix(_Batches(rows, types, folder), ref=cuts, **bins)
        except _Stopped as stopped:
            raise stopped.by from None
        # A copy, because the booster holds on to the matrix it was trained on, and that to its files.
        booster, margin = grow(matrix)
        return booster.copy(), margin

    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder:
        return inside(Path(folder))


class _Stopped(Exception):
    """Ctrl-C or SIGTERM while XGBoost asked for rows: of what is no ``Exception`` it hears nothing."""

    def __init__(self, by: BaseException) -> None:
        super().__init__()
        self.by = by


class _Batches(xgb.DataIter):
    """Rows as XGBoost asks for them: again and again from the start."""

    def __init__(self, read: Callable[[], Iterator[NDArray]], types: list[str], folder: Path) -> None:
        self.read, self.types = read, types
        self.rows = read()
        super().__init__(cache_prefix=str(folder / "bins"))

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over the next batch; False when there is none."""
        try:
            batch = next(self.rows, None)
        except (KeyboardInterrupt, SystemExit) as stop:
            raise _Stopped(stop) from None
        if batch is None:
            return False
        input_data(data=batch, feature_types=self.types)
        return True

    def reset(self) -> None:
        """Begin again."""
        self.rows = self.read()
