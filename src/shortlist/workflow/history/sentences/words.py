"""Reports in their reader's words: what a wanted row is called, and in which currency its worth is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from shortlist.counts import about, is_whole
from shortlist.exceptions import InvalidInputError
from shortlist.workflow.history.sentences.amounts import amount

#: Columns of counts, which are means where equal scores come in any order.
COUNTS = ("found", "looked at", "wanted")


@dataclass(frozen=True)
class Words:
    """One and several wanted rows, what they are worth, and the currency.

    >>> words = Words.of({"words": "fraud", "currency": "€", "value": "amount"})
    >>> words.counted(2), words.money(1234.0), words.worth
    ('2 frauds', '€1,234', 'amount')
    """

    one: str = "wanted row"
    many: str = "wanted rows"
    worth: str = "impact"
    currency: str = ""

    @classmethod
    def of(cls, setup: dict[str, Any]) -> Self:
        """Those that were asked for; the plural with a comma, where it is not the one with an s."""
        one, _, many = (setup.get("words") or "wanted row").partition(",")
        one = one.strip()
        plural = many.strip() or (one if one.endswith("s") else f"{one}s")
        return cls(one, plural, setup.get("value") or "impact", (setup.get("currency") or "").strip())

    def counted(self, number: float) -> str:
        """A number of wanted rows."""
        return f"{about(number)} {self.one if number == 1 else self.many}"

    def money(self, value: float) -> str:
        """An amount with its currency: a sign stands before it, a code after it.

        >>> Words(currency="EUR").money(5.0), Words(currency="$").money(-5.0), Words().money(5.0)
        ('5 EUR', '−$5', '5')
        """
        if self.currency.isalpha():
            return f"{replace(self, currency='').money(value)} {self.currency}"
        sign = "\N{MINUS SIGN}" if value < 0 else ""  # no line ends after it, as after a hyphen
        return f"{sign}{self.currency}{amount(abs(value))}"

    @property
    def whole_worth(self) -> str:
        """What shares of the worth are of: other rows are worth something too, but there is nothing to find.

        >>> Words("fraud", "frauds", "amount").whole_worth
        'amount of all frauds'
        """
        return f"{self.worth} of all {self.many}"

    @property
    def worth_found(self) -> str:
        """The name of the sum of what was found, for an axis or a column."""
        return f"{self.worth} found" + (f" ({self.currency})" if self.currency else "")

    def named(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A table of a page with its columns in these words, and its counts as people say them.

        >>> Words("fraud", "frauds").named(pl.DataFrame({"found": [3.0, 21.857]})).to_dict(as_series=False)
        {'frauds found': ['3', 'about 22']}
        """
        frame = _in_counts(frame)
        plain = self.many == "wanted rows"
        names = (
            {}
            if plain
            else {"found": f"{self.many} found", "wanted": self.many, "was wanted": f"was {self.one}"}
        )
        if self.worth != "impact" or self.currency:
            names |= {"impact found": self.worth_found, "impact share": f"share of {self.worth}"}
        if self.currency:
            names["net value"] = f"net value ({self.currency})"
        ends = ("interval", "low", "high")
        names |= {f"{name} {end}": f"{new} {end}" for name, new in names.items() for end in ends}
        # A column of the user's own may have that name already.
        free = {
            name: new for name, new in names.items() if name in frame.columns and new not in frame.columns
        }
        return frame.rename(free)


def _in_counts(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of counts as text, where some of them are not whole."""
    odd = [
        name for name in COUNTS if name in frame.columns and not all(map(is_whole, frame[name].drop_nulls()))
    ]
    return frame.with_columns(
        pl.Series(name, [None if value is None else about(value) for value in frame[name]]) for name in odd
    )


def check_words(words: str | None, currency: str | None) -> None:
    """That there is something to call a wanted row, and a sign, where they were asked for."""
    if words is not None and not words.partition(",")[0].strip():
        raise InvalidInputError(
            f"words is {words!r}, which has no name for a wanted row; write one, such as --words fraud, with its "
            "plural after a comma if that has no s: --words loss,losses"
        )
    if currency is not None and not currency.strip():
        raise InvalidInputError(
            "currency is empty; write a sign or a code, such as --currency EUR, or leave it out."
        )


def part_of(setup: dict[str, Any]) -> str:
    """What the history was cut into: a period or a fold."""
    return "period" if "time" in setup else "fold"


def each_part(setup: dict[str, Any]) -> str:
    """What a budget holds for, one by one."""
    return f"each {part_of(setup)}" + (" and list" if "list" in setup else "")
