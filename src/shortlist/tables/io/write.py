"""The one way out: a file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.io.duck import check_duckdb, is_duckdb, write_duckdb
from shortlist.tables.io.files import FORMATS, Format, format_of
from shortlist.tables.io.formulas import marked
from shortlist.tables.io.frames import as_polars
from shortlist.tables.io.paths import named_path, place_to_write
from shortlist.tables.io.remote import check_there, is_elsewhere, shown, taken_there
from shortlist.tables.io.sql import check_table, is_database_url, write_rows


def write_table(
    frame: Any, target: str | Path, *, replace: bool | None = None, formula_safe: bool = True
) -> None:
    """Write a data frame to a file or a database table.

    The rows go to a file beside the target first, which then takes the target's name, so an error or a crash
    leaves the old file as it was and nothing half written.

    Parameters
    ----------
    frame : a data frame of pandas, polars, pyarrow, ...; a polars LazyFrame is
        written without holding it in memory
    target : a path whose ending tells the format, such as .csv or .parquet, or ``URL::table`` for a database,
        such as sqlite:///claims.db::shortlist
    replace : whether to replace what is there; None: a file is replaced, a database table is not
    formula_safe : put an apostrophe before text in a CSV file that a spreadsheet would run as a formula; reading the
        file here takes it away again. False: text as it is, for other programs

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> write_table(pl.DataFrame({"amount": [3, 5]}), path)
    >>> pl.read_parquet(path)["amount"].sum()
    8
    """
    lazy = frame if isinstance(frame, pl.LazyFrame) else as_polars(frame).lazy()
    if is_duckdb(target):
        write_duckdb(lazy.collect(), str(target), replace=bool(replace))
        return
    if is_elsewhere(target):
        with taken_there(str(target)) as here:
            write_table(lazy, here, formula_safe=formula_safe)
        return
    if is_database_url(target):
        write_rows(lazy.collect(), str(target), replace=bool(replace))
        return
    path = named_path(target)
    kind = _format_for(path)
    _check_columns(lazy, path, kind)
    if replace is False and path.exists():
        raise TableError(f"{path} exists already; choose another name, or allow it: replace=True")
    _write_whole(marked(lazy) if formula_safe and kind.formulas else lazy, path, kind)


def check_target(target: str | Path, *, replace: bool = False) -> None:
    """Refuse a target that ``write_table`` could not write, before hours of work go into the rows.

    >>> check_target("rows.doc")
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: cannot tell the format of rows.doc by its ending; write .csv .tsv ...
    """
    if is_duckdb(target):
        check_duckdb(str(target), replace=replace)
        return
    if is_elsewhere(target):
        check_there(str(target))
        _format_for(Path(shown(str(target))))
        return
    if is_database_url(target):
        check_table(str(target), replace=replace)
        return
    _format_for(named_path(target))
    place_to_write(target)


def _format_for(path: Path) -> Format:
    kind = None if path.suffix.lower() == ".gz" else format_of(path)
    if kind is None or kind.sink is None:
        *others, last = [ending for each in FORMATS if each.sink for ending in each.endings]
        raise TableError(
            f"cannot tell the format of {path} by its ending; write {' '.join(others)} or {last}, "
            "or URL::table for a database."
        )
    kind.check_installed()
    return kind


def _check_columns(lazy: pl.LazyFrame, path: Path, kind: Format) -> None:
    for name, dtype in lazy.collect_schema().items():
        if kind.refuses(dtype):
            raise TableError(
                f"cannot write {path}: column {name!r} holds {dtype}, which a {path.suffix} file cannot. Write "
                ".parquet or .arrow."
            )


def _write_whole(lazy: pl.LazyFrame, path: Path, kind: Format) -> None:
    # An open file, not its name: polars may open a name once more after the error that made us remove it.
    with atomic_path(path) as beside, beside.open("xb") as file:
        assert kind.sink is not None, "a format that is only read is refused before"
        kind.sink(lazy, file, path.suffix.lower())


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """A path beside the target to write to; it takes the target's name once all is written.

    An error or a crash leaves the old file as it was, and nothing half written.
    """
    path = place_to_write(target)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield beside
        sync(beside)
        beside.replace(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"cannot write {path}: {reason}. The target is unchanged.") from None
    finally:
        beside.unlink(missing_ok=True)
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise TableError(
            f"{path} is written, but its disk does not say that a power cut would leave it: {error}. Write it again."
        ) from None


def sync(path: Path) -> None:
    """Wait until the disk has a file: a power cut after the rename must not leave an empty one."""
    _sync(path, os.O_RDWR)  # Windows writes back only what may be written


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of a folder."""
    if os.name == "posix":  # Windows opens no folder, and keeps names by itself
        _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
