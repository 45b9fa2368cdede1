"""Text that a spreadsheet would run as a formula: marked where people get a CSV file, unmarked where one is read.

Spreadsheets run a cell of a CSV file that begins with one of a few signs. An apostrophe before it says "text", to them
and to us: what we write is what we read. Plain numbers are left alone, as they do nothing.
"""

from __future__ import annotations

import re

import polars as pl
import polars.selectors as cs

# Japanese spreadsheets run the wide forms too, and some skip the white space in front.
_START = r"(\s*[=+\-@＝＋－＠]|[\t\r\n])"
_RUNS = rf"^'*{_START}"
_MARKED = rf"^'+{_START}"
_NUMBER = r"^[+-]?[0-9][0-9.,]*([eE][+-]?[0-9]+)?$"


def marked(lazy: pl.LazyFrame) -> pl.LazyFrame:
    """Rows whose text, and whose names of columns, no spreadsheet runs.

    >>> marked(pl.LazyFrame({"note": ["=1+1", "-5", "fine"]})).collect()["note"].to_list()
    ["'=1+1", '-5', 'fine']
    """
    words = (cs.string() | cs.categorical() | cs.enum()).as_expr().cast(pl.String)
    runs = words.str.contains(_RUNS) & ~words.str.contains(_NUMBER)
    return lazy.with_columns(pl.when(runs).then("'" + words).otherwise(words).name.keep()).rename(
        _marked_name
    )


def unmarked(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows as they were before they were marked; their columns' names are those of ``unmarked_name`` already.

    >>> unmarked(pl.DataFrame({"note": ["'=1+1", "'t Hart"]}))["note"].to_list()
    ['=1+1', "'t Hart"]
    """
    text = [column for column in frame.iter_columns() if column.dtype == pl.String]
    touched = [column.name for column in text if column.str.starts_with("'").any()]
    return frame.with_columns(unmark(pl.col(touched)) for _ in touched[:1])


def unmark(words: pl.Expr) -> pl.Expr:
    """Text as it was before it was marked, lazily."""
    return pl.when(words.str.contains(_MARKED)).then(words.str.slice(1)).otherwise(words).name.keep()


def unmarked_name(name: str) -> str:
    """The name of a column as it was before it was marked."""
    return name[1:] if re.match(_MARKED, name) else name


def _marked_name(name: str) -> str:
    return f"'{name}" if re.match(_RUNS, name) and not re.match(_NUMBER, name) else name
