"""What is wrong with a column of text that has too many values for a category, as far as its values tell."""

from __future__ import annotations

import polars as pl

from shortlist.tables.columns.values import as_numbers, first_misfit

_DATE = r"^(\d{1,4}[-/. ](\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{1,4}|\d{4}-?\d{2}-?\d{2}T)"
# A sign or a code of money before or after; "C-000017" and "shop 7" are names.
_MONEY = r"[-+]?\s?(\p{Sc}|[A-Z]{3}|[Kk]r)?\s?"
_AMOUNT = rf"^{_MONEY}[-+]?\d{{1,3}}([ ',.]?\d{{3}})*([.,]\d+)?\s?(%|{_MONEY})$"


def advice_on(values: pl.Series) -> str:
    """What to do about the different values of a column; nothing where they look like names or free text.

    >>> advice_on(pl.Series(["3", "5", "none"]))
    " Most values are numbers and 'none' is not: leave such values empty, or write a number."
    """
    numbers = as_numbers(values)
    if 2 * numbers.null_count() < len(values):
        odd = first_misfit(values, numbers)
        return f" Most values are numbers and {odd!r} is not: leave such values empty, or write a number."
    if _most(values, _DATE):
        return " If these are dates, write all of them alike, as 2024-12-31 or 2024-12-31 23:59:59."
    if _most(values, _AMOUNT):
        return " If these are numbers, write them without signs for money or thousands, as 1234.50."
    return ""


def _most(values: pl.Series, pattern: str) -> bool:
    return bool(values.str.contains(pattern).mean() > 0.5)  # type: ignore[operator]
