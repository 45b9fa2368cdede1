"""What is said of a value of a row beside the other rows: sentences that are true of the rows they were made from."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from math import floor
from typing import Any, Literal

from shortlist.languages.values import moment_text, month_name, percent_text, weekday_name
from shortlist.languages.words import Language, Message
from shortlist.models.profile import Categories, Numbers
from shortlist.tables.columns.formats import Format

#: A number is called high or low if this share of the others lies on its other side.
REMARKABLE = 0.8
#: Parts of columns that are compared by size; the others are the same or not.
ORDERED = ("number", "days", "hour")
#: Of a longer text its beginning is told: a reason takes two lines at most.
MOST_LETTERS = 60
_PARTS = {"month": Message("month"), "weekday": Message("weekday"), "hour": Message("hour")}

Form = Literal["more", "less", "most", "least", "usual", "same", "alone", "new", "plain"]


@dataclass(frozen=True)
class Statement:
    """One value of a row, and how it stands among others.

    name, part : the column, and what of it: its "number", "category" or "flag", or a part of a date
    value : None where it is missing
    form : more or less than a ``share`` of the others ("most", "least": than all of them); "usual": the middle 90 %
        are from ``low`` to ``high``; "same": a ``share`` of the rows has this value, "alone" only this row, "new" none
        before; "plain": nothing is known of the others
    gaps : some of the others have no value, and ``more`` and ``less`` are about those that have
    of : what the others are: the rows of a queue, or the history that a model learned from
    """

    name: str
    part: str
    value: Any
    form: Form
    share: float = 0.0
    low: float = 0.0
    high: float = 0.0
    gaps: bool = False
    of: Literal["rows", "history"] = "rows"

    def __str__(self) -> str:
        return str(self.message(Format()))

    def message(self, format: Format) -> Message:
        """The statement with its numbers written as those of the column are, to be said in any language."""
        part = _PARTS.get(self.part)
        name = Message("%(name)s (%(part)s)", name=self.name, part=part) if part else self.name
        value = Message("missing") if self.value is None else Written(self.part, self.value, format)
        place = self._place(format)
        if place is None:
            return Message("%(name)s %(value)s", name=name, value=value)
        return Message("%(name)s %(value)s, %(place)s", name=name, value=value, place=place)

    def _place(self, format: Format) -> Message | None:
        """How the value stands among the others."""
        if self.form in ("more", "most", "less", "least"):
            return self._side()
        if self.form == "usual":
            return self._usual(format)
        if self.form == "same":
            share = Percent(self.share)
            return (
                Message("as in %(share)s of rows", share=share)
                if self.of == "rows"
                else Message("as in %(share)s of history", share=share)
            )
        return {"alone": Message("as in no other row"), "new": Message("not in history")}.get(self.form)

    def _side(self) -> Message:
        others = self._others()
        if self.form in ("more", "most"):
            return {
                "days": Message("later than %(others)s", others=others),
                "hour": Message("later in the day than %(others)s", others=others),
            }.get(self.part) or Message("higher than %(others)s", others=others)
        return {
            "days": Message("earlier than %(others)s", others=others),
            "hour": Message("earlier in the day than %(others)s", others=others),
        }.get(self.part) or Message("lower than %(others)s", others=others)

    def _others(self) -> Message:
        """Those that the value exceeds, or that exceed it; a share is rounded down: what is almost all is not all."""
        all_of_them = self.form in ("most", "least")
        share = Percent(self.share, at_least=True)
        if self.of == "rows" and self.gaps:
            return (
                Message("all other known values")
                if all_of_them
                else Message("%(share)s of known values", share=share)
            )
        if self.of == "rows":
            return Message("all other rows") if all_of_them else Message("%(share)s of rows", share=share)
        if self.gaps:
            return (
                Message("all known values of history")
                if all_of_them
                else Message("%(share)s of known values of history", share=share)
            )
        return Message("all of history") if all_of_them else Message("%(share)s of history", share=share)

    def _usual(self, format: Format) -> Message:
        low, high = (
            Written(self.part, (self.low, self.high), format, 0),
            Written(self.part, (self.low, self.high), format, 1),
        )
        if self.low == self.high:
            return Message("usually %(low)s", low=low)
        return Message("usually %(low)s to %(high)s", low=low, high=high)


@dataclass(frozen=True)
class Written:
    """A part of a value, written in the language of whoever reads it; with ``end``, an end of a range."""

    part: str
    value: Any
    format: Format
    end: int | None = None

    def written(self, language: Language) -> str:
        """The value in a language."""
        if self.part == "number" and self.end is not None:
            low, high = self.value
            return self.format.write_range(low, high, language.locale)[self.end]
        value = self.value if self.end is None else self.value[self.end]
        text = part_text(self.part, value, self.format, language)
        return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1].rstrip() + "…"


@dataclass(frozen=True)
class Percent:
    """A share, rounded down where it is said that it is at least so much."""

    share: float
    at_least: bool = False

    def written(self, language: Language) -> str:
        """The share in a language."""
        if not self.at_least:
            return percent_text(self.share, language.locale)
        thousandths = floor(1000 * self.share + 1e-9)
        digits = int(
            not 100 <= thousandths <= 990 and thousandths % 10 > 0
        )  # where little or almost all is meant
        rounded = thousandths / 1000 if digits else thousandths // 10 / 100
        return percent_text(rounded, language.locale, digits)


def part_text(part: str, value: Any, format: Format, language: Language) -> str:
    """A value of a column, or a part of a date, in a language."""
    if part == "flag":
        return language.write(bool(value))
    if part == "days":
        return moment_text(dt.date(1970, 1, 1) + dt.timedelta(days=float(value)), language.locale)
    if part == "hour":
        return moment_text(dt.time(*divmod(round(60 * value), 60)), language.locale)
    if part in ("month", "weekday"):
        return (month_name if part == "month" else weekday_name)(int(value), language.locale)
    return format.write(value, language.locale)


def state(
    name: str,
    part: str,
    value: Any,
    others: Numbers | Categories | None,
    *,
    missing: float = 0.0,
    rows: int = 0,
) -> Statement:
    """Say of a value how it stands among others, of which a share is ``missing``.

    rows : how many they are, this row among them; 0: they are the history of a model, and the row is new

    >>> import numpy as np
    >>> str(state("previous_claims", "number", 3, Numbers.of(np.arange(5)), rows=5))
    'previous_claims 3, usually 0 to 4'
    """
    said = Statement(name, part, value, "plain", of="rows" if rows else "history")
    if value is None:
        return replace(said, form="same", share=missing) if missing else said
    itself = 1 / round(rows * (1 - missing)) if rows else 0.0
    if isinstance(others, Categories):
        return _among_values(said, others, missing, itself)
    if others is None or not others.quantiles:
        return said
    if part in ORDERED:
        return _among_numbers(replace(said, gaps=missing > 0), others, itself)
    share = others.share_at(value)
    return replace(said, form="same", share=share * (1 - missing)) if share else said


def _among_numbers(said: Statement, others: Numbers, itself: float) -> Statement:
    """Whether a number is high, low, or within what is usual."""
    below, above = others.share_below(said.value), others.share_above(said.value)
    if max(below, above) < REMARKABLE:
        low, high = others.usual
        return replace(said, form="usual", low=low, high=high)
    than_all = max(below, above) > 1 - itself - 1e-12  # a row is neither above nor below itself
    if below >= above:
        return replace(said, form="most" if than_all else "more", share=below)
    return replace(said, form="least" if than_all else "less", share=above)


def _among_values(said: Statement, others: Categories, missing: float, itself: float) -> Statement:
    share = others.shares.get(said.value, 0.0)
    if share <= itself + 1e-12:
        return replace(said, form="alone" if itself else "new")
    return replace(said, form="same", share=share * (1 - missing))
