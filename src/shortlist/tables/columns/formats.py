"""How the values of a column are written: by what the column is, in the manner of one locale."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal

import numpy as np
import polars as pl
from babel import Locale
from babel.numbers import format_currency

from shortlist.exceptions import InvalidInputError
from shortlist.languages.values import (
    ENGLISH_LOCALE,
    decimal_text,
    is_large,
    moment_text,
    patterned,
    percent_text,
)
from shortlist.languages.words import Message
from shortlist.tables.columns.feature import Feature

Kind = Literal["text", "id", "code", "year", "count", "number", "money", "share", "flag", "date", "moment"]
#: What a user may say that numbers are, and that texts are.
OF_NUMBERS: tuple[Kind, ...] = ("id", "code", "year", "count", "number", "money", "share")
OF_TEXTS: tuple[Kind, ...] = ("id", "code")
#: More different values than these tell no more of how numbers are written.
_SAMPLE = 10_000
#: Numbers with more digits after the point than these are measured, not written down.
_MOST_DECIMALS = 4
_YEARS = (1900, 2100)
_CODE_DIGITS = 7
_CODES = {
    "id", "code", "zip", "zipcode", "plz", "postcode", "postleitzahl", "postal", "account", "acct", "konto",
    "iban", "bic", "phone", "telephone", "tel", "telefon", "ssn", "vin", "ref", "reference", "serial", "isbn",
}  # fmt: skip
_LAST_OF_CODES = {"no", "nr", "number", "nummer", "key"}
_JOINED = ("number", "nummer")  # accountnumber, Kontonummer
_MONEY = {
    "amount", "amt", "price", "cost", "costs", "premium", "fee", "fees", "salary", "income", "revenue", "payment",
    "paid", "balance", "deductible", "eur", "usd", "gbp", "chf", "betrag", "preis", "kosten", "beitrag", "gehalt",
    "umsatz",
}  # fmt: skip
_SHARES = {
    "share", "rate", "ratio", "fraction", "probability", "percent", "percentage", "pct", "anteil", "quote",
}  # fmt: skip
_YEAR_WORDS = {"year", "yr", "jahr", "baujahr"}


@dataclass(frozen=True)
class Format:
    r"""What the values of a column are, and so how they are written.

    kind : "id" and "code" (digits that name something) and "year" are written without a sign between thousands, "money"
        with two digits after the point unless all values are whole, "share" in percent
    decimals : digits after the point that its values have; None: they are measured, and written with a few digits
    currency : of money, such as EUR

    >>> [Format("money", 2).write(1234.5), Format("year").write(1996), Format("share", 3).write(0.125)]
    ['1,234.50', '1996', '12.5 %']
    >>> Format("money", 2, "EUR").write(1234.5, "de")
    '1.234,50\xa0€'
    """

    kind: Kind = "number"
    decimals: int | None = None
    currency: str = ""

    @classmethod
    def learn(cls, series: pl.Series) -> Format:
        """What a column is, told from its name, its type and its values.

        >>> Format.learn(pl.Series("zip code", [10115, 80331])).kind
        'code'
        """
        dtype = series.dtype
        if dtype == pl.Boolean:
            return cls("flag")
        if dtype in (pl.Date, pl.Datetime):
            return cls("date" if dtype == pl.Date else "moment")
        if not dtype.is_numeric():
            return cls("text")
        known = series.drop_nulls().unique().cast(pl.Float64).head(_SAMPLE)
        return _of_numbers(series.name, known.filter(known.is_finite()), len(series))

    @classmethod
    def learn_from(cls, series: pl.Series, feature: Feature | None) -> Format:
        """The same, where texts may be read as numbers: they are told as what these numbers are.

        >>> from shortlist.tables.columns.learn import learn_feature
        >>> years = pl.Series("year", ["1996", "1997", "2001"])
        >>> Format.learn_from(years, learn_feature(years)).kind
        'year'
        """
        if feature is not None and feature.code:
            return cls("code", 0)
        if feature is not None and feature.kind == "number" and series.dtype == pl.String:
            return cls.learn(feature.encode(series).numbers[0].alias(series.name))
        return cls.learn(series)

    @classmethod
    def read(cls, text: str, learned: Format) -> Format:
        """What a user says that a column is: a kind, or a currency such as EUR, or "money EUR".

        >>> Format.read("money EUR", Format("number", 2))
        Format(kind='money', decimals=2, currency='EUR')
        """
        kind, _, currency = text.strip().partition(" ")
        if re.fullmatch("[A-Z]{3}", kind):
            kind, currency = "money", kind
        if kind not in OF_NUMBERS or (
            currency and (kind != "money" or not re.fullmatch("[A-Z]{3}", currency))
        ):
            raise InvalidInputError(
                Message(
                    "there is no format '%(text)s'; there are: %(known)s; or money EUR, with a currency.",
                    text=text,
                    known=", ".join(OF_NUMBERS),
                )
            )
        return cls(kind, learned.decimals, currency)

    def __str__(self) -> str:
        """What ``read`` takes."""
        return f"{self.kind} {self.currency}".strip()

    @property
    def names(self) -> bool:
        """Whether values name something: none of them is high, low or usual."""
        return self.kind in ("id", "code")

    def write(self, value: Any, locale: Locale | str = ENGLISH_LOCALE) -> str:
        """A value as people of a locale write it; a dash where it is missing."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "–"
        if isinstance(value, dt.date | dt.time):
            return moment_text(value, locale)
        is_number = isinstance(value, int | float | Decimal) and math.isfinite(value) and self.kind != "text"
        return self._number(value, locale) if is_number else str(value)

    def write_range(self, low: float, high: float, locale: Locale | str = ENGLISH_LOCALE) -> tuple[str, str]:
        """The ends of a range, rounded outward to a few digits: what lies between the ends still does.

        >>> Format("money", 2).write_range(812.37, 9412.11)
        ('812', '9,420')
        """
        if self.kind in ("id", "code", "year"):
            return self.write(low, locale), self.write(high, locale)
        if self.decimals is not None:
            low, high = round(low, self.decimals), round(high, self.decimals)
        digits = 4 if self.decimals == 0 else 3
        ends = _rounded(low, digits, ROUND_FLOOR), _rounded(high, digits, ROUND_CEILING)
        return self._end(ends[0], locale), self._end(ends[1], locale)

    def _end(self, end: Decimal, locale: Locale | str) -> str:
        """An end of a range with all the digits that it was rounded to."""
        digits = max(0, -int(end.normalize().as_tuple().exponent))
        if self.kind == "share":
            return percent_text(float(end), locale, max(0, digits - 2))
        return self._number(end, locale) if self.currency else decimal_text(end, locale)

    def _number(self, value: float | Decimal, locale: Locale | str) -> str:
        if self.kind in ("id", "code", "year"):
            return f"{value:.0f}" if value == int(value) else str(value)
        if self.kind == "share":
            digits = None if self.decimals is None else min(max(self.decimals - 2, 0), 2)
            return percent_text(float(value), locale, digits)
        if self.currency:
            if is_large(value):
                return f"{decimal_text(value, locale)}\xa0{self.currency}"
            return format_currency(value, self.currency, locale=locale)
        if self.kind == "money" and self.decimals != 0:
            return patterned(value, "#,##0.00", locale)
        return decimal_text(value, locale, self.decimals)


def _of_numbers(name: str, known: pl.Series, rows: int) -> Format:
    if known.is_empty():
        return Format()
    words, decimals = _words(name), _decimals(known)
    if decimals == 0:
        return Format(_whole(words, known, rows), 0)
    if _SHARES.intersection(words) and known.is_between(0, 1).all():
        return Format("share", decimals)
    is_money = decimals == 2 or (decimals == 1 and _MONEY.intersection(words))
    return Format("money" if is_money else "number", decimals)


def _whole(words: list[str], known: pl.Series, rows: int) -> Kind:
    """What whole numbers are: names of something, years, money, or a count."""
    numbers = known.to_numpy()
    low, high = numbers.min(), numbers.max()
    last = words[-1] if words and "of" not in words else ""
    named = _CODES.intersection(words) or last in _LAST_OF_CODES or last.endswith(_JOINED)
    if low >= 0 and named:
        return "code"
    ends = np.median(numbers) if _YEAR_WORDS.intersection(words) else numbers  # an odd year may be mistyped
    if np.all((_YEARS[0] <= ends) & (ends <= _YEARS[1])):
        return "year"
    digits = len(f"{low:.0f}")
    if digits >= _CODE_DIGITS and digits == len(f"{high:.0f}") and 2 * numbers.size > min(rows, _SAMPLE):
        return "code"
    return "money" if _MONEY.intersection(words) else "count"


def _decimals(known: pl.Series) -> int | None:
    """Digits after the point that all of these numbers have at most; None: they have many."""
    numbers = known.to_numpy()
    slack = 1e-9 * np.maximum(1, np.abs(numbers))
    fitting = (
        d for d in range(_MOST_DECIMALS + 1) if (np.abs(np.round(numbers, d) - numbers) <= slack).all()
    )
    return next(fitting, None)


def _words(name: str) -> list[str]:
    """The words of a name, however they are joined: policyNumber, policy_number.

    >>> _words("RepNumber_2 id")
    ['rep', 'number', '2', 'id']
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-ZÄÖÜ]?[a-zäöüß]+|\d+", name)]


def _rounded(value: float, digits: int, rounding: str) -> Decimal:
    """A number rounded to some digits in one direction, exactly."""
    exact = Decimal(repr(float(value)))
    if not exact:
        return exact
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=rounding)
