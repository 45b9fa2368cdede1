"""Columns that give the label away, as those do that are filled after the outcome: found before anything is learned.

The thresholds were chosen on every second of forty public sets and confirmed on the others: ``studies.quality.leaks``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shortlist.tables.columns.words import percent
from shortlist.tables.guard.signs import Flags, Floats, Group, best_cut, group_of, rates_elsewhere, side_of
from shortlist.tables.table import Table

#: F1 of the best cut through one column from which on it nearly separates the label.
SEPARATES = 0.92
#: Rows that have a value in common which only wanted rows have: at least this share of all wanted rows ...
PURE_SHARE = 0.1
#: ... and this share of those rows is wanted.
PURITY = 0.97
#: An amount that few rows have: 0 in this share of rows; the others are wanted so often, so much oftener than all rows,
#: and are so many of the wanted ones.
AMOUNT_ZERO, AMOUNT_PURITY, AMOUNT_LIFT, AMOUNT_SHARE = 0.9, 0.3, 5.0, 0.04
#: Rows with a gap are wanted at most this often, relative to what chance gives.
GAP_RATIO = 0.05
#: A date lies after the row's time in this share of rows, and how long after tells wanted rows by this area.
LATER, LATER_AREA = 0.95, 0.75
#: So many columns of numbers that separate, and this share of all: the label is easy, and no column stands out.
MANY, MANY_SHARE = 5, 0.05
#: A column of numbers with at most so many values is read like names.
FEW_VALUES = 10
#: Columns are looked through on so many rows; what is told of one is counted over all.
_MOST_ROWS = 50_000


Kind = Literal["separates", "only wanted", "gap", "amount", "afterwards"]


@dataclass(frozen=True)
class Leak:
    """A column that may be known only afterwards, and what shows it."""

    column: str
    kind: Kind
    says: str
    strength: float = 1.0
    few_values: bool = True


@dataclass(frozen=True)
class Found:
    """Columns that give the label away; where many separate it, these are ``easy`` and none of them stands out."""

    leaks: tuple[Leak, ...]
    easy: tuple[Leak, ...] = ()


def find_leaks(table: Table) -> Found:
    """The columns that give the label away, in the order of the table; one sign for each, the first that shows.

    >>> import polars as pl
    >>> from shortlist.tables import Roles, load_table
    >>> rows = pl.DataFrame({"fraud": [0, 1] * 20, "paid": [0.0, 7.5] * 20, "age": range(40)})
    >>> [leak.column for leak in find_leaks(load_table(rows, Roles(label="fraud"))).leaks]
    ['paid']
    """
    return standing_out(tuple(_look_through(table)), len(table.schema.features))


def standing_out(found: tuple[Leak, ...], n_columns: int) -> Found:
    """What was found in a table of so many columns, apart from columns of numbers of which many separate the label."""
    separating = tuple(leak for leak in found if leak.kind == "separates" and not leak.few_values)
    if len(separating) < max(MANY, MANY_SHARE * n_columns):
        return Found(found)
    return Found(tuple(leak for leak in found if leak not in separating), separating)


def _look_through(table: Table) -> Iterator[Leak]:
    places = np.cumsum([0, *(len(feature.columns) for feature in table.schema.features)])
    everything = np.arange(len(table))
    sample = everything[:: max(1, -(-everything.size // _MOST_ROWS))]
    for place in places[:-1].tolist():
        leak = _Column(table, place, sample).sign()
        if leak is not None and sample.size < everything.size:
            leak = _Column(table, place, everything).sign()
        if leak is not None:
            yield leak


class _Column:
    """One column of a table at some of its rows."""

    def __init__(self, table: Table, place: int, rows: NDArray[np.int64]) -> None:
        self.feature = table.schema.feature_of_column[place]
        self.values: Floats = table.X[rows, place].astype(np.float64)
        self.wanted: Flags = table.wanted[rows]
        self.missing = np.isnan(self.values)
        self._time = None if table.time is None else table.time[rows]
        self._text = lambda value: table.schema.value_text(place, value)

    def sign(self) -> Leak | None:
        """The first sign that the column gives the label away."""
        if self.wanted.all() or not self.wanted.any() or self.missing.all():
            return None
        signs = (
            sign
            for look in (self._later, self._pure, self._gap, self._separates, self._amount)
            for sign in look()
        )
        return next(signs, None)

    def _leak(self, kind: Kind, says: str) -> Iterator[Leak]:
        yield Leak(self.feature.name, kind, says)

    def _separates(self) -> Iterator[Leak]:
        category = self.feature.kind == "category"
        codes = np.where(self.missing, -1, self.values).astype(np.int64) + 1 if category else None
        cut = best_cut(self.values if codes is None else rates_elsewhere(codes, self.wanted), self.wanted)
        if cut.strength >= SEPARATES:
            others = cut.rows - cut.found
            says = (
                f"alone nearly separates the label: one cut through it finds {cut.found:,} of {cut.wanted:,} wanted "
                f"rows and {f'{others:,}' if others else 'no'} others"
            )
            few = category or np.unique(self.values[~self.missing]).size <= FEW_VALUES
            yield Leak(self.feature.name, "separates", says, cut.strength, few)

    def _pure(self) -> Iterator[Leak]:
        """A value, a gap, or any value but the usual one, that (nearly) only wanted rows have."""
        total, wanted = self.wanted.size, int(self.wanted.sum())
        for group, what in self._groups():
            if group.is_pure(wanted, total, least_share=PURE_SHARE, least_purity=PURITY):
                which = "all" if group.found == group.rows else f"{group.found:,}"
                says = f"{what} in {group.rows:,} rows, and {which} of them are wanted"
                yield from self._leak("only wanted", says)

    def _groups(self) -> Iterator[tuple[Group, str]]:
        yield group_of(self.missing, self.wanted), "is empty"
        yield group_of(~self.missing, self.wanted), "is filled"
        known, wanted = self.values[~self.missing], self.wanted[~self.missing]
        distinct, place, counts = np.unique(known, return_inverse=True, return_counts=True)
        if self.feature.kind == "category":
            found = np.bincount(place, wanted, minlength=distinct.size).astype(np.int64)
            for code, rows, hits in zip(distinct, counts.tolist(), found.tolist(), strict=True):
                yield Group(rows, hits), f"is {self._text(code)!r}"
        elif self.feature.kind == "number" and counts.max() >= known.size / 2:
            usual = distinct[int(np.argmax(counts))]
            yield group_of(known != usual, wanted), f"is other than {self._text(usual)}"

    def _gap(self) -> Iterator[Leak]:
        gap, total, wanted = group_of(self.missing, self.wanted), self.wanted.size, int(self.wanted.sum())
        if gap.avoids(wanted, total, most_ratio=GAP_RATIO):
            which = f"only {gap.found:,}" if gap.found else "none"
            by_chance = f"{round(gap.expected(wanted, total)):,} would be by chance"
            yield from self._leak(
                "gap", f"is empty in {gap.rows:,} rows, and {which} of them are wanted ({by_chance})"
            )

    def _amount(self) -> Iterator[Leak]:
        """An amount that is 0 for nearly all rows, and of wanted rows where it is not, as later costs are."""
        known, total, wanted = ~self.missing, self.wanted.size, int(self.wanted.sum())
        if self.feature.kind != "number" or np.nanmin(self.values) < 0:
            return
        paid = known & (self.values > 0)
        group = group_of(paid, self.wanted)
        seldom = (
            0 < group.rows <= (1 - AMOUNT_ZERO) * total and np.unique(self.values[paid]).size > FEW_VALUES
        )
        often = group.found >= max(AMOUNT_PURITY, AMOUNT_LIFT * wanted / total) * group.rows
        if seldom and often and group.found >= max(10, AMOUNT_SHARE * wanted):
            shares = f"{percent(group.found / group.rows)} of them are wanted, {percent(wanted / total)} of all rows"
            yield from self._leak("amount", f"is above 0 in {group.rows:,} rows only, and {shares}")

    def _later(self) -> Iterator[Leak]:
        """A date after the row's time, if how much later it is tells wanted rows from others."""
        if self.feature.kind != "date" or self._time is None or self._time.dtype.kind != "M":
            return
        after = self.values - self._time.astype("datetime64[D]").astype(np.float64)
        known = after[~self.missing]
        if np.mean(known >= 0) < LATER or np.median(known) <= 0 or self.wanted.sum() < 5:
            return
        # A gap counts as later than all: a case that is still open has no date of its end.
        area = side_of(np.where(self.missing, np.inf, after), self.wanted)
        if max(area, 1 - area) >= LATER_AREA:
            share = percent(float(np.mean(known > 0)))
            says = f"lies after the time of its row ({share} of its dates do), and how long after tells wanted rows"
            yield from self._leak("afterwards", says)
