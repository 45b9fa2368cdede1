"""What is wrong with a column of text whose values are numbers or dates for the most part."""

from __future__ import annotations

from shlex import quote

import polars as pl

from shortlist.exceptions import TableError
from shortlist.tables.columns.dates import most_dates
from shortlist.tables.columns.numerals import like_numbers
from shortlist.tables.columns.words import listed

#: So many of the different values must be numbers, or dates, before the others look like mistakes ...
_LEAST = 3
#: ... and they must be more than this share of them, and the others few: many of them are no mistakes.
_MOST = 0.5
FEW_ODD = 20


def check_pure(name: str, values: pl.Series, *, more: bool = False) -> None:
    """Refuse a column that holds numbers, or dates, and something else: it would silently become a category.

    more : whether it has more values, which nobody has counted

    >>> check_pure("age", pl.Series(["31", "40", "57", "old"]))
    Traceback (most recent call last):
        ...
    shortlist.exceptions.TableError: column 'age' holds numbers and also 'old'. Mend ...
    """
    for kind, fits in (("numbers", like_numbers), ("dates", _like_dates)):
        fitting = fits(values)
        many = fitting.sum() >= _LEAST and fitting.mean() > _MOST  # type: ignore[operator]
        if many and (~fitting).sum() <= FEW_ODD:
            raise TableError(_mixed(name, kind, values, fitting, more))


def _like_dates(values: pl.Series) -> pl.Series:
    return most_dates(values).is_not_null()


def _mixed(name: str, kind: str, values: pl.Series, fitting: pl.Series, more: bool) -> str:
    odd = values.filter(~fitting).sort().to_list()
    if not odd:
        shown = values.sort().head(3) if more else values.sort()
        some = listed([repr(each) for each in shown], most=3)
        return (
            f"column {name!r} holds {kind} with decimal points and with decimal commas, such as {some}. "
            f"Write all of them alike, or leave it out: --ignore {quote(name)}"
        )
    how = "" if kind == "numbers" else f", written like {values.filter(fitting)[0]!r},"
    return (
        f"column {name!r} holds {kind}{how} and also {listed([repr(each[:40]) for each in odd], most=3)}. Mend these "
        f"values; or say that they mean nothing: --missing {quote(odd[0])}; or that all are names: --category "
        f"{quote(name)}; or leave it out: --ignore {quote(name)}"
    )
