"""One column of a table as columns of numbers: what is learned of it, and how new values are encoded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from shortlist.exceptions import SchemaError
from shortlist.tables.columns.values import (
    FLAG_WORDS,
    as_dates,
    as_flags,
    as_numbers,
    clean_text,
    date_formats,
    first_misfit,
    is_text,
)

_CALENDAR = ("days", "month", "weekday")


class Parts(NamedTuple):
    """A column as numbers: a series for each of the feature's ``columns``, null where missing; and what it lacked."""

    numbers: list[pl.Series]
    #: The values that training did not have, one for each row that has one.
    unseen: pl.Series | None = None


@dataclass(frozen=True)
class Feature:
    """A column to learn from.

    Parameters
    ----------
    kind : "number", "flag" (0 / 1), "category" (codes 0, 1, ... in the order of ``categories``) or "date"
        (days since 1970, month 1-12, weekday 1-7 from Monday, and the hour if ``clock``)
    categories : the values of a category, sorted, so that codes do not depend on the order of rows
    date_format : how dates were written, where they were text
    clock : dates came with different times of day

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

    @property
    def parts(self) -> tuple[str, ...]:
        """What the columns that the feature becomes hold: its kind, or the parts of a date."""
        if self.kind != "date":
            return (self.kind,)
        return (*_CALENDAR, "hour") if self.clock else _CALENDAR

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the feature becomes."""
        return (self.name,) if self.kind != "date" else tuple(f"{self.name} ({part})" for part in self.parts)

    def encode(self, series: pl.Series) -> Parts:
        """The values as numbers, of whatever type holds them.

        Raises SchemaError where a value cannot be what was learned.
        """
        if self.kind == "date":
            return Parts(self._calendar(series))
        if self.kind == "category":
            return self._codes(series)
        return Parts([self._numbers(series) if self.kind == "number" else self._flags(series)])

    def dates(self, series: pl.Series) -> pl.Series:
        """Moments without time zone: the wall clock of their place."""
        if series.dtype == pl.Date:
            return series.cast(pl.Datetime("us"))
        if series.dtype == pl.Datetime:
            return series.dt.replace_time_zone(None)
        if series.dtype == pl.Null:
            return series.cast(pl.Datetime("us"))
        if not is_text(series.dtype):
            raise self._changed(series, "dates")
        text = clean_text(series)
        formats = [self.date_format] if self.date_format else []
        parsed = [as_dates(text, each) for each in (formats + date_formats(text)) or ["%Y-%m-%d"]]
        best = min(parsed, key=pl.Series.null_count)
        return self._accepted(best, text, "dates")

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
            return series
        if not is_text(series.dtype):
            raise self._changed(series, "numbers")
        text = clean_text(series)
        return self._accepted(as_numbers(text), text, "numbers")

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
