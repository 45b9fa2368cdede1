"""Numbers as people write them: signs of money, percents, thousands apart, a comma for a point."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|INR|IDR|BRL|MXN|ARS|CLP|COP|PEN|CAD|AUD|NZD|"
    "ZAR|KRW|SGD|HKD|TWD|THB|MYR|PHP|VND|ILS|AED|SAR|EGP|NGN|KES"
)
_UNIT = rf"(?:US|C|A|R|NZ)?\$|\p{{Sc}}|(?:{_CODES})\b|[Kk][Rr]\.?|zł|Fr\.?|%"
_SPACES = r" \u00a0\u2009\u202f"
_WRITTEN = (
    rf"^([(−+-])?[{_SPACES}]?({_UNIT})?[{_SPACES}]?([−+-])?"
    rf"((?:\d[\d.,'’{_SPACES}]*?|[.,]\d+)(?:[eE][+-]?\d+)?)(?:\.-)?[{_SPACES}]?({_UNIT})?[{_SPACES}]?([)−-])?$"
)
#: Currencies of places that write a point between thousands.
_POINT_BETWEEN_THOUSANDS = ("€", "EUR", "kr", "zł", "R$", "BRL", "SEK", "NOK", "DKK", "PLN", "TRY")


class MixedUnits(ValueError):
    """A column writes numbers of several units, which cannot be told from each other once they are read."""

    def __init__(self, units: list[str]) -> None:
        super().__init__(" and ".join(each or "numbers without a sign" for each in units))


def _fits(decimal: str) -> str:
    between = {".": ",", ",": r"\."}[decimal]
    groups = [rf"(?:{sign}\d{{3}})+" for sign in (between, "['’]", rf"[{_SPACES}]")]
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{'|'.join(groups)})|[1-9]\d?(?:{between}\d{{2}})+{between}\d{{3}})"
    return rf"^(?:{whole}(?:\{decimal}\d*)?|\{decimal}\d+)(?:[eE][+-]?\d+)?$"


_FITS = {sign: _fits(sign) for sign in ".,"}
#: Digits that begin so are a name: no number is written 00123.
CODE = r"^0\d"


@dataclass(frozen=True)
class Numerals:
    """How a column writes its numbers.

    decimal : the sign before fractions, "." or ","
    unit : the sign or code of money, "%", or nothing
    sure : whether the values could not be read with the other decimal sign
    """

    decimal: str = "."
    unit: str = ""
    sure: bool = True

    @classmethod
    def of(cls, text: pl.Series, decimal: str | None = None) -> Numerals | None:
        """How the numbers of cleaned text are written, or None where not every value is one.

        decimal : the sign to take where both would fit

        >>> Numerals.of(pl.Series(["$10,790.00", "$ 5"])), Numerals.of(pl.Series(["3", "x"]))
        (Numerals(decimal='.', unit='$', sure=True), None)
        """
        parts = _Parts(text.drop_nulls())
        if parts.digits.null_count() or not len(parts.digits):
            return None
        fitting = [sign for sign, pattern in _FITS.items() if parts.digits.str.contains(pattern).all()]
        if not fitting:
            return None
        unit = parts.unit()
        sure = len(fitting) == 1 or not parts.digits.str.contains("[.,]").any()
        if len(fitting) == 1:
            return cls(fitting[0], unit)
        return cls("." if sure else decimal or _likely_decimal(parts.digits, unit), unit, sure)

    def read(self, text: pl.Series) -> pl.Series:
        """The numbers of cleaned text, percents as shares; null where it is none that is written so.

        >>> Numerals(",", "€").read(pl.Series(["1.234,50 €", "-2", "(3)", "n"])).to_list()
        [1234.5, -2.0, -3.0, None]
        """
        parts = _Parts(text)
        digits = parts.digits.set(~parts.digits.str.contains(_FITS[self.decimal]), None)
        other = "." if self.decimal == "," else ","
        plain = digits.str.replace_all(rf"[{_SPACES}'’\{other}]", "").str.replace(
            self.decimal, ".", literal=True
        )
        numbers = plain.cast(pl.Float64, strict=False) * parts.signs
        return numbers.zip_with(parts.units != "%", numbers / 100).alias(text.name)


def as_numbers(text: pl.Series, written: Numerals | None = None) -> pl.Series:
    """Numbers of cleaned text, plain or written as ``written`` says; null where it is no number."""
    plain = text.cast(pl.Float64, strict=False)
    point = written is None or written.decimal == "."
    if written is None or (point and plain.null_count() == text.null_count()):
        return plain
    return written.read(text)


class _Parts:
    """The parts of numbers as they are written; ``digits`` is null where a text is none."""

    def __init__(self, text: pl.Series) -> None:
        groups = text.str.extract_groups(_WRITTEN).struct
        first, before, second, self.digits, after, last = (groups.field(str(i)) for i in range(1, 7))
        self.units = before.fill_null(after).fill_null("")
        minus = (first.fill_null("") + second.fill_null("") + last.fill_null("")).str.contains(r"[(−-]")
        self.signs = minus.replace_strict({True: -1.0, False: 1.0}, return_dtype=pl.Float64)

    def unit(self) -> str:
        """The one unit of the column; a bare number beside money is money, beside a percent it may be a share."""
        units = self.units.unique().sort().to_list()
        if "%" not in units:
            units = [each for each in units if each] or [""]
        if len(units) > 1:
            raise MixedUnits(units)
        return units[0]


def _likely_decimal(digits: pl.Series, unit: str) -> str:
    """Where every value could be read both ways, as 71.610 and 5,070 can: they are thousands, but for percents."""
    sign = "." if digits.str.contains(".", literal=True).any() else ","
    if unit == "%":
        return sign
    if sign == ".":
        return "," if unit in _POINT_BETWEEN_THOUSANDS else "."
    return "."


def like_numbers(text: pl.Series) -> pl.Series:
    """Which of cleaned texts are numbers in some way of writing, each for itself.

    >>> like_numbers(pl.Series(["1,5", "1.5", "$3", "x"])).to_list()
    [True, True, True, False]
    """
    digits = _Parts(text).digits
    return (digits.str.contains(_FITS["."]) | digits.str.contains(_FITS[","])).fill_null(False)


def ways_of_writing(text: pl.Series) -> pl.DataFrame:
    """All that is asked of cleaned texts to tell what numbers they are, a column for each question.

    Texts with the same answers can stand for one another: however many there are, one of each kind says how a column is
    written (``Numerals.of``, ``like_numbers``).

    >>> ways_of_writing(pl.Series(["1,5", "2,75", "3 €"]))["fits ."].to_list()
    [False, False, True]
    """
    parts = _Parts(text)
    fits = {f"fits {sign}": parts.digits.str.contains(pattern) for sign, pattern in _FITS.items()}
    marks = {f"has {sign}": parts.digits.str.contains(sign, literal=True) for sign in _FITS}
    units = parts.units.set(parts.digits.is_null(), None)
    return pl.DataFrame({**fits, **marks, "unit": units, "code": text.str.contains(CODE)})
