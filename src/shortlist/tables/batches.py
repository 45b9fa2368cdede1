"""The rows of a table some at a time: without sums at its end, and in the same order however often they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.exceptions import SchemaError, TableError
from shortlist.scratch import scratch_folder
from shortlist.tables.io.duck import is_duckdb
from shortlist.tables.io.frames import is_lazy
from shortlist.tables.io.read import read_batches, scan_table
from shortlist.tables.io.sql import is_database_url
from shortlist.tables.totals import without_totals


def row_batches(source: Any, batch_rows: int) -> Iterator[pl.DataFrame]:
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
def in_one_order(
    source: Any, batch_rows: int, on_rows: Callable[[int], object] = lambda n_rows: None
) -> Iterator[Any]:
    """The same table, for who walks through it several times.

    What is asked for its rows may give them in another order each time, as a database and a query on a lazy frame do:
    its rows are brought here once, into a temporary folder.

    on_rows : called with the number of rows more that were brought
    """
    from_database = is_database_url(source) and not is_duckdb(source)
    if not (from_database or is_lazy(source)):
        yield source
        return
    with scratch_folder() as folder:
        for number, batch in enumerate(read_batches(source, batch_rows=batch_rows)):
            batch.write_parquet(folder / f"rows{number:06d}.parquet")
            on_rows(batch.height)
        if not any(folder.iterdir()):
            raise TableError("the table has no rows; give a table with column names and at least one row.")
        _check_alike(folder)
        yield folder


def _check_alike(folder: Path) -> None:
    """A database may hold in one column what no column holds; its rows tell their types batch by batch."""
    try:
        scan_table(folder)
    except SchemaError as error:
        told = re.sub(rf"{re.escape(str(folder))}\S*parquet", "some rows", str(error))
        raise SchemaError(f"rows that are read some at a time must be of one type: {told}") from None
