"""One column of a table as columns of numbers: what is learned of it, and how new values are encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import SchemaError
from shortlist.tables.columns.dates import as_dates, chosen, date_formats, dates_in_digits
from shortlist.tables.columns.numerals import MixedUnits, Numerals, as_numbers
from shortlist.tables.columns.text import PIECES, Floats, TextWeights
from shortlist.tables.columns.values import (
    FLAG_WORDS,
    as_flags,
    clean_text,
    first_misfit,
    is_text,
    without_gap_words,
)

#: How days are written as whole numbers, such as 20150125.
IN_DIGITS = "%Y%m%d"
_CALENDAR = ("days", "month", "weekday")


class Parts(NamedTuple):
    """A column as numbers: a series for each of the feature's ``columns``, null where missing; and what it lacked."""

    numbers: list[pl.Series]
    #: The values that training did not have, one for each row that has one.
    unseen: pl.Series | None = None
    #: The words that were read as missing, one for each row that has one.
    gaps: pl.Series | None = None


@dataclass(frozen=True)
class Feature:
    """A column to learn from.

    Parameters
    ----------
    kind : "number", "flag" (0 / 1), "category" (codes 0, 1, ... in the order of ``categories``), "date"
        (days since 1970, month 1-12, weekday 1-7 from Monday, and the hour if ``clock``) or "text" (what its words and
        letters say of wanted rows, by ``weights``)
    categories : the values of a category, sorted, so that codes do not depend on the order of rows
    date_format : how dates were written, where they were text or digits
    clock : dates came with different times of day
    unit : the sign or code of money that numbers were written with, or "%": these become shares of 1
    decimal : the sign before fractions where numbers were text
    weights : of the pieces of a text, as ``TextWeights`` writes them
    code : a number whose digits are a name, such as 00123: it was written with zeros in front

    Examples
    --------
    >>> make = Feature("make", "category", ("Audi", "Fiat")).encode(pl.Series(["Fiat", "Saab", "Audi"]))
    >>> make.numbers[0].to_list(), make.unseen.to_list()
    ([1, None, 0], ['Saab'])
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    date_format: str | None = None
    clock: bool = False
    unit: str = ""
    decimal: str = "."
    code: bool = False
    weights: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What the columns that the feature becomes hold: its kind, or the parts of a date."""
        if self.kind == "text":
            return tuple(PIECES)
        if self.kind != "date":
            return (self.kind,)
        return (*_CALENDAR, "hour") if self.clock else _CALENDAR

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the feature becomes."""
        many = self.kind in ("date", "text")
        return tuple(f"{self.name} ({part})" for part in self.parts) if many else (self.name,)

    def encode(self, series: pl.Series) -> Parts:
        """The values as numbers, of whatever type holds them.

        Raises SchemaError where a value cannot be what was learned.
        """
        if self.kind == "date":
            return Parts(self._calendar(series), gaps=_gap_words(series))
        if self.kind == "category":
            return self._codes(series)
        if self.kind == "text":
            return Parts([pl.Series(column) for column in self.text_columns(series).T])
        if self.kind == "number":
            return Parts([self._numbers(series)], gaps=_gap_words(series))
        return Parts([self._flags(series)])

    def dates(self, series: pl.Series, order: str | None = None) -> pl.Series:
        """Moments without time zone: the wall clock of their place.

        order : of day and month where they can be swapped and nothing was learned; see ``slash_order``
        """
        if series.dtype == pl.Date:
            return series.cast(pl.Datetime("us"))
        if series.dtype == pl.Datetime:
            return series.dt.replace_time_zone(None)
        if series.dtype == pl.Null:
            return series.cast(pl.Datetime("us"))
        in_digits = dates_in_digits(series)
        if in_digits is not None:
            return in_digits.cast(pl.Datetime("us"))
        if not is_text(series.dtype):
            raise self._changed(series, "dates")
        text = without_gap_words(clean_text(series))
        formats = date_formats(text)
        learned = [self.date_format] if self.date_format else []
        usual = [chosen(formats, order)] if formats else ["%Y-%m-%d"]
        parsed = [as_dates(text, each) for each in learned + usual]
        return self._accepted(min(parsed, key=pl.Series.null_count), text, "dates")

    @cached_property
    def text_weights(self) -> TextWeights:
        """The weights of the pieces of a text."""
        return TextWeights.from_text(self.weights)

    def text_columns(self, series: pl.Series) -> Floats:
        """What the words and letters of each text say."""
        return self.text_weights.columns(self.texts(series))

    def taught(self, series: pl.Series, wanted: NDArray[np.bool_]) -> Feature:
        """The same text with the weights that these rows teach."""
        return replace(self, weights=TextWeights.fit(self.texts(series), wanted).to_text())

    def untaught(self) -> Feature:
        """The same text with weights that say nothing."""
        return replace(self, weights=TextWeights.none().to_text())

    def texts(self, series: pl.Series) -> pl.Series:
        """The values as text, null where missing."""
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            raise self._changed(series, "text")
        return clean_text(series)

    def without_words(self, words: Sequence[str]) -> Feature:
        """The same category, in which some values have no name any more; codes are as they were."""
        named = (f"erased {at}" if name in words else name for at, name in enumerate(self.categories))
        return replace(self, categories=tuple(named)) if words else self

    def to_dict(self) -> dict[str, Any]:
        """The feature as plain values for JSON."""
        return {**asdict(self), "categories": [*self.categories]}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Feature:
        """The feature that ``to_dict`` stored."""
        return cls(**{**stored, "categories": tuple(stored["categories"])})

    @cached_property
    def _enum(self) -> pl.Enum:
        return pl.Enum(self.categories)

    @cached_property
    def _has_digits(self) -> bool:
        return as_numbers(pl.Series(self.categories, dtype=pl.String)).null_count() < len(self.categories)

    def _numbers(self, series: pl.Series) -> pl.Series:
        if series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
            return self._shares(series)
        if not is_text(series.dtype):
            raise self._changed(series, "numbers")
        text = without_gap_words(clean_text(series))
        written = self._written(text)
        return self._accepted(as_numbers(text, written), text, "numbers")

    def _shares(self, series: pl.Series) -> pl.Series:
        """Numbers as they are; where training had percents they are shares, as spreadsheets keep percents."""
        if self.unit == "%" and (series.cast(pl.Float64).abs() > 1).any():
            raise self._other_unit("")
        return series

    def _written(self, text: pl.Series) -> Numerals:
        """How new values are written: as in training if they can be read so, in the way of another place if not."""
        learned = Numerals(self.decimal, self.unit)
        if not self.unit and as_numbers(text).null_count() == text.null_count() and self.decimal == ".":
            return learned
        try:
            written = Numerals.of(text, self.decimal) or learned
        except MixedUnits as mixed:
            raise SchemaError(
                f"column {self.name!r} mixes {mixed}. Give all its values in one of them, as in training."
            ) from None
        if (written.unit != self.unit and "%" in (self.unit, written.unit)) or (
            self.unit and written.unit not in ("", self.unit)
        ):
            raise self._other_unit(written.unit)
        return written

    def _other_unit(self, unit: str) -> SchemaError:
        return SchemaError(
            f"column {self.name!r} was written {_with(self.unit)} in training and is written {_with(unit)} now. Give "
            "it as it was in training, or train anew."
        )

    def _flags(self, series: pl.Series) -> pl.Series:
        if series.dtype in (pl.Boolean, pl.Null):
            return series
        text = clean_text(series)
        return self._accepted(as_flags(text, FLAG_WORDS), text, "true and false")

    def _codes(self, series: pl.Series) -> Parts:
        if series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object):
            raise self._changed(series, "categories")
        text = series if is_text(series.dtype) else clean_text(series)
        codes, unseen = self._exact_codes(text), None
        odd = (codes.is_null() & text.is_not_null()).arg_true()
        if len(odd):  # untidy or unseen: the slow way, for these rows alone
            tidy = clean_text(text.gather(odd))
            found = self._exact_codes(tidy)
            codes, unseen = codes.scatter(odd, found), tidy.filter(tidy.is_not_null() & found.is_null())
        a_number = series.dtype.is_numeric() and series.null_count() < len(series)
        if a_number and codes.null_count() == len(codes) and not self._has_digits:
            raise self._changed(series, f"categories such as {self.categories[0]!r}")
        return Parts([codes], unseen)

    def _exact_codes(self, text: pl.Series) -> pl.Series:
        return text.cast(pl.String).cast(self._enum, strict=False).to_physical()

    def _calendar(self, series: pl.Series) -> list[pl.Series]:
        if series.dtype == pl.Date and not self.clock:
            return [series.to_physical(), series.dt.month(), series.dt.weekday()]
        moments = self.dates(series)
        parts = [moments.dt.date().to_physical(), moments.dt.month(), moments.dt.weekday()]
        if self.clock:
            parts.append(moments.dt.hour() + moments.dt.minute() / 60)
        return parts

    def _accepted(self, parsed: pl.Series, text: pl.Series, expected: str) -> pl.Series:
        example = first_misfit(text, parsed)
        if example is not None:
            raise SchemaError(
                f"column {self.name!r} held {expected} in training and now holds {example!r}. Mend the "
                "value, or train anew on a table where the column is written the same way."
            )
        return parsed

    def _changed(self, series: pl.Series, expected: str) -> SchemaError:
        known = series.drop_nulls()
        example = f", such as {known[0]}" if len(known) else ""
        return SchemaError(
            f"column {self.name!r} held {expected} in training and now has type {series.dtype}{example}. "
            "Give it as it was in training, or train anew."
        )


def _gap_words(series: pl.Series) -> pl.Series | None:
    """The words of a column of numbers or dates that mean that nothing is known."""
    if not is_text(series.dtype):
        return None
    text = clean_text(series)
    return text.filter(text.is_not_null() & without_gap_words(text).is_null())


def _with(unit: str) -> str:
    return f"with {unit}" if unit else "without a sign"
