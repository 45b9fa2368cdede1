"""A column that must hold numbers, such as a value or a score."""

from __future__ import annotations

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.numerals import MixedUnits, Numerals, as_numbers
from shortlist.tables.columns.values import clean_text, is_text, listed_misfits, without_gap_words


def read_numbers(series: pl.Series, role: str) -> pl.Series:
    """A column as numbers, null where missing; ``role`` names it in the message where it holds something else."""
    if series.dtype.is_numeric():
        return series.fill_nan(None) if series.dtype.is_float() else series
    text = clean_text(series) if is_text(series.dtype) else series.cast(pl.String, strict=False)
    text = without_gap_words(text)
    try:
        numbers = as_numbers(text, Numerals.of(text))
    except MixedUnits as mixed:
        raise TableError(
            f"{role} column {series.name!r} mixes {mixed}; give all its values in one of them."
        ) from None
    odd = listed_misfits(text, numbers)
    if odd:
        raise TableError(
            f"{role} column {series.name!r} must hold numbers; found {odd}. Mend these values, or say that they mean "
            "nothing: --missing VALUE"
        )
    return numbers
