"""The time of each row: dates in any form, or numbers that only have an order."""

from __future__ import annotations

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.dates import (
    as_dates,
    chosen,
    date_formats,
    dates_in_digits,
    hours_from_greenwich,
    is_ambiguous,
    most_dates,
)
from shortlist.tables.columns.values import clean_text, is_text, listed_misfits, without_gap_words
from shortlist.tables.problems import tell

#: Seconds since 1970 between these ends are taken for moments: 1990 and 2100.
_FIRST, _LAST = 631_152_000, 4_102_444_800
_UNITS = {"seconds": 1, "milliseconds": 1_000, "microseconds": 1_000_000}
#: Clocks of one place differ by so many hours in summer and winter.
_SUMMER_TIME = 1


def read_times(series: pl.Series, order: str | None = None) -> pl.Series:
    """Moments without zone, or numbers; null where missing.

    order : of day and month where dates could be read both ways; see ``slash_order``

    >>> read_times(pl.Series("at", [20150125, 20150126])).to_list()[0]
    datetime.datetime(2015, 1, 25, 0, 0)
    """
    if series.dtype.is_numeric():
        return _from_numbers(series.fill_nan(None) if series.dtype.is_float() else series)
    if series.dtype in (pl.Date, pl.Datetime):
        moments = series.cast(pl.Datetime("us")) if series.dtype == pl.Date else series
        return moments.dt.replace_time_zone(None)
    if not is_text(series.dtype):
        raise _no_times(series, f"values of type {series.dtype}")
    return _from_text(series, without_gap_words(clean_text(series)), order)


def _from_numbers(series: pl.Series) -> pl.Series:
    days = dates_in_digits(series)
    if days is None and series.dtype.is_integer():
        days = dates_in_digits(series.cast(pl.Int64, strict=False) * 100 + 1)  # months such as 201501
    if days is not None:
        return days.cast(pl.Datetime("us"))
    numbers = series.cast(pl.Float64)
    for unit, per_second in _UNITS.items():
        if numbers.count() and numbers.drop_nulls().is_between(_FIRST * per_second, _LAST * per_second).all():
            tell(f"time column {series.name!r} is read as {unit} since 1970.")
            return (numbers * (1_000_000 / per_second)).cast(pl.Int64).cast(pl.Datetime("us"))
    return series


def _from_text(series: pl.Series, text: pl.Series, order: str | None) -> pl.Series:
    formats = date_formats(text)
    if not formats:
        moments = most_dates(text)
        raise _no_times(series, listed_misfits(text, moments) or "different ways of writing")
    how = chosen(formats, order)
    if is_ambiguous(formats):
        words = "day/month" if how.startswith("%d") else "month/day"
        tell(
            f"time column {series.name!r} is read as {words}/year; its dates could be read the other way round too."
        )
    return _in_one_zone(series.name, as_dates(text, how), hours_from_greenwich(text))


def _in_one_zone(name: str, moments: pl.Series, hours: pl.Series) -> pl.Series:
    """By the clock of the place; rows of several places by that of Greenwich, so that their order is true."""
    if hours.null_count() == len(hours) or hours.max() - hours.min() <= _SUMMER_TIME:  # type: ignore[operator]
        return moments
    tell(f"time column {name!r} has times of several zones: all are read as UTC.")
    return moments - (hours.fill_null(0.0) * 3_600_000_000).cast(pl.Int64).cast(pl.Duration("us"))


def _no_times(series: pl.Series, found: str) -> TableError:
    return TableError(
        f"time column {series.name!r} must hold numbers, or dates written alike such as 2024-12-31; found {found}. "
        "Mend or drop those rows."
    )
