"""Numbers, shares and moments as a locale writes them."""

from __future__ import annotations

import datetime as dt
import math
import re
from decimal import Decimal
from functools import cache, lru_cache
from itertools import permutations

from babel import Locale
from babel.dates import format_date, format_datetime, format_time, get_day_names, get_month_names
from babel.numbers import (
    NumberFormatError,
    format_decimal,
    get_decimal_symbol,
    get_group_symbol,
    parse_decimal,
    parse_pattern,
)

ENGLISH_LOCALE = Locale("en")
_read = cache(parse_pattern)
#: Patterns without currencies, signs and other rarities, for numbers of up to 15 digits.
_SHAPE = re.compile(r"(?P<grouped>#,##)?0(\.(?P<least>0*)(?P<most>#*))?")
_LARGE = 1e15


@lru_cache(maxsize=4096)
def patterned(value: float | Decimal, pattern: str, locale: Locale | str) -> str:
    """A number by a pattern of Babel; a page writes hundreds, many of them again and again.

    >>> patterned(1234.5, "#,##0.00", "de"), patterned(1e300, "#,##0.00", "de")
    ('1.234,50', '1e300')
    """
    # Zero has no sign: both zeros are one key of the cache.
    value = value or 0
    if is_large(value):
        return decimal_text(value, locale)
    shape = _SHAPE.fullmatch(pattern)
    if shape is None:
        return format_decimal(value, _read(pattern), locale=locale)
    least, most = len(shape["least"] or ""), len(shape["most"] or "")
    return _written(value, bool(shape["grouped"]), least, least + most, *_signs(locale))


def is_large(value: float | Decimal) -> bool:
    """Whether a number has so many places that nobody reads them; Babel cannot write more than 28."""
    return _LARGE <= abs(float(value)) < math.inf


def _written(value: float | Decimal, grouped: bool, least: int, most: int, group: str, point: str) -> str:
    """What Babel writes for a plain pattern, many times as fast: a row has a number in most columns."""
    text = f"{Decimal(str(value)):{',' if grouped else ''}.{most}f}"
    whole, _, digits = text.partition(".")
    digits = digits[:least] + digits[least:].rstrip("0")
    whole = whole.replace(",", group)
    return f"{whole}{point}{digits}" if digits else whole


@cache
def _signs(locale: Locale | str) -> tuple[str, str]:
    """What stands between thousands, and before fractions."""
    return get_group_symbol(locale), get_decimal_symbol(locale)


def decimal_text(
    value: float | Decimal, locale: Locale | str = ENGLISH_LOCALE, decimals: int | None = None
) -> str:
    """A number with the digits it has, or (``decimals`` None) with those that matter.

    >>> [decimal_text(number) for number in (12345.678, 0.037123, 4e-7, 3.0, 1e21)]
    ['12,345.68', '0.03712', '4e-7', '3', '1e21']
    >>> decimal_text(1234.5, "de")
    '1.234,5'
    """
    size = abs(float(value))
    if size and not 1e-4 <= size < _LARGE:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{decimal_text(float(mantissa), locale)}e{int(exponent)}"
    if decimals is None:
        decimals = 0 if value == int(value) else max(2, 3 - math.floor(math.log10(size)))
    return patterned(value, "#,##0." + "#" * decimals if decimals else "#,##0", locale)


def percent_text(share: float, locale: Locale | str = ENGLISH_LOCALE, digits: int | None = None) -> str:
    """A share in percent: a digit after the point below ten, two digits that are not 0 where it is small.

    English has a space before the sign here, as all of this project's pages have.

    >>> [percent_text(share) for share in (0.684, 0.0251, 0.00042, 0.0, 1.0)]
    ['68 %', '2.5 %', '0.042 %', '0 %', '100 %']
    """
    size = abs(100 * share)
    if digits is None:
        digits = 0 if size >= 10 or not size else max(1, 1 - math.floor(math.log10(size)))
    number = patterned(100 * share, "0." + "0" * digits if digits else "0", locale)
    return f"{number}{_before_percent(locale)}%"


@cache
def _before_percent(locale: Locale | str) -> str:
    return " " if str(locale).startswith("en") else "\xa0"


def moment_text(value: dt.date | dt.time, locale: Locale | str = ENGLISH_LOCALE) -> str:
    """A date, a time of day, or both with the time zone where it is known.

    >>> moment_text(dt.date(2024, 5, 1)), moment_text(dt.date(2024, 5, 1), "de")
    ('May 1, 2024', '01.05.2024')
    """
    if isinstance(value, dt.time):
        written = format_time(value, "short", locale=locale)
    elif isinstance(value, dt.datetime):
        written = format_datetime(value, "medium", locale=locale)
    else:
        written = format_date(value, "medium", locale=locale)
    return f"{written} {value:%Z}" if getattr(value, "tzinfo", None) else written


def number_of(text: str, locale: Locale | str = ENGLISH_LOCALE) -> int | float | None:
    """The number that people of a locale write so; None: they write none so.

    >>> number_of("20,000"), number_of("20.000", "de"), number_of("1.250,5", "de"), number_of("1250.5", "de")
    (20000, 20000, 1250.5, None)
    """
    try:
        number = parse_decimal(text, locale, strict=True)
    except NumberFormatError:
        return None
    return int(number) if number == number.to_integral_value() else float(number)


def date_of(text: str, locale: Locale | str = ENGLISH_LOCALE) -> dt.date | None:
    """The date that ``moment_text`` writes so, zeros in front or not; None: it writes none so.

    >>> date_of("Aug 7, 2025"), date_of("7.8.2025", "de"), date_of("2025-08-07")
    (datetime.date(2025, 8, 7), datetime.date(2025, 8, 7), None)
    """
    numbers = [int(each) for each in re.findall(r"\d{1,4}", text)]
    if len(numbers) not in (2, 3):
        return None
    # A month that has no number has a name, which may be any.
    months: list[list[int]] = [[month] for month in range(1, 13)] if len(numbers) == 2 else [[]]
    for named in months:
        for parts in permutations([*numbers, *named]):
            try:
                date = dt.date(*parts)
            except ValueError:
                continue
            if _bare(moment_text(date, locale)) == _bare(text):
                return date
    return None


def _bare(text: str) -> str:
    """A written date without what people leave out."""
    return re.sub(r"\b0+(?=\d)", "", " ".join(text.split())).casefold()


def month_name(month: int, locale: Locale | str = ENGLISH_LOCALE) -> str:
    """The name of a month, from 1."""
    return get_month_names("wide", "stand-alone", locale)[month]


def weekday_name(weekday: int, locale: Locale | str = ENGLISH_LOCALE) -> str:
    """The name of a weekday: Monday is 1."""
    return get_day_names("wide", "stand-alone", locale)[weekday - 1]
