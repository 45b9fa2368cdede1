"""Tables in files of DuckDB: ``duckdb:///claims.duckdb::history``, or ``claims.duckdb::history``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables.io.paths import named_path
from shortlist.tables.roles import did_you_mean

_URL = "duckdb:///"
_ENDING = ".duckdb"


def is_duckdb(source: object) -> bool:
    """Whether rows lie in a file of DuckDB.

    >>> is_duckdb("duckdb:///claims.db::history"), is_duckdb("claims.duckdb::history"), is_duckdb("claims.csv")
    (True, True, False)
    """
    return isinstance(source, str) and (
        source.startswith(_URL) or source.partition("::")[0].endswith(_ENDING)
    )


def read_duckdb(source: str, query: str | None = None) -> pl.DataFrame:
    """The rows of a table or a query."""
    path, name = _parts(source)
    if not path.is_file():
        raise TableError(f"there is no database file {path}.")
    with _connected(path, read_only=True) as connection:
        return pl.DataFrame(
            connection.sql(query if query and " " in query else _select(connection, query or name))
        )


def write_duckdb(frame: pl.DataFrame, target: str, *, replace: bool) -> None:
    """Create a table with these rows, in one transaction."""
    path, name = _parts(target)
    if not name:
        raise TableError(f"say which table is meant: {target}::NAME")
    with tempfile.TemporaryDirectory(prefix="shortlist-") as folder, _connected(path) as connection:
        rows = Path(folder) / "rows.parquet"
        frame.write_parquet(rows)
        _check_free(connection, name, replace=replace)
        connection.execute(
            f"create or replace table {_quoted(name)} as select * from read_parquet(?)", [str(rows)]
        )


def check_duckdb(target: str, *, replace: bool) -> None:
    """Refuse a table that could not be written."""
    path, name = _parts(target)
    if not name:
        raise TableError(f"say which table is meant: {target}::NAME")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent}; create it first.")
    if path.is_file():
        with _connected(path, read_only=True) as connection:
            _check_free(connection, name, replace=replace)


def _parts(source: str) -> tuple[Path, str]:
    path, _, name = source.removeprefix(_URL).partition("::")
    return named_path(path), name


@contextmanager
def _connected(path: Path, *, read_only: bool = False) -> Iterator[Any]:
    try:
        duckdb = import_module("duckdb")
    except ModuleNotFoundError:
        raise MissingExtraError.of("duckdb", "duckdb") from None
    try:
        connection = duckdb.connect(str(path), read_only=read_only)
        try:
            yield connection
        finally:
            connection.close()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"the database {path} refused: {reason}. Mend the query or the file.") from None


def _select(connection: Any, name: str) -> str:
    known = _tables(connection)
    if name not in known:
        asked = (
            f"the database has no table {name!r}.{did_you_mean(name, known)}"
            if name
            else "say which table: FILE::TABLE."
        )
        raise TableError(f"{asked} Its tables: {', '.join(known) or 'none'}.")
    return f"select * from {_quoted(name)}"


def _tables(connection: Any) -> list[str]:
    rows = connection.execute("select table_name from information_schema.tables order by 1").fetchall()
    return [name for (name,) in rows]


def _check_free(connection: Any, name: str, *, replace: bool) -> None:
    if name in _tables(connection) and not replace:
        raise TableError(
            f"table {name!r} exists already; replace it with --replace (in Python: replace=True), or choose "
            "another name."
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
