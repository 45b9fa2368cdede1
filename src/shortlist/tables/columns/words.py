"""Values as people read them: numbers, shares in percent, lists of names, the matrix in the words of the table."""

from __future__ import annotations

import datetime as dt
import math

from shortlist.languages.values import decimal_text, month_name, percent_text, weekday_name
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.formats import Format


def percent(share: float | None, digits: int | None = None) -> str:
    """A share in percent; small ones with digits after the point, unless told otherwise.

    >>> percent(0.684), percent(0.0251), percent(None)
    ('68 %', '2.5 %', '–')
    """
    return "–" if share is None else percent_text(share, digits=digits)


def number_text(value: float) -> str:
    """A number in a sentence: 12,400 or 0.03712.

    >>> number_text(12400.0), number_text(0.03712), number_text(3.0), number_text(float("inf"))
    ('12,400', '0.03712', '3', 'inf')
    """
    return Format().write(float(value))


def figure(value: float) -> str:
    """A number under others in a table: as many digits after the point as they have, unless it is small.

    >>> figure(12345.6), figure(0.6843), figure(0.00123), figure(float("nan"))
    ('12,346', '0.684', '0.0012', '–')
    """
    if math.isnan(value):
        return "–"
    return _whole(value) or (f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}")


def _whole(value: float) -> str:
    """A whole or large number, thousands apart; nothing for others."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else ""


def listed(names: list[str], most: int = 10) -> str:
    """The first names of a list, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def in_words(feature: Feature, part: str, value: float) -> str:
    """A value of one part of a feature: a category by name, a flag as true or false, a date as a date.

    >>> seen = Feature("seen", "date", clock=True)
    >>> [in_words(seen, part, value) for part, value in zip(seen.parts, (20_000, 10, 5, 13.5))]
    ['2024-10-04', 'October', 'Friday', '13:30']
    """
    if part == "category":
        return feature.categories[int(value)]
    if part == "flag":
        return "true" if value else "false"
    if part == "days":
        return (dt.date(1970, 1, 1) + dt.timedelta(days=float(value))).isoformat()
    if part == "hour":
        return "{:02d}:{:02d}".format(*divmod(round(60 * value), 60))
    if part in ("month", "weekday") and value == int(value):  # a threshold may lie between two of them
        return (month_name if part == "month" else weekday_name)(int(value))
    return decimal_text(value)
