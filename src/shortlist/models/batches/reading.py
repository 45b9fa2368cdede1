"""New rows batch by batch, each batch as a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import ShortlistError, TableError
from shortlist.tables import Schema, Table, read_batches
from shortlist.tables.columns.values import blanked
from shortlist.tables.io.duck import is_duckdb
from shortlist.tables.io.scratch import scratch_folder
from shortlist.tables.io.sql import is_database_url
from shortlist.tables.memory import BATCH_ROWS
from shortlist.tables.problems import Problems
from shortlist.tables.table import read_facts
from shortlist.tables.totals import without_totals


def new_batches(source: Any, schema: Schema, batch_rows: int = BATCH_ROWS) -> Iterator[tuple[int, Table]]:
    """The number of the first row of each batch, from 0, and the batch as ``load_table`` would make it."""
    start = 0
    for frame in frames(source, batch_rows):
        with _counted_from(start, frame.height):
            table = _new_rows(frame, schema)
        if schema.roles.id is None:
            table = replace(table, ids=np.arange(start + 1, start + 1 + frame.height))
        yield start, table
        start += frame.height


def frames(source: Any, batch_rows: int) -> Iterator[pl.DataFrame]:
    """The rows in order; the last of them may be sums, which are none, so a batch waits until the next has come."""
    waiting: pl.DataFrame | None = None
    for frame in read_batches(source, batch_rows=batch_rows):
        if waiting is not None and frame.height < 2:  # too few to tell whether the last row is sums
            waiting = pl.concat([waiting, frame], how="vertical_relaxed")
            continue
        if waiting is not None:
            yield waiting
        waiting = frame
    if waiting is not None:
        yield without_totals(waiting)


@contextmanager
def in_one_order(source: Any, batch_rows: int) -> Iterator[Any]:
    """The same table, for who walks through it several times: a database may give its rows in another order each time.

    Its rows are brought here once, into a temporary folder.
    """
    if not is_database_url(source) or is_duckdb(source):
        yield source
        return
    with scratch_folder() as folder:
        for number, batch in enumerate(read_batches(source, batch_rows=batch_rows)):
            batch.write_parquet(folder / f"rows{number:06d}.parquet")
        if not any(folder.iterdir()):
            raise TableError("the table has no rows; give a table with column names and at least one row.")
        yield folder


def _new_rows(frame: pl.DataFrame, schema: Schema) -> Table:
    frame = blanked(frame, schema.roles.missing)
    problems = Problems()
    with problems.collected():
        facts = read_facts(frame, schema.roles, labelled=False)
    with problems.collected():
        encoded = schema.encode(frame)
    problems.check()
    return Table.of(facts, frame, encoded)


@contextmanager
def _counted_from(start: int, n_rows: int) -> Iterator[None]:
    """Errors name rows of the batch; whoever mends the table needs to know which batch."""
    try:
        yield
    except ShortlistError as error:
        if start == 0:
            raise
        kind = type(error) if isinstance(error, TableError) else TableError
        kind = TableError if kind.__init__ is not TableError.__init__ else kind
        raise kind(f"rows {start + 1:,} to {start + n_rows:,}, counted from 1 here: {error}") from None
