"""Numbers as people read them: shares in percent, values of the matrix in the words of the table."""

from __future__ import annotations

import datetime as dt

from shortlist.tables.feature import Feature

# Not those of the calendar module, which change with the machine's language.
_MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def percent(share: float | None, digits: int | None = None) -> str:
    """A share in percent; small ones with a digit after the point, unless told otherwise.

    >>> percent(0.684), percent(0.0251), percent(None)
    ('68 %', '2.5 %', '–')
    """
    if share is None:
        return "–"
    digits = int(0 < share < 0.1) if digits is None else digits
    return f"{100 * share:.{digits}f} %"


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
        return (_MONTHS if part == "month" else _WEEKDAYS)[int(value) - 1]
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
