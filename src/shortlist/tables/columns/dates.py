"""Dates as people write them: which format a column has, and the moments that its texts mean.

A column has one format; names of months may be those of several languages. Zones are taken off first: what counts for
a row is the clock on the wall of its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module

import polars as pl

from shortlist.tables.columns.values import clean_text, is_text

_CLOCKS = ("%H:%M:%S%.f", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
ISO_FORMATS = ("%Y-%m-%d", *(f"%Y-%m-%d{between}{clock}" for clock in _CLOCKS[:2] for between in " T"))
#: Day first is tried before month first; a column that fits both follows the others of its table, or is read day first.
_DAYS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y",
    "%m/%d/%y", "%d-%B-%Y", "%d-%B-%y", "%d %B %Y", "%d %B %y", "%d. %B %Y", "%B %d, %Y", "%B %d %Y", "%d/%B/%Y",
)  # fmt: skip
_MONTHS = ("%Y-%m", "%Y/%m", "%m/%Y", "%m.%Y", "%B-%y", "%B-%Y", "%B %Y", "%Y %B")
DATE_FORMATS = (
    *ISO_FORMATS,
    *(day + clock for day in _DAYS for clock in ("", *(" " + each for each in _CLOCKS))),
    *_MONTHS,
)
#: Most formats take a year of any length; one of two digits is the business of the formats with %y.
_FIRST_YEAR = 1000
_DATE_LIKE = (
    r"^(?:\d{1,4}[-/. ]\s?(?:\d{1,2}|\p{L}{3,9})[-/. ]\s?\d{1,4}(?:\D|$)|\d{1,2}\. \p{L}{3,9} \d{4}|\p{L}{3,9}[- ]\d|"
    r"\d{4}[-/]\d{1,2}$|\d{1,2}[/.]\d{4}$|\d{4} \p{L}{3,9}$)"
)
#: Hours from Greenwich of the names that are written behind times.
_ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "JST": 9, "AEST": 10, "AEDT": 11, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7,
    "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip
_ZONE = (
    r"(\d:\d{2}(?:[:.,]\d+)*(?:\s?[AaPp][Mm])?)\s?"
    rf"(\[?[A-Z][a-z]+/[A-Za-z_]+\]?|[+-]\d{{2}}:?\d{{2}}|[+-]\d{{2}}|{'|'.join(_ZONES)})$"
)
_WEEKDAY = r"^(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+"
_LANGUAGES = ("de", "fr", "es", "it", "nl", "pt", "sv", "pl")
#: How the names of months begin in them: words that do not ("shop-04") need no names, which take longer to load than
#: a small table to read.
_MONTHS_BEGIN = (
    "abr ago aoû apr aug avr cze dec dez dic déc ene feb fev fév gen giu gru jan jui jul jun kwi lip lis lug lut maa "
    "mag mai maj mar may mei mrt mär nov oct okt ott out paź sep set sie sty wrz"
)
_MAYBE_MONTH = rf"(?i)^\P{{L}}*(?:{_MONTHS_BEGIN.replace(' ', '|')})"


def date_formats(text: pl.Series, candidates: tuple[str, ...] = DATE_FORMATS) -> list[str]:
    """The formats in which every value of cleaned text is a date."""
    given = text.drop_nulls()
    head = given.head(100)
    if head.is_empty() or not head.str.contains(r"\d").all():
        return []
    head = _plain(head)
    if not head.str.contains(_DATE_LIKE).all():
        return []
    likely = [each for each in candidates if _has_marks(head[0], each)]
    fitting = [each for each in likely if _parse(head, each).null_count() == 0]
    known = _plain(given) if fitting else head
    return [each for each in fitting if _parse(known, each).null_count() == 0]


def as_dates(text: pl.Series, date_format: str) -> pl.Series:
    """Moments of cleaned text, by the clock of their place; null where it does not have this format.

    >>> as_dates(pl.Series(["25-Jan-15", "2015"]), "%d-%B-%y").to_list()
    [datetime.datetime(2015, 1, 25, 0, 0), None]
    """
    return _parse(_plain(text), date_format)


def most_dates(text: pl.Series) -> pl.Series:
    """Moments of cleaned text by the format that fits most values; null where it does not fit.

    >>> most_dates(pl.Series(["31/12/2024", "12/31/2024", "30/12/2024"])).is_null().to_list()
    [False, True, False]
    """
    known = _plain(text)
    likely = known.drop_nulls().unique(maintain_order=True).head(100)
    fitting = [each for each in DATE_FORMATS if any(_has_marks(value, each) for value in likely)]
    best = min(fitting or DATE_FORMATS[:1], key=lambda each: _parse(likely, each).null_count())
    return _parse(known, best)


def first_misfits(text: pl.Series, most: int) -> pl.Series:
    """Of each format the first cleaned texts that do not have it: with these kept, no format fits but those of all.

    most : so many of each format

    >>> first_misfits(pl.Series(["1/5/2015 9:30", "2/5/2015 9:30", "1/25/2015 9:30", "soon"]), 1).to_list()
    ['1/5/2015 9:30', '1/25/2015 9:30', 'soon']
    """
    plain = pl.DataFrame({"text": text, "plain": _plain(text)})
    found = (_misfits(plain, each, most) for each in DATE_FORMATS)
    return pl.concat(found).unique(maintain_order=True)


def _misfits(plain: pl.DataFrame, date_format: str, most: int) -> pl.Series:
    # Of a hundred formats, few fit the first texts and are then tried on all.
    for rows in (plain.head(100), plain):
        misfits = rows["text"].filter(_parse(rows["plain"], date_format).is_null())
        if len(misfits) >= most:
            break
    return misfits.head(most)


def hours_from_greenwich(text: pl.Series) -> pl.Series:
    """The zone behind each time of cleaned text, in hours; null where there is none.

    >>> hours_from_greenwich(pl.Series(["2015-01-25T10:00:00+02:00", "10:00 CET", "2015-01-25"])).to_list()
    [2.0, 1.0, None]
    """
    zone = text.str.extract(_ZONE, 2)
    parts = zone.str.extract_groups(r"^([+-])(\d{2}):?(\d{2})?$").struct
    sign = parts.field("1").replace_strict({"+": 1, "-": -1}, default=None, return_dtype=pl.Int8)
    minutes = parts.field("3").cast(pl.Float64).fill_null(0.0)
    hours = sign * (parts.field("2").cast(pl.Float64) + minutes / 60)
    return hours.fill_null(zone.replace_strict(_ZONES, default=None, return_dtype=pl.Float64))


def slash_order(columns: Iterable[pl.Series]) -> str | None:
    """The first two parts of dates with slashes, where some column can be read in one order only.

    >>> slash_order([pl.Series(["1/5/2015"]), pl.Series(["1/25/2015"])])
    '%m/%d'
    """
    orders = set()
    for column in columns:
        formats = date_formats(clean_text(column)) if is_text(column.dtype) else []
        orders |= set() if is_ambiguous(formats) else {each[:5] for each in formats}
    slashes = orders & {"%d/%m", "%m/%d"}
    return slashes.pop() if len(slashes) == 1 else None


def with_slashes(column: pl.Series) -> pl.Series:
    """What of a column of text ``slash_order`` heeds: texts with slashes, and one without, which says it has no dates.

    >>> with_slashes(pl.Series(["1/5/2015", "C-7", "C-8", None, "2/5/2015"])).to_list()
    ['1/5/2015', '2/5/2015', 'C-7']
    """
    texts = clean_text(column).drop_nulls()
    slashed = texts.str.contains("/", literal=True)
    return pl.concat([texts.filter(slashed), texts.filter(~slashed).head(1)])


def is_ambiguous(formats: list[str]) -> bool:
    """Whether day and month of the dates that fit these formats can be swapped.

    >>> is_ambiguous(["%d/%m/%Y", "%m/%d/%Y"])
    True
    """
    swapped = {re.sub("%([dm])", lambda part: {"d": "%m", "m": "%d"}[part[1]], each) for each in formats}
    return any(each in swapped for each in formats if each.startswith("%d"))


def chosen(formats: list[str], order: str | None) -> str:
    """The format to read by, of those that fit: the table's order where day and month can be swapped."""
    return next((each for each in formats if order and each.startswith(order)), formats[0])


def dates_in_digits(numbers: pl.Series) -> pl.Series | None:
    """Days of whole numbers such as 20150125, or None where some are not."""
    if not numbers.dtype.is_integer():
        return None
    digits = numbers.cast(pl.Int64, strict=False)
    if digits.count() == 0 or not digits.drop_nulls().is_between(1900_01_01, 2100_12_31).all():
        return None
    days = digits.cast(pl.String).str.to_date("%Y%m%d", strict=False)
    return days if days.null_count() == numbers.null_count() else None


def _has_marks(value: str, date_format: str) -> bool:
    """Whether what stands between the parts of a date stands in a value; of a hundred formats, few are then tried."""
    return set(re.sub(r"%\.?[a-zA-Z]|\s", "", date_format)) <= set(value)


def _plain(text: pl.Series) -> pl.Series:
    """Without zone and weekday, names of months in English; each of these only where the text has such a thing."""
    if not text.str.contains(r"\p{L}|[+-]\d{2}:?\d{2}$").any():
        return text
    plain = text.str.replace(_WEEKDAY, "").str.replace(_ZONE, "${1}")
    return _english(plain) if plain.str.contains(_MAYBE_MONTH).any() else plain


def _english(text: pl.Series) -> pl.Series:
    parts = text.str.extract_groups(r"^([^\p{L}]*)(\p{L}{3,}\.?)(.*)$").struct
    word = parts.field("2")
    month = word.str.to_lowercase().str.strip_chars_end(".")
    english = month.replace_strict(_month_names(), default=None, return_dtype=pl.String)
    return (parts.field("1") + english.fill_null(word) + parts.field("3")).fill_null(text).alias(text.name)


@cache
def _month_names() -> dict[str, str]:
    """The English month of each name, in full or short, in the languages that are known; English comes first."""
    Locale = import_module("babel").Locale  # takes a while to load
    english = Locale("en").months["format"]["wide"]
    names = {"sept": "September"}
    for language in ("en", *_LANGUAGES):
        for use in Locale(language).months.values():
            for kind in ("wide", "abbreviated"):
                for number, name in use[kind].items():
                    names.setdefault(name.rstrip(".").lower(), english[number])
    return names


def _parse(plain: pl.Series, date_format: str) -> pl.Series:
    if "%d" not in date_format:  # months begin with their first day
        plain, date_format = plain + " 01", date_format + " %d"
    moments = plain.str.to_datetime(date_format, strict=False, time_unit="us")
    if moments.null_count() == len(moments):  # as by most formats that are tried
        return moments
    return moments.set((moments.dt.year() < _FIRST_YEAR).fill_null(False), None)
