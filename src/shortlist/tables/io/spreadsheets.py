"""Spreadsheets: the one sheet that holds the table, below a title if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.io.dialect import below_title, column_names
from shortlist.tables.roles import did_you_mean

#: Rows in which titles and the names of columns are looked for.
_FIRST_ROWS = 40
#: How sheets are written: in memory, so that a server that has no more files can still answer.
_PLAIN = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "nan_inf_to_errors": True,
    "remove_timezone": True,
}


def read_spreadsheet(path: Path, sheet: str | None = None) -> pl.DataFrame:
    """The rows of a sheet; of the only one that holds any where none is named."""
    try:
        name = _sheet_of(path, sheet)
        first = _sheet(path, name, has_header=False, options={"n_rows": _FIRST_ROWS, "dtypes": "string"})
        rows = [[cell or "" for cell in row] for row in first.iter_rows()]
        (line, header), *_ = below_title([*enumerate(rows)], path)
        names = column_names(header, path)
        frame = _sheet(path, name, options={"header_row": line})
        frame.columns = [*names]
    except (import_module("fastexcel").FastExcelError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(
            f"cannot read {path}: {reason}. Is it a spreadsheet without a password? Save it anew, or as .csv."
        ) from None
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def sink_spreadsheet(rows: pl.LazyFrame, file: IO[bytes], ending: str) -> None:
    """Write rows as the only sheet of a new file."""
    write_sheets({"Sheet1": rows.collect()}, file)


def write_sheets(sheets: Mapping[str, pl.DataFrame], file: IO[bytes]) -> None:
    """Write tables as the sheets of a new file; text stays text: nothing in it is a formula or a link."""
    with import_module("xlsxwriter").Workbook(file, _PLAIN) as book:
        for name, frame in sheets.items():
            frame.write_excel(book, worksheet=name, autofit=True)


def _sheet(path: Path, name: str, *, has_header: bool = True, options: dict[str, Any]) -> pl.DataFrame:
    """A sheet with all of its rows and columns, so that they can be counted."""
    return pl.read_excel(
        path,
        sheet_name=name,
        has_header=has_header,
        read_options=options,
        raise_if_empty=False,
        drop_empty_rows=False,
        drop_empty_cols=False,
    )


def _sheet_of(path: Path, wanted: str | None) -> str:
    names: list[str] = import_module("fastexcel").read_excel(path).sheet_names
    if wanted is not None:
        if wanted not in names:
            raise TableError(
                f"{path} has no sheet {wanted!r}.{did_you_mean(wanted, names)} Its sheets: {', '.join(names)}."
            )
        return wanted
    filled = [name for name in names if _sheet(path, name, options={"n_rows": 1}).width]
    if len(filled) > 1:
        raise TableError(
            f"{path} has {len(filled)} sheets with something on them: {', '.join(filled)}. Say which one is meant: "
            f"{path}::{filled[0]}"
        )
    if not filled:
        raise TableError(f"{path} is empty; it needs a row of column names and at least one row below.")
    return filled[0]
