"""The queue as a list: rows by what they hold and what was said of them, in an order, a page at a time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.languages.values import date_of, number_of
from shortlist.languages.words import Language, Message
from shortlist.review.casework.index import Index, Mask
from shortlist.review.errors import BadRequestError
from shortlist.review.log.events import Event
from shortlist.review.log.state import verdict_of
from shortlist.verdicts import NO, YES

PAGE_ROWS = 50


class Standing(StrEnum):
    """What has become of a row; the values of ``Verdict`` are among them."""

    OPEN = "open"
    LATER = "later"
    WANTED = "wanted"
    NOT_WANTED = "not wanted"
    UNSURE = "unsure"
    MINE = "mine today"
    ALL = "all"


class Test(StrEnum):
    """How the values of a column are compared with the one asked for."""

    __test__ = False  # pytest would take it for a test

    IS = "is"
    CONTAINS = "contains"
    FROM = "from"
    TO = "to"
    MISSING = "missing"


@dataclass(frozen=True)
class Asked:
    """What is looked for, and how it is listed.

    text : anywhere in a row, in large or small letters; a number is looked for among numbers
    column, test, value : a condition on one column
    sort : a column; "": the order of the ranking for open rows, newest first for decided ones
    """

    text: str = ""
    column: str = ""
    test: Test = Test.IS
    value: str = ""
    standing: Standing = Standing.OPEN
    sort: str = ""
    down: bool = False
    page: int = 1


@dataclass(frozen=True)
class Desk:
    """How matters stand: verdicts in force by row (oldest first), rows put off until when, and who asks, since when."""

    said: Mapping[int, Event]
    later: Mapping[int, float]
    who: str = ""
    midnight: float = 0.0


@dataclass(frozen=True)
class Page:
    """One page of what was found."""

    rows: tuple[int, ...]
    total: int
    number: int

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, ceil(self.total / PAGE_ROWS))


def find(
    index: Index,
    asked: Asked,
    desk: Desk,
    ranked: Callable[[NDArray[np.int64], int], list[int]],
    language: Language | None = None,
) -> Page:
    """A page of the rows asked for; ``ranked`` gives the best n of some open rows, best first.

    language : in which a person asks, who writes values as a page shows them; None: a program does

    >>> from shortlist.review.casework.index import index_of
    >>> from shortlist.review.desk.rows import Rows
    >>> from shortlist.tables import Roles
    >>> rows = Rows(pl.DataFrame({"id": ["a", "b", "c"], "amount": [3.0, 9.0, 5.0]}), Roles(id="id"))
    >>> asked = Asked(column="amount", test=Test.FROM, value="4", sort="amount", down=True)
    >>> find(index_of(rows), asked, Desk({}, {}), lambda rows, n: rows.tolist()).rows
    (1, 2)
    """
    _check(index, asked)
    standing = _standing(index, asked.standing, desk)
    found = standing[_matches(index, asked, language)[standing]]
    number = min(max(1, asked.page), max(1, ceil(found.size / PAGE_ROWS)))
    start, stop = (number - 1) * PAGE_ROWS, number * PAGE_ROWS
    if asked.sort:
        rows = _sorted(index, found, asked, start)
    elif asked.standing is Standing.OPEN and found.size:
        rows = ranked(found, min(stop, found.size))[start:]
    else:
        rows = found[start:stop].tolist()
    return Page(tuple(rows), int(found.size), number)


def _check(index: Index, asked: Asked) -> None:
    for name in (asked.column, asked.sort):
        if name and name not in index.columns:
            raise BadRequestError(f"there is no column {name!r}; there are: {', '.join(index.columns)}.")


def _standing(index: Index, standing: Standing, desk: Desk) -> NDArray[np.int64]:
    """Rows of a standing: decided ones newest first, those put off by when they return, others as in the table."""
    newest = [(row, event) for row, event in reversed([*desk.said.items()])]
    if standing is Standing.ALL:
        return np.arange(len(index))
    if standing is Standing.LATER:
        return np.array(sorted(desk.later, key=lambda row: desk.later[row]), dtype=np.int64)
    if standing is Standing.MINE:
        mine = [row for row, event in newest if event.who == desk.who and event.at >= desk.midnight]
        return np.array(mine, dtype=np.int64)
    if standing is Standing.OPEN:
        is_open = np.ones(len(index), dtype=bool)
        is_open[[*desk.said, *index.erased]] = False
        return np.flatnonzero(is_open)
    return np.array(
        [row for row, event in newest if verdict_of(event).value == standing.value], dtype=np.int64
    )


def _matches(index: Index, asked: Asked, language: Language | None) -> Mask:
    mask = np.ones(len(index), dtype=bool)
    if asked.text.strip():
        mask &= _anywhere(index, asked.text.strip(), language)
    if asked.column:
        mask &= _condition(index, asked, language)
    return mask


def _anywhere(index: Index, text: str, language: Language | None) -> Mask:
    masks = [index.containing(name, text) for name in index.texts]
    for name in index.columns:
        if name not in index.texts:
            readings = _readings(index.table[name].dtype, text, language)
            masks += [index.equal(name, value) for value in readings]
    return np.logical_or.reduce(masks) if masks else np.zeros(len(index), dtype=bool)


def _condition(index: Index, asked: Asked, language: Language | None) -> Mask:
    column = index.table[asked.column]
    if asked.test is Test.MISSING:
        empty = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
        return empty.to_numpy()
    if asked.test is Test.CONTAINS and _can_be_written(column.dtype):
        return index.containing(asked.column, asked.value)
    readings = _readings(column.dtype, asked.value, language)
    if not readings:
        raise BadRequestError(_misread(column.dtype, asked.column, asked.value))
    if asked.test is Test.IS:  # links of our own pages ask as a program does: 1.234 is not a thousand there
        return np.logical_or.reduce([index.equal(asked.column, value) for value in readings])
    held, value = pl.col(asked.column), pl.lit(readings[0])
    side = held >= value if asked.test is Test.FROM else held <= value
    return index.table.select(side.fill_null(False)).to_series().to_numpy()


def _readings(dtype: pl.DataType, text: str, language: Language | None) -> list[Any]:
    """What a text may mean as a value of a column: first as a person writes it, then as a program does."""
    if not _can_be_written(dtype):
        return []
    as_shown = _as_shown(dtype, text.strip(), language) if language else None
    try:
        plain = _plain(dtype, text)
    except (ValueError, KeyError):
        plain = None
    return [value for value in (as_shown, plain) if value is not None]


def _as_shown(dtype: pl.DataType, text: str, language: Language) -> Any:
    """A value that a page in this language shows so; None: none is."""
    if dtype.is_numeric():
        return number_of(text, language.locale)
    if dtype == pl.Date:
        return date_of(text, language.locale)
    if isinstance(dtype, pl.Datetime):
        date = date_of(text, language.locale)
        return date and _in_zone(dt.datetime.combine(date, dt.time()), dtype.time_zone)
    if dtype == pl.Boolean:
        return {language.write(each).lower(): each for each in (True, False)}.get(text.lower())
    return None


def _plain(dtype: pl.DataType, text: str) -> Any:
    """A value as programs write it."""
    if dtype.is_numeric():
        return _number(text)
    if dtype == pl.Date:
        return dt.date.fromisoformat(text.strip())
    if isinstance(dtype, pl.Datetime):
        return _in_zone(dt.datetime.fromisoformat(text.strip()), dtype.time_zone)
    if dtype == pl.Time:
        return dt.time.fromisoformat(text.strip())
    if dtype == pl.Boolean:
        return {**dict.fromkeys(YES, True), **dict.fromkeys(NO, False)}[text.strip().lower()]
    return text


def _in_zone(moment: dt.datetime, zone: str | None) -> dt.datetime:
    """A moment as a column of a time zone has it; one that names no zone is of that zone."""
    if zone is None or moment.tzinfo is None:
        return moment.replace(tzinfo=ZoneInfo(zone) if zone else None)
    return moment.astimezone(ZoneInfo(zone))


def _can_be_written(dtype: pl.DataType) -> bool:
    """Whether somebody can write a value: not a list, a record, bytes or a span of time."""
    return not (dtype.is_nested() or dtype in (pl.Binary, pl.Duration, pl.Object))


def _misread(dtype: pl.DataType, name: str, text: str) -> Message:
    if not _can_be_written(dtype):
        return Message("%(column)s holds what cannot be looked for.", column=name)
    if dtype.is_numeric():
        return Message("%(column)s holds numbers, such as 1250.5; got %(got)s.", column=name, got=repr(text))
    if dtype == pl.Time:
        return Message("%(column)s holds times, such as 14:30; got %(got)s.", column=name, got=repr(text))
    if dtype.is_temporal():
        return Message(
            "%(column)s holds dates, such as 2025-03-31; got %(got)s.", column=name, got=repr(text)
        )
    return Message("%(column)s holds yes or no; got %(got)s.", column=name, got=repr(text))


def _number(text: str) -> int | float:
    """Whole numbers stay whole: the account numbers of a table have more digits than a float."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _sorted(index: Index, found: NDArray[np.int64], asked: Asked, start: int) -> list[int]:
    part = pl.DataFrame({"row": found, "key": index.table[asked.sort][found]}).lazy()
    ordered = part.sort("key", "row", descending=[asked.down, False], nulls_last=True)
    return ordered.slice(start, PAGE_ROWS).collect()["row"].to_list()
