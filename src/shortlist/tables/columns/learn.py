"""What a column is, told from its values in training."""

from __future__ import annotations

from shlex import quote

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.advice import advice_on
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.values import (
    FLAGS,
    as_dates,
    as_flags,
    as_numbers,
    clean_text,
    date_formats,
    is_category,
    is_text,
)

#: Text is a category if each value has this many rows on average (of the rows that have a value) ...
ROWS_PER_VALUE = 5
#: ... or if it has at most FEW_VALUES values, and on average FEW_ROWS rows of the table for each.
FEW_VALUES, FEW_ROWS = 20, 2
#: More values than this are names or free text whatever the number of rows.
MOST_VALUES = 2**16


def learn_feature(series: pl.Series) -> Feature | None:
    """The feature that a column is, or None where all its values are missing."""
    name, dtype = series.name, series.dtype
    if is_text(dtype):
        return _from_text(series)
    if series.null_count() == len(series):
        return None
    if dtype.is_numeric():
        nothing = dtype.is_float() and bool(series.is_nan().fill_null(True).all())
        return None if nothing else Feature(name, "number")
    if dtype == pl.Boolean:
        return Feature(name, "flag")
    if dtype in (pl.Date, pl.Datetime):
        return date_feature(name, series, None)
    raise TableError(
        f"column {name!r} holds {dtype}, which is no number, flag, category or date. Leave it out: "
        f"--ignore {quote(name)} (in Python: Roles(ignore=[{name!r}])), or turn it into columns of plain values."
    )


def _from_text(series: pl.Series) -> Feature | None:
    values, known = _tidy_values(series)
    if values.is_empty():
        return None
    if not is_category(series.dtype):
        if as_numbers(values).null_count() == 0:
            return Feature(series.name, "number")
        if as_flags(values, FLAGS).null_count() == 0:
            return Feature(series.name, "flag")
        if formats := date_formats(values):
            return date_feature(series.name, as_dates(values, formats[0]), formats[0])
    _check_few(series.name, values, known, len(series), named=is_category(series.dtype))
    return Feature(series.name, "category", tuple(values.sort()))


def _tidy_values(series: pl.Series) -> tuple[pl.Series, int]:
    """The different values of text, cleaned, and how many rows have one: each value is cleaned once, not each row."""
    given = series.drop_nulls().unique().cast(pl.String)
    tidy = clean_text(given)
    gone = given.filter(tidy.is_null())
    empty = series.null_count() + (int(series.cast(pl.String).is_in(gone).sum()) if len(gone) else 0)
    return tidy.drop_nulls().unique(), len(series) - empty


def date_feature(name: str, dates: pl.Series, date_format: str | None) -> Feature:
    """The feature that moments are, by whether their times of day differ."""
    clock = dates.dtype == pl.Datetime and dates.dt.time().drop_nulls().n_unique() > 1
    return Feature(name, "date", date_format=date_format, clock=clock)


def _check_few(name: str, values: pl.Series, known: int, rows: int, *, named: bool) -> None:
    """Names and free text tell a ranker nothing about new rows."""
    few = len(values) <= FEW_VALUES and len(values) * FEW_ROWS <= rows
    shared = len(values) <= 2 or len(values) * ROWS_PER_VALUE <= known
    if len(values) <= MOST_VALUES and (named or few or shared):
        return
    limit = (
        f"{ROWS_PER_VALUE} rows for each on average"
        if len(values) <= MOST_VALUES
        else f"{MOST_VALUES:,} or fewer"
    )
    raise TableError(
        f"column {name!r} has {len(values):,} different texts in {known:,} rows (such as "
        f"{values.sort()[0][:40]!r}): too many for a category, which needs {limit}."
        f"{advice_on(values)} If it names the rows: --id {quote(name)}; to leave it out: --ignore "
        f"{quote(name)}; or replace it by a coarser column, such as a region for an address."
    )
