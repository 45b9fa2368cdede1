"""What text means: missing values and flags written as text; numbers and dates have modules of their own.

A column of text from a CSV file, a data frame or a database is read by the same rules, so a schema learned
from one of them fits the others.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from shortlist.verdicts import NO, YES

#: Text that stands for a missing value.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "NaN", "nan", "<NA>", "\\N")
#: Signs that people and spreadsheets leave where nothing is known.
GAPS = (
    "?", "??", "-", "--", "---", "–", "—", ".", "..", "...", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!",
)  # fmt: skip
#: Words that mean the same among numbers or dates; among words they may be a category. In small letters.
GAP_WORDS = (
    "unknown", "none", "nil", "missing", "n.a.", "na", "k.a.", "k. a.", "tbd", "tba", "not available", "not applicable",
    "not known", "unbekannt", "inconnu",
)  # fmt: skip

FLAGS = {"true": True, "false": False}
#: What new rows may write for a flag, beside true and false.
FLAG_WORDS = dict.fromkeys(YES, True) | dict.fromkeys(NO, False)


def is_text(dtype: pl.DataType) -> bool:
    """Whether values of this type are words."""
    return dtype == pl.String or is_category(dtype)


def is_category(dtype: pl.DataType) -> bool:
    """Whether the type itself says that values are categories."""
    return isinstance(dtype, pl.Categorical | pl.Enum)


def kind_in_words(dtype: pl.DataType) -> str:
    """What values of a type are to people; "missing" where the type says nothing.

    >>> kind_in_words(pl.Float32())
    'numbers'
    """
    if dtype == pl.Null:
        return "missing"
    if dtype.is_numeric():
        return "numbers"
    if dtype in (pl.Date, pl.Datetime):
        return "dates"
    return "text" if is_text(dtype) else str(dtype).lower()


def clean_text(series: pl.Series) -> pl.Series:
    """Text without spaces around it; words that stand for missing values are null.

    Whole numbers are written without a fraction, so 3 and 3.0 are one category.
    """
    text = _as_words(series)
    return text.set(text.is_in([*MISSING, *GAPS]), None)


def _as_words(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        is_whole = (whole.cast(series.dtype) == series).fill_null(False)
        return whole.cast(pl.String).zip_with(is_whole, series.cast(pl.String))
    return series.cast(pl.String, strict=False).str.strip_chars()


def blanked(table: pl.DataFrame, missing: Collection[str]) -> pl.DataFrame:
    """The table without the values that its user said mean nothing, in whatever type a column holds them.

    >>> blanked(pl.DataFrame({"age": [31, 999], "sex": ["f", "?"]}), ["999", "?"])["age"].to_list()
    [31, None]
    """
    if not missing:
        return table
    plain = [column for column in table.iter_columns() if not column.dtype.is_nested()]
    return table.with_columns(column.set(_as_words(column).is_in(missing), None) for column in plain)


def without_gap_words(text: pl.Series) -> pl.Series:
    """Cleaned text in which words such as "unknown" are missing, as they are among numbers and dates.

    >>> without_gap_words(pl.Series(["3", "Unknown"])).to_list()
    ['3', None]
    """
    return text.set(text.str.to_lowercase().is_in(GAP_WORDS), None)


def as_flags(text: pl.Series, words: dict[str, bool]) -> pl.Series:
    """True and false of cleaned text; null where it is another word."""
    return text.str.to_lowercase().replace_strict(words, default=None, return_dtype=pl.Boolean)


def first_misfit(text: pl.Series, parsed: pl.Series) -> str | None:
    """The first value that could not be parsed, or None."""
    misfits = text.filter(text.is_not_null() & parsed.is_null())
    return None if misfits.is_empty() else str(misfits[0])


def listed_misfits(text: pl.Series, parsed: pl.Series, most: int = 3) -> str:
    """The different values that could not be parsed and how many rows have one, or nothing.

    >>> listed_misfits(pl.Series(["3", "x", "x", "y"]), pl.Series([3, None, None, None]))
    "'x' and 'y' in 3 rows"
    """
    odd = text.filter(text.is_not_null() & parsed.is_null())
    values = [repr(each[:40]) for each in odd.unique(maintain_order=True).head(most)]
    rows = "row" if len(odd) == 1 else "rows"
    more = ", ..." if odd.n_unique() > most else ""
    return f"{' and '.join(values)}{more} in {len(odd):,} {rows}" if len(odd) else ""
