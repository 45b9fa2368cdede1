"""The one way in: files, folders, globs, data frames and databases become polars frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import SchemaError, TableError
from shortlist.tables.columns.values import is_text
from shortlist.tables.io.delimited import blank_lines, may_be_ragged, sniff
from shortlist.tables.io.files import CSV, Files, find_files
from shortlist.tables.io.frames import as_polars
from shortlist.tables.io.sql import is_database_url, read_query, table_of


def read_table(source: Any, *, query: str | None = None) -> pl.DataFrame:
    """All rows of a table.

    Parameters
    ----------
    source : one of
        a path whose ending tells the format, such as .csv (separator, encoding and decimal comma are found
        out; .gz too) or .parquet; a folder or a glob of such files with the same columns;
        a data frame of pandas, polars, pyarrow or any library that narwhals knows;
        a database URL such as sqlite:///claims.db or postgresql://user@host/name, with ``query``, or with
        the name of a table behind it: sqlite:///claims.db::history
    query : a query, or the name of a table, of the database

    Examples
    --------
    >>> read_table(pl.DataFrame({"amount": [3, 5]})).height
    2
    """
    frame = _read(source, query)
    if not frame.columns or frame.height == 0:
        what = source if isinstance(source, str | Path) and not is_database_url(source) else "the table"
        raise TableError(f"{what} has no rows; give a table with column names and at least one row.")
    return frame


def scan_table(source: Any) -> pl.LazyFrame:
    """The table of a path, folder, glob or data frame, lazily: nothing is read before it is needed.

    The types of a CSV file are told from its first 100,000 rows.
    """
    if is_database_url(source):
        raise TableError("a database is read by query, not lazily; use read_batches(URL, query=...).")
    if isinstance(source, pl.LazyFrame):
        return source
    if not isinstance(source, str | Path):
        return as_polars(source).lazy()
    files = find_files(source)
    with _readable(str(source)):
        return _stacked([_scan(path, files) for path in files.paths], files)


def read_batches(
    source: Any, *, batch_rows: int = 100_000, query: str | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a table in order, at most ``batch_rows`` at a time: for tables larger than memory.

    >>> [batch.height for batch in read_batches(pl.DataFrame({"amount": range(5)}), batch_rows=2)]
    [2, 2, 1]
    """
    if batch_rows < 1:
        raise TableError(f"batch_rows must be at least 1; got {batch_rows}.")
    if is_database_url(source):
        yield from read_query(*_with_query(source, query), batch_rows=batch_rows)
        return
    lazy = scan_table(source)
    with _readable(str(source) if isinstance(source, str | Path) else "the data frame"):
        batches: Iterator[pl.DataFrame] = lazy.collect_batches(chunk_size=batch_rows, maintain_order=True)
        if isinstance(source, str | Path) and (files := find_files(source)).format is CSV:
            batches = _without_blank_lines(batches, files)
        for batch in batches:
            yield from batch.iter_slices(batch_rows)


def _without_blank_lines(batches: Iterator[pl.DataFrame], files: Files) -> Iterator[pl.DataFrame]:
    """Polars makes a row of nulls of a blank line; the files are searched when the first gap turns up."""
    blank: NDArray[np.int64] | None = None
    start = 0
    for batch in batches:
        if blank is None and may_be_ragged(batch):
            blank = _all_blank_lines(files)
        rows = np.arange(start, start + batch.height)
        start += batch.height
        yield batch if blank is None else batch.filter(~np.isin(rows, blank))


def _all_blank_lines(files: Files) -> NDArray[np.int64]:
    blank, start = [], 0
    for path in files.paths:
        dialect = sniff(path)
        found, records = blank_lines(path, dialect)
        # Files in other encodings were read at once, and their blank lines left out then.
        if dialect.is_plain:
            blank += [start + record for record in found]
        start += records if dialect.is_plain else records - len(found)
    return np.array(blank, dtype=np.int64)


def _read(source: Any, query: str | None) -> pl.DataFrame:
    if is_database_url(source):
        return next(read_query(*_with_query(source, query)))
    if query is not None:
        raise TableError("query= needs a database URL such as sqlite:///claims.db as the source.")
    if not isinstance(source, str | Path):
        return as_polars(source)
    files = find_files(source)
    read = files.format.read
    if read is None:
        lazy = scan_table(source)
        with _readable(str(source)):
            return lazy.collect()
    with _readable(str(source)):
        return _stacked([read(path).lazy() for path in files.paths], files).collect()


def _with_query(url: str, query: str | None) -> tuple[str, str | None]:
    """``URL::table`` names its table itself, as where rows are written."""
    return table_of(url) if query is None and "::" in url.rpartition("/")[2] else (url, query)


def _scan(path: Path, files: Files) -> pl.LazyFrame:
    with _readable(str(path)):
        return files.format.scan(path, files.hive)


def _stacked(tables: list[pl.LazyFrame], files: Files) -> pl.LazyFrame:
    """The rows of all files; their columns must agree, in any order, and numbers may be whole or not."""
    if len(tables) == 1:
        return tables[0]
    schemas = [table.collect_schema() for table in tables]
    types: dict[str, tuple[str, str]] = {}
    for path, schema in zip(files.paths, schemas, strict=True):
        _check_names(schemas[0], files.paths[0], schema, path)
        for name, dtype in schema.items():
            _check_type(types, name, dtype, path)
    columns = [*schemas[0]]
    return pl.concat([table.select(columns) for table in tables], how="vertical_relaxed")


def _check_names(first: pl.Schema, first_path: Path, schema: pl.Schema, path: Path) -> None:
    missing, extra = first.keys() - schema.keys(), schema.keys() - first.keys()
    if missing or extra:
        name = min(missing or extra)
        has, lacks = (first_path, path) if missing else (path, first_path)
        raise SchemaError(
            f"{has} has a column {name!r} and {lacks} has not; files of one table need the same columns."
        )


def _check_type(types: dict[str, tuple[str, str]], name: str, dtype: pl.DataType, path: Path) -> None:
    kind = _kind(dtype)
    if kind == "missing":
        return
    known, where = types.setdefault(name, (kind, str(path)))
    if known != kind:
        raise SchemaError(f"column {name!r} holds {known} in {where} and {kind} in {path}; make them alike.")


def _kind(dtype: pl.DataType) -> str:
    if dtype == pl.Null:
        return "missing"
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.Date, pl.Datetime):
        return "dates"
    return "text" if is_text(dtype) else str(dtype).lower()


@contextmanager
def _readable(source: str) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise TableError(
            f"cannot read {source}: {reason}. The file may be cut off, damaged, or of another format than "
            "its ending says; write or copy it anew."
        ) from None
