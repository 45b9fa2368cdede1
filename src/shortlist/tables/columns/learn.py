"""What a column is, told from its values in training."""

from __future__ import annotations

from shlex import quote

import polars as pl

from shortlist.counts import counted
from shortlist.exceptions import TableError
from shortlist.tables.columns.advice import check_pure
from shortlist.tables.columns.dates import as_dates, chosen, date_formats, dates_in_digits, is_ambiguous
from shortlist.tables.columns.feature import IN_DIGITS, Feature
from shortlist.tables.columns.numerals import CODE, MixedUnits, Numerals
from shortlist.tables.columns.values import (
    FLAGS,
    GAPS,
    as_flags,
    clean_text,
    is_category,
    is_text,
    without_gap_words,
)
from shortlist.tables.columns.words import listed
from shortlist.tables.problems import tell

#: Text is a category if each value has this many rows on average (of the rows that have a value) ...
ROWS_PER_VALUE = 5
#: ... or if it has at most FEW_VALUES values, and on average FEW_ROWS rows of the table for each.
FEW_VALUES, FEW_ROWS = 20, 2
#: More values than this are names or free text whatever the number of rows.
MOST_VALUES = 2**16


def learn_feature(
    series: pl.Series,
    *,
    rows: pl.Series | None = None,
    more_rows: int = 0,
    order: str | None = None,
    category: bool = False,
    texts: bool = False,
) -> Feature | None:
    """The feature that a column is, or None where all its values are missing.

    rows : how many rows each value stands for; None: one
    more_rows : with texts that are not among these, which are more than a category has and tell what the others are
    order : of day and month where they could be swapped
    category : whether the user said that it is one, whatever it looks like
    texts : whether text of too many values for a category is a feature too, whose weights are to be learned
    """
    name, dtype = series.name, series.dtype
    if category and dtype.is_numeric():
        series = clean_text(series)
    if is_text(series.dtype):
        rows = pl.repeat(1, len(series), eager=True) if rows is None else rows
        return _from_text(series, rows, more_rows, order, category or is_category(dtype), texts)
    if series.null_count() == len(series):
        return None
    if dtype.is_numeric():
        return _from_numbers(series)
    if dtype == pl.Boolean:
        return Feature(name, "flag")
    if dtype in (pl.Date, pl.Datetime):
        return date_feature(name, series, None)
    raise TableError(
        f"column {name!r} holds {dtype}, which is no number, flag, category or date. Leave it out: "
        f"--ignore {quote(name)} (in Python: Roles(ignore=[{name!r}])), or turn it into columns of plain values."
    )


def _from_numbers(series: pl.Series) -> Feature | None:
    if series.dtype.is_float() and bool(series.is_nan().fill_null(True).all()):
        return None
    days = dates_in_digits(series)
    if days is not None:
        tell(f"column {series.name!r} holds days such as {series.drop_nulls()[0]}: read as dates.")
        return date_feature(series.name, days, IN_DIGITS)
    return Feature(series.name, "number")


def _from_text(
    series: pl.Series, rows: pl.Series, more_rows: int, order: str | None, category: bool, texts: bool
) -> Feature | None:
    values, known = _tidy_values(series, rows)
    if values.is_empty():
        return None
    if not category:
        found = _from_words(series.name, values, order, more=more_rows > 0)
        if found is not None:
            return found
    if more_rows or not _are_few(values, known, int(rows.sum()), named=category):
        if texts:
            return Feature(series.name, "text")
        raise _too_many(series.name, values, known, more_rows)
    return Feature(series.name, "category", tuple(values.sort()))


def _from_words(name: str, values: pl.Series, order: str | None, *, more: bool) -> Feature | None:
    """What the different texts of a column all are, beside words; raises where only most of them are."""
    if as_flags(values, FLAGS).null_count() == 0:
        return Feature(name, "flag")
    texts = without_gap_words(values).drop_nulls()
    if texts.is_empty():
        return None
    feature = _numbers(name, texts) or _dates(name, texts, order)
    if feature is not None and len(texts) < len(values):
        gone = values.filter(~values.is_in(texts.implode())).sort()
        tell(f"column {name!r}: {listed([repr(each) for each in gone])} is read as missing.")
    if feature is None:
        check_pure(name, texts, more=more)
    return feature


def _numbers(name: str, texts: pl.Series) -> Feature | None:
    try:
        written = Numerals.of(texts)
    except MixedUnits as mixed:
        raise TableError(
            f"column {name!r} mixes {mixed}, which are not the same numbers. Give all its values in one of them, or "
            f"leave it out: --ignore {quote(name)}"
        ) from None
    if written is None:
        return None
    if not written.sure:
        example = texts.filter(texts.str.contains("[.,]")).sort()[0]
        number = written.read(pl.Series([example]))[0]
        tell(f"column {name!r}: {example!r} is read as {number:.12g}.")
    code = bool(texts.str.contains(CODE).any())
    return Feature(name, "number", unit=written.unit, decimal=written.decimal, code=code)


def _dates(name: str, texts: pl.Series, order: str | None) -> Feature | None:
    formats = date_formats(texts)
    if not formats:
        return None
    how = chosen(formats, order)
    tell_format(name, formats, how)
    return date_feature(name, as_dates(texts, how), how)


def tell_format(name: str, formats: list[str], how: str) -> None:
    """Say how dates are read that could be read otherwise."""
    if is_ambiguous(formats):
        words = "day/month" if how.startswith("%d") else "month/day"
        tell(f"column {name!r} is read as {words}/year; its dates could be read the other way round too.")
    if "%y" in how:
        tell(
            f"column {name!r} has years of two digits: 69 to 99 are read as 1969 to 1999, 00 to 68 as 2000 to 2068."
        )


def _tidy_values(series: pl.Series, rows: pl.Series) -> tuple[pl.Series, int]:
    """The different values of text, cleaned, and how many rows have one: each value is cleaned once, not each row."""
    given = series.drop_nulls().unique().cast(pl.String)
    tidy = clean_text(given)
    gone = given.filter(tidy.is_null())
    signs = gone.filter(gone.str.strip_chars().is_in(GAPS)).sort().to_list()
    if signs:
        tell(f"column {series.name!r}: {listed([repr(each) for each in signs])} is read as missing.")
    empty = series.is_null() | series.cast(pl.String).is_in(gone.implode()) if len(gone) else series.is_null()
    return tidy.drop_nulls().unique(), int(rows.filter(~empty).sum())


def date_feature(name: str, dates: pl.Series, date_format: str | None) -> Feature:
    """The feature that moments are, by whether their times of day differ."""
    clock = dates.dtype == pl.Datetime and dates.dt.time().drop_nulls().n_unique() > 1
    return Feature(name, "date", date_format=date_format, clock=clock)


def _are_few(values: pl.Series, known: int, rows: int, *, named: bool) -> bool:
    """Whether values are shared by enough rows; names and free text tell a ranker nothing about new rows."""
    few = len(values) <= FEW_VALUES and len(values) * FEW_ROWS <= rows
    shared = len(values) <= 2 or len(values) * ROWS_PER_VALUE <= known
    return len(values) <= MOST_VALUES and (named or few or shared)


def _too_many(name: str, values: pl.Series, known: int, more_rows: int) -> TableError:
    many = f"more than {MOST_VALUES:,}" if more_rows else f"{len(values):,}"
    limit = (
        f"{MOST_VALUES:,} or fewer"
        if more_rows or len(values) > MOST_VALUES
        else f"{ROWS_PER_VALUE} rows for each on average"
    )
    return TableError(
        f"column {name!r} has {many} different texts in {counted(known + more_rows, 'row')} (such as "
        f"{values.sort()[0][:40]!r}): too many for a category, which needs {limit}. If it names the rows: "
        f"--id {quote(name)}; to leave it out: --ignore {quote(name)}; or replace it by a coarser column, such as a "
        "region for an address."
    )
