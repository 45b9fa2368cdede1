"""The one way in: files, folders, globs, data frames and databases become polars frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import SchemaError, TableError
from shortlist.tables.columns.values import kind_in_words
from shortlist.tables.io.delimited import blank_lines, may_be_ragged
from shortlist.tables.io.dialect import sniff
from shortlist.tables.io.duck import is_duckdb, read_duckdb
from shortlist.tables.io.files import ARROW, CSV, PARQUET, Files, find_files
from shortlist.tables.io.frames import as_polars
from shortlist.tables.io.readable import check_sizes, readable
from shortlist.tables.io.remote import brought_here, is_elsewhere, shown
from shortlist.tables.io.sql import is_database_url, read_query, table_of

#: Files of so many bytes together are read at once; of a larger one as many, or so many batches if they are more.
_SMALL_FILES, _READ_AHEAD = 2**26, 5


def read_table(source: Any, *, query: str | None = None, may_be_empty: bool = False) -> pl.DataFrame:
    """All rows of a table.

    Parameters
    ----------
    source : one of
        a path whose ending tells the format, such as .csv (separator, encoding and decimal comma are found
        out; .gz too), .parquet, .json or .xlsx (book.xlsx::SHEET where several sheets are filled); a folder or a
        glob of such files with the same columns; the address of one, such as https://... or s3://...; "-" for
        standard input;
        a data frame of pandas, polars, pyarrow or any library that narwhals knows;
        a database URL such as sqlite:///claims.db, duckdb:///claims.duckdb or postgresql://user@host/name, with
        ``query``, or with the name of a table behind it: sqlite:///claims.db::history
    query : a query, or the name of a table, of the database
    may_be_empty : a table with column names and no rows will do, as on a quiet day

    Examples
    --------
    >>> read_table(pl.DataFrame({"amount": [3, 5]})).height
    2
    """
    frame = _read(source, query)
    check_sizes(frame)
    if not frame.columns or (frame.height == 0 and not may_be_empty):
        named = isinstance(source, str | Path) and not is_database_url(source)
        what = shown(str(source)) if named else "the table"
        raise TableError(f"{what} has no rows; give a table with column names and at least one row.")
    return frame


def scan_table(source: Any) -> pl.LazyFrame:
    """The table of a path, folder, glob or data frame, lazily: nothing is read before it is needed.

    The types of a CSV file are told from its first 100,000 rows.
    """
    if isinstance(source, pl.LazyFrame):
        return source
    if is_elsewhere(source) or is_duckdb(source):
        return read_table(source).lazy()
    if is_database_url(source):
        raise TableError("a database is read by query, not lazily; use read_batches(URL, query=...).")
    if not isinstance(source, str | Path):
        return as_polars(source).lazy()
    files = find_files(source)
    with readable(str(source)):
        return _stacked(_scan_all(files), files)


def read_batches(
    source: Any, *, batch_rows: int = 100_000, query: str | None = None
) -> Iterator[pl.DataFrame]:
    """The rows of a table in order, at most ``batch_rows`` at a time: for tables larger than memory.

    >>> [batch.height for batch in read_batches(pl.DataFrame({"amount": range(5)}), batch_rows=2)]
    [2, 2, 1]
    """
    if batch_rows < 1:
        raise TableError(f"batch_rows must be at least 1; got {batch_rows}.")
    if is_database_url(source) and not is_duckdb(source):
        yield from read_query(*_with_query(source, query), batch_rows=batch_rows)
        return
    here = isinstance(source, str | Path) and not is_elsewhere(source) and not is_duckdb(source)
    named = str(source) if isinstance(source, str | Path) else "the data frame"
    with readable(named):
        batches = (
            _of_files(find_files(source), batch_rows) if here else _in_order(scan_table(source), batch_rows)
        )
    while (batch := _next(batches, named)) is not None:
        check_sizes(batch)
        yield from batch.iter_slices(batch_rows)


def _of_files(files: Files, batch_rows: int) -> Iterator[pl.DataFrame]:
    """The batches of files, some megabytes of files, or of a larger one that can be entered anywhere, at a time.

    Polars reads ahead as far as it can, and what nobody has asked for yet waits in memory: of all of a table that would
    be more than all the rest.
    """
    tables = _scan_all(files)
    types = _stacked(tables, files).collect_schema()

    def batches() -> Iterator[pl.DataFrame]:
        for run in _runs(files):
            lazy, size = _alike([tables[place] for place in run], types), _bytes(files, run)
            if size <= _SMALL_FILES or files.format not in (PARQUET, ARROW):
                yield from _in_order(lazy, batch_rows)
                continue
            n_rows = lazy.select(pl.len()).collect().item()
            # No shorter: what is read at once from a file, and decompressed, may be as large.
            stretch = max(_READ_AHEAD * batch_rows, -(-n_rows * _SMALL_FILES // size))
            for start in range(0, n_rows, stretch):
                yield from _in_order(lazy.slice(start, stretch), batch_rows)

    return _without_blank_lines(batches(), files) if files.format is CSV else batches()


def _runs(files: Files) -> list[list[int]]:
    """The places of files that follow each other and are small together, or of one alone."""
    runs: list[list[int]] = []
    for place in range(len(files.paths)):
        if runs and _bytes(files, [*runs[-1], place]) <= _SMALL_FILES:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _bytes(files: Files, run: list[int]) -> int:
    return sum(files.paths[place].stat().st_size for place in run)


def _alike(tables: list[pl.LazyFrame], types: pl.Schema) -> pl.LazyFrame:
    """One after the other, with these columns; ``types`` are those of all files together."""
    stacked = pl.concat([table.select([*types]) for table in tables], how="vertical_relaxed")
    other = {name: dtype for name, dtype in stacked.collect_schema().items() if dtype != types[name]}
    return stacked.cast({name: types[name] for name in other}) if other else stacked


def _in_order(lazy: pl.LazyFrame, batch_rows: int) -> Iterator[pl.DataFrame]:
    """The batches of a table, each row in its place.

    Without numbered rows, polars (1.42 to 2.1) now and then gives the rows of several files in another order where
    a column is computed, whatever ``maintain_order`` says; labels would then be those of other rows.
    """
    names = lazy.collect_schema().names()
    number = "row"
    while number in names:
        number += "_"
    batches = lazy.with_row_index(number).collect_batches(chunk_size=batch_rows, maintain_order=True)
    return (batch.drop(number) for batch in batches)


def _next(batches: Iterator[pl.DataFrame], source: str) -> pl.DataFrame | None:
    with readable(source):
        return next(batches, None)


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
    if is_duckdb(source):
        return read_duckdb(source, query)
    if is_elsewhere(source):
        with brought_here(source) as path:
            return _read(path, query)
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
        with readable(str(source)):
            return lazy.collect()
    with readable(str(source)):
        tables = [read(path).lazy() for path in files.paths]
        return _stacked(_with_folder_names(tables, files), files).collect()


def _with_query(url: str, query: str | None) -> tuple[str, str | None]:
    """``URL::table`` names its table itself, as where rows are written."""
    return table_of(url) if query is None and "::" in url.rpartition("/")[2] else (url, query)


def _scan_all(files: Files) -> list[pl.LazyFrame]:
    return _with_folder_names([_scan(path, files) for path in files.paths], files)


def _scan(path: Path, files: Files) -> pl.LazyFrame:
    with readable(str(path)):
        return files.format.scan(path, files.hive)


def _with_folder_names(tables: list[pl.LazyFrame], files: Files) -> list[pl.LazyFrame]:
    """Columns for folder names such as year=2024; polars makes them for Parquet itself."""
    if files.root is None or files.format is PARQUET:
        return tables
    parts = [path.relative_to(files.root).parent.parts for path in files.paths]
    named = [dict(part.split("=", 1) for part in each if "=" in part) for each in parts]
    values = pl.DataFrame(named, infer_schema_length=None)
    typed = values.with_columns(_as_folder_value(column) for column in values.iter_columns())
    rows = typed.iter_rows(named=True)
    return [
        table.with_columns(pl.lit(value, dtype=typed.schema[name]).alias(name) for name, value in row.items())
        for table, row in zip(tables, rows, strict=True)
    ]


def _as_folder_value(column: pl.Series) -> pl.Series:
    """Whole numbers where all are; the name that engines give to a missing value is one."""
    known = column.set(column == "__HIVE_DEFAULT_PARTITION__", None)
    numbers = known.cast(pl.Int64, strict=False)
    return numbers if numbers.null_count() == known.null_count() else known


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
    kind = kind_in_words(dtype)
    if kind == "missing":
        return
    known, where = types.setdefault(name, (kind, str(path)))
    if known != kind:
        raise SchemaError(f"column {name!r} holds {known} in {where} and {kind} in {path}; make them alike.")
