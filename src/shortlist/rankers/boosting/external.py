"""Training from a table that does not fit into memory.

Rows are read batch by batch: to learn what the columns are, for the outcomes, and into bins that XGBoost keeps on disk.
Outcomes, lists, margins and gradients stay in memory; ``studies.speed.scale`` measures how much that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import ShortlistError, TableError
from shortlist.rankers.boosting.trees.bins import CUT_ROWS, cut_sample, feature_types
from shortlist.scratch import check_room, scratch_folder
from shortlist.tables import Encoded, Roles, Schema, scan_table
from shortlist.tables.batches import row_batches
from shortlist.tables.columns.values import blanked
from shortlist.tables.io.readable import readable
from shortlist.tables.label import wanted_rows
from shortlist.tables.row_keys import keys_of_ids
from shortlist.tables.table import RowFacts, read_facts

#: Told the number of the first row of a batch, from 0, and the batch.
OnBatch = Callable[[int, pl.DataFrame], object]
#: Told how many more rows were read.
OnRows = Callable[[int], object]


def read_outcomes(
    source: Any,
    roles: Roles,
    wanted: Any = None,
    *,
    batch_rows: int = 100_000,
    on_batch: OnBatch = lambda start, batch: None,
) -> tuple[RowFacts, Schema]:
    """All that training needs beside the features, and their schema, from one walk through the rows.

    on_batch : called with the number of a batch's first row, from 0, and the batch
    """
    table = scan_table(source)
    with readable(str(source) if isinstance(source, str | Path) else "the table"):
        names = table.collect_schema().names()
        roles.check(names)
        outcomes = _Outcomes(roles)

        def batches() -> Iterator[pl.DataFrame]:
            start = 0
            for batch in row_batches(source, batch_rows):
                outcomes.add(batch)
                on_batch(start, batch)
                start += batch.height
                yield batch

        schema = Schema.learn_by_batch(batches(), names, roles)
        return outcomes.facts(wanted), schema


class _Outcomes:
    """What columns with a role say of rows that go by, without their ids: nobody asks what rows on disk are called."""

    def __init__(self, roles: Roles) -> None:
        # What is left out here is not learned from; any other role is.
        self.roles = replace(roles, id=None, time=None, ignore=(), category=())
        self.id, self.label = roles.id, _Codes()
        self._keys: list[NDArray[np.uint64]] = []
        self._beside: list[pl.DataFrame] = []

    def add(self, batch: pl.DataFrame) -> None:
        """Take in some rows."""
        known = blanked(batch.select(self.roles.names), self.roles.missing)
        if self.roles.label is not None:
            self.label.add(known[self.roles.label])
            known = known.drop(self.roles.label)
        self._beside.append(known)
        if self.id is not None:
            self._keys.append(keys_of_ids(batch[self.id]))

    def facts(self, wanted: Any) -> RowFacts:
        """What is known of all rows, as ``read_facts`` has it of rows in memory."""
        columns = [*pl.concat(self._beside, how="vertical_relaxed").iter_columns()]
        self._beside.clear()
        keys = np.concatenate(self._keys) if self._keys else None
        self._keys.clear()
        if self.roles.label is not None:
            try:
                flags = self.label.mapped(lambda labels: pl.Series(labels.name, wanted_rows(labels, wanted)))
            except ShortlistError:  # told with the number of rows, and with what else is wrong
                labels = self.label.mapped(lambda values: values)
                read_facts(pl.DataFrame([*columns, labels]), self.roles, wanted=wanted)
                raise
            columns.append(flags)
        facts = read_facts(pl.DataFrame(columns), self.roles)
        # One name for all rows saves 8 bytes for each.
        return replace(facts, ids=np.broadcast_to(np.int64(0), facts.ids.shape), keys=keys)


class _Codes:
    """A column of few different values, of which each row keeps the number: of a label, a byte."""

    def __init__(self) -> None:
        self.values: pl.Series | None = None
        self._codes: list[NDArray] = []

    def add(self, column: pl.Series) -> None:
        """Take in some rows."""
        fresh = column.unique(maintain_order=True).to_frame()
        known = (
            fresh
            if self.values is None
            else pl.concat([self.values.to_frame(), fresh], how="vertical_relaxed")
        )
        self.values = known.to_series().unique(maintain_order=True)
        codes = pl.Series(np.arange(len(self.values), dtype=np.min_scalar_type(len(self.values))))
        self._codes.append(column.replace_strict(self.values, codes).to_numpy())

    def mapped(self, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
        """The column in which each value is what ``change`` makes of the different ones."""
        assert self.values is not None  # a table without rows is refused before
        return change(self.values).gather(np.concatenate(self._codes))


def numbers_of(
    source: Any, schema: Schema, n_rows: int, batch_rows: int, on_rows: OnRows = lambda n_rows: None
) -> Encoded:
    """The features of all rows in memory, without the rows as they were read."""
    matrix = np.empty((n_rows, len(schema.columns)), dtype=np.float32)
    first = 0
    for rows in _Rows(source, schema, n_rows, batch_rows, on_rows):
        matrix[first : first + rows.shape[0]] = rows
        first += rows.shape[0]
    return Encoded(matrix, schema)


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
    on_rows: OnRows,
) -> tuple[xgb.Booster, NDArray[np.float32]]:
    """What ``grow`` makes of the features in bins: a model, and margins; the bins' folder is removed afterwards."""
    rows, types = _Rows(source, schema, n_rows, batch_rows, on_rows), feature_types(schema.categorical)
    bins = {"max_bin": max_bin, "nthread": n_jobs, "enable_categorical": True}

    def cuts() -> xgb.QuantileDMatrix | None:
        if n_rows <= CUT_ROWS:
            return None
        return xgb.QuantileDMatrix(
            cut_sample(rows.looked_at(), n_rows, schema.categorical, keys), feature_types=types, **bins
        )

    def inside(folder: Path) -> tuple[xgb.Booster, NDArray[np.float32]]:
        ref = cuts()
        check_room(folder, bytes_of_bins(schema, n_rows, batch_rows, max_bin, has_gaps=rows.have_gaps))
        try:
            matrix = xgb.ExtMemQuantileDMatrix(_Batches(rows, types, folder), ref=ref, **bins)
        except _Stopped as stopped:
            raise stopped.by from None
        # A copy, because the booster holds on to the matrix it was trained on, and that to its files.
        booster, margin = grow(matrix)
        return booster.copy(), margin

    with scratch_folder() as folder:
        return inside(folder)


def bytes_of_bins(schema: Schema, n_rows: int, batch_rows: int, max_bin: int, *, has_gaps: bool) -> int:
    """The most that bins take on disk: a cell twice, by rows and by columns, and the cuts of all columns in each page.

    Without gaps the bins of a column count from 0, with some those of all columns do.

    >>> one = Schema.learn(pl.DataFrame({"amount": [1.5, 2.5]}))
    >>> [bytes_of_bins(one, 1_000_000, 100_000, bins, has_gaps=False) // 1_000_000 for bins in (256, 512)]
    [18, 20]
    """
    features = schema.feature_of_column
    bins = [len(feature.categories) if feature.kind == "category" else max_bin for feature in features]
    cell = 1 if max(bins) <= 2**8 else 2 if max(bins) <= 2**16 else 4
    pages = 2 * (n_rows // batch_rows + 1)  # files and what is read ahead end pages, too
    return n_rows * (len(bins) * (cell + (4 if has_gaps else cell)) + 16) + pages * sum(bins) * 12


class _Rows:
    """The rows of a table as numbers, some at a time, as often as they are asked for."""

    def __init__(self, source: Any, schema: Schema, n_rows: int, batch_rows: int, on_rows: OnRows) -> None:
        self.source, self.schema, self.n_rows = source, schema, n_rows
        self.batch_rows, self.on_rows = batch_rows, on_rows
        self.have_gaps = True  # while nobody has looked

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        n_seen = 0
        for batch in row_batches(self.source, self.batch_rows):
            n_seen += batch.height
            if n_seen > self.n_rows:
                break
            yield self.schema.matrix(batch)
            self.on_rows(batch.height)
        if n_seen != self.n_rows:
            raise TableError(
                f"the table had {self.n_rows:,} rows when it was read first and has others now: train again, and let "
                "nobody write to it meanwhile."
            )

    def looked_at(self) -> Iterator[NDArray[np.float32]]:
        """The same, and whether any is missing is known afterwards."""
        gaps = False
        for rows in self:
            gaps = gaps or bool(np.isnan(rows).any())
            yield rows
        self.have_gaps = gaps


class _Stopped(Exception):
    """Ctrl-C or SIGTERM while XGBoost asked for rows: of what is no ``Exception`` it hears nothing."""

    def __init__(self, by: BaseException) -> None:
        super().__init__()
        self.by = by


class _Batches(xgb.DataIter):
    """Rows as XGBoost asks for them: again and again from the start."""

    def __init__(self, rows: _Rows, types: list[str], folder: Path) -> None:
        self.all, self.types = rows, types
        self.rows = iter(rows)
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
        self.rows = iter(self.all)
