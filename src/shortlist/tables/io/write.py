"""The one way out: a file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
import polars.selectors as cs

from shortlist.exceptions import TableError
from shortlist.tables.io.files import format_of
from shortlist.tables.io.frames import as_polars
from shortlist.tables.io.sql import check_table, is_database_url, write_rows

_FORMULA_START = r"^[=+\-@\t\r]"


def write_table(
    frame: Any, target: str | Path, *, replace: bool | None = None, formula_safe: bool = False
) -> None:
    """Write a data frame to a file or a database table.

    The rows go to a file beside the target first, which then takes the target's name, so an error or a crash
    leaves the old file as it was and nothing half written.

    Parameters
    ----------
    frame : a data frame of pandas, polars, pyarrow, ...; a polars LazyFrame is
        written without holding it in memory
    target : a path that ends in .csv .tsv .parquet .arrow .jsonl, or ``URL::table`` for a database, such as
        sqlite:///claims.db::shortlist
    replace : whether to replace what is there; None: a file is replaced, a database table is not
    formula_safe : put an apostrophe before text in a CSV file that a spreadsheet would run as a formula

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> write_table(pl.DataFrame({"amount": [3, 5]}), path)
    >>> pl.read_parquet(path)["amount"].sum()
    8
    """
    lazy = frame if isinstance(frame, pl.LazyFrame) else as_polars(frame).lazy()
    if is_database_url(target):
        write_rows(lazy.collect(), str(target), replace=bool(replace))
        return
    path = Path(target).expanduser()
    sink = _sink_for(path, formula_safe=formula_safe)
    _check_columns(lazy, path)
    if replace is False and path.exists():
        raise TableError(f"{path} exists already; choose another name, or allow it: replace=True")
    _write_whole(lazy, path, sink)


def check_target(target: str | Path, *, replace: bool = False) -> None:
    """Refuse a target that ``write_table`` could not write, before hours of work go into the rows.

    >>> check_target("rows.xlsx")
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: cannot tell the format of rows.xlsx by its ending; write .csv .tsv ...
    """
    if is_database_url(target):
        check_table(str(target), replace=replace)
        return
    path = Path(target).expanduser()
    _sink_for(path, formula_safe=False)
    check_place(path)


Sink = Callable[[pl.LazyFrame, IO[bytes]], Any]


def _sink_for(path: Path, *, formula_safe: bool) -> Sink:
    kind = None if path.suffix.lower() == ".gz" else format_of(path)
    if kind == "csv":
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        return lambda lazy, to: (_defused(lazy) if formula_safe else lazy).sink_csv(
            to, separator=separator, check_extension=False
        )
    if kind == "parquet":
        return lambda lazy, to: lazy.sink_parquet(to)
    if kind == "arrow":
        return lambda lazy, to: lazy.sink_ipc(to)
    if kind == "jsonl":
        return lambda lazy, to: lazy.sink_ndjson(to, check_extension=False)
    raise TableError(
        f"cannot tell the format of {path} by its ending; write .csv .tsv .parquet .arrow or .jsonl, "
        "or URL::table for a database."
    )


def _check_columns(lazy: pl.LazyFrame, path: Path) -> None:
    """Lists and bytes have no place in a line of text."""
    schema, kind = lazy.collect_schema(), format_of(path)
    misfits = {"csv": _is_nested_or_binary, "jsonl": _is_binary}.get(kind or "", lambda dtype: False)
    for name, dtype in schema.items():
        if misfits(dtype):
            raise TableError(
                f"cannot write {path}: column {name!r} holds {dtype}, which a {path.suffix} file cannot. Write "
                ".parquet or .arrow."
            )


def _is_nested_or_binary(dtype: pl.DataType) -> bool:
    return dtype.is_nested() or _is_binary(dtype)


def _is_binary(dtype: pl.DataType) -> bool:
    return dtype == pl.Binary


def _defused(lazy: pl.LazyFrame) -> pl.LazyFrame:
    text = cs.string() | cs.categorical() | cs.enum()
    words = text.as_expr().cast(pl.String)
    return lazy.with_columns(
        pl.when(words.str.contains(_FORMULA_START)).then("'" + words).otherwise(words).name.keep()
    )


def _write_whole(lazy: pl.LazyFrame, path: Path, sink: Sink) -> None:
    # An open file, not its name: polars may open a name once more after the error that made us remove it.
    with atomic_path(path) as beside, beside.open("xb") as file:
        sink(lazy, file)


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's name once all is written.

    An error or a crash leaves the old file as it was, and nothing half written.
    """
    path = Path(target).expanduser()
    check_place(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield beside
        _sync(beside)
        beside.replace(path)
        _sync(path.parent)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"cannot write {path}: {reason}. The target is unchanged.") from None
    finally:
        beside.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Refuse a path that no file can be written to."""
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent} to write {path.name} into; create it first.")
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the name of a file in it.")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"the folder {path.parent} may not be written to; choose another, or ask its owner.")


def _sync(path: Path) -> None:
    """Wait until the disk has it: a power cut after the rename must not leave an empty file."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
