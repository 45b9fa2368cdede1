"""What text means: missing values, numbers, flags and dates written as text.

A column of text from a CSV file, a data frame or a database is read by the same rules, so a schema learned
from one of them fits the others.
"""

from __future__ import annotations

import polars as pl

from shortlist.verdicts import NO, YES

#: Text that stands for a missing value.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "NaN", "nan")

FLAGS = {"true": True, "false": False}
#: What new rows may write for a flag, beside true and false.
FLAG_WORDS = dict.fromkeys(YES, True) | dict.fromkeys(NO, False)

_TIMES = ("", " %H:%M:%S%.f", "T%H:%M:%S%.f", "T%H:%M:%S%.fZ", " %H:%M", "T%H:%M")
ISO_FORMATS = tuple("%Y-%m-%d" + time for time in _TIMES)
#: Day first is tried before month first; a column that fits both is read day first.
DATE_FORMATS = ISO_FORMATS + tuple(
    date + time
    for date in ("%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d-%b-%Y")
    for time in ("", " %H:%M:%S%.f", " %H:%M")
)
_DATE_LIKE = r"^\d{1,4}[-/.](\d{1,2}|[A-Za-z]{3})[-/.]\d{1,4}([ T]\d{1,2}:\d{2}.*)?$"
_FOUR_DIGIT_YEAR = r"\d{4}"


def is_text(dtype: pl.DataType) -> bool:
    """Whether values of this type are words."""
    return dtype == pl.String or is_category(dtype)


def is_category(dtype: pl.DataType) -> bool:
    """Whether the type itself says that values are categories."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def clean_text(series: pl.Series) -> pl.Series:
    """Text without spaces around it; words that stand for missing values are null.

    Whole numbers are written without a fraction, so 3 and 3.0 are one category.
    """
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        kept = whole.cast(pl.String).zip_with(
            (whole.cast(series.dtype) == series).fill_null(False), series.cast(pl.String)
        )
        series = kept
    text = series.cast(pl.String).str.strip_chars()
    return text.set(text.is_in(MISSING), None)


def as_numbers(text: pl.Series) -> pl.Series:
    """Numbers of cleaned text; null where it is no number."""
    return text.cast(pl.Float64, strict=False)


def as_flags(text: pl.Series, words: dict[str, bool]) -> pl.Series:
    """True and false of cleaned text; null where it is another word."""
    return text.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)


def as_dates(text: pl.Series, date_format: str) -> pl.Series:
    """Moments of cleaned text; null where it does not have this format."""
    return text.str.to_datetime(date_format, strict=False, time_unit="us")


def date_formats(text: pl.Series, candidates: tuple[str, ...] = DATE_FORMATS) -> list[str]:
    """The formats in which every value of cleaned text is a date."""
    known = text.drop_nulls()
    if known.is_empty() or not _looks_like_dates(known.head(100)) or not _looks_like_dates(known):
        return []
    head = known.head(100)
    fitting = [each for each in candidates if as_dates(head, each).null_count() == 0]
    return [each for each in fitting if as_dates(known, each).null_count() == 0]


def most_dates(text: pl.Series) -> pl.Series:
    """Moments of cleaned text by the format that fits most values; null where it does not fit.

    >>> most_dates(pl.Series(["31/12/2024", "12/31/2024", "30/12/2024"])).is_null().to_list()
    [False, True, False]
    """
    return min((as_dates(text, each) for each in DATE_FORMATS), key=pl.Series.null_count)


def _looks_like_dates(known: pl.Series) -> bool:
    return bool((known.str.contains(_DATE_LIKE) & known.str.contains(_FOUR_DIGIT_YEAR)).all())


def first_misfit(text: pl.Series, parsed: pl.Series) -> str | None:
    """The first value that could not be parsed, or None."""
    misfits = text.filter(text.is_not_null() & parsed.is_null())
    return None if misfits.is_empty() else str(misfits[0])
