"""New rows batch by batch, each batch as a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import ShortlistError, TableError
from shortlist.tables import Schema, Table
from shortlist.tables.batches import row_batches
from shortlist.tables.columns.values import blanked
from shortlist.tables.memory import BATCH_ROWS
from shortlist.tables.problems import Problems
from shortlist.tables.table import read_facts


def new_batches(source: Any, schema: Schema, batch_rows: int = BATCH_ROWS) -> Iterator[tuple[int, Table]]:
    """The number of the first row of each batch, from 0, and the batch as ``load_table`` would make it."""
    start = 0
    for frame in row_batches(source, batch_rows):
        with _counted_from(start, frame.height):
            table = _new_rows(frame, schema)
        if schema.roles.id is None:
            table = replace(table, ids=np.arange(start + 1, start + 1 + frame.height))
        yield start, table
        start += frame.height


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
