"""What is usual in each column: the ground for reasons, for noticing that rows differ, and for a reviewer's page."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from shlex import quote
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.tables import Schema, Table
from shortlist.tables.columns.words import number_text, percent

#: Finer at the ends, where the rows are that people look at.
LEVELS = (0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1)
_DECILES = np.arange(1, 10) / 10
#: Where each column of training is known exactly: reasons speak of its ends.
_FINE_LEVELS = np.unique(
    np.round([*np.arange(0, 0.2, 0.01), *np.arange(0.2, 0.8, 0.05), *np.arange(0.8, 1.001, 0.01)], 3)
)
#: Rows whose values a profile is made of; all rows are counted, sorting all of them would take long.
_MOST_ROWS = 50_000
#: Frequent categories that are counted one by one; the others are counted together.
_MOST_CATEGORIES = 30
#: A population stability index above this is commonly read as a marked shift.
MARKED_SHIFT = 0.25
#: Fewer rows than this say little about how values are spread.
FEWEST_ROWS = 30
_MOST_NOTES = 5
#: From this share of new dates on that lie after all dates of training they are told.
MOST_LATER = 0.5


@dataclass(frozen=True)
class Numbers:
    """How numbers are spread: the values at some levels, and where each of them stands.

    quantiles : the values, in order; none where no number is known
    below, at_most : the shares of numbers below each quantile, and of those that do not exceed it; where many rows
        have the same value these differ from the levels
    """

    quantiles: tuple[float, ...] = ()
    below: tuple[float, ...] = ()
    at_most: tuple[float, ...] = ()

    @classmethod
    def of(cls, numbers: NDArray, levels: Sequence[float] | NDArray[np.float64] = _FINE_LEVELS) -> Self:
        """The spread of known numbers. Quantiles are taken from a sample where they are many; all are counted.

        >>> Numbers.of(np.array([3.0, 1.0, 1.0, 5.0]), levels=(0, 0.5, 1)).at_most
        (0.5, 1.0)
        """
        if not numbers.size:
            return cls()
        sample = np.quantile(numbers[sample_rows(numbers.size)], levels, method="lower").astype(np.float64)
        quantiles = np.unique([numbers.min(), *sample, numbers.max()])
        below, at_most = count_sides(numbers, quantiles)
        shares = (below / numbers.size, at_most / numbers.size)
        return cls(*(tuple(values.tolist()) for values in (quantiles, *shares)))

    def share_below(self, value: float) -> float:
        """Which share of the numbers is smaller: exact at quantiles, and no more than that between them.

        >>> Numbers.of(np.array([1.0, 2.0, 2.0, 8.0])).share_below(5.0)
        0.75
        """
        at = self._place(value)
        if self._is_quantile(at, value):
            return self.below[at]
        return self.at_most[at - 1] if at else 0.0

    def share_above(self, value: float) -> float:
        """Which share of the numbers is larger: exact at quantiles, and no more than that between them."""
        at = self._place(value)
        if self._is_quantile(at, value):
            return 1 - self.at_most[at]
        return 1 - self.below[at] if at < len(self.quantiles) else 0.0

    def share_at(self, value: float) -> float | None:
        """Which share of the numbers is this one; None where it is no quantile."""
        at = self._place(value)
        return self.at_most[at] - self.below[at] if self._is_quantile(at, value) else None

    def joined(self, numbers: pl.Series, known: int) -> Self:
        """The spread after more numbers have joined the ``known`` ones; the quantiles stay, with ends that hold all.

        >>> Numbers.of(np.array([1.0, 2.0])).joined(pl.Series([9.0, 9.0]), 2).usual
        (1.0, 9.0)
        """
        values = numbers.to_numpy()
        if not values.size or not self.quantiles:
            return type(self).of(values) if values.size else self
        wide = self._reaching(float(values.min()), float(values.max()))
        total, more = known + len(numbers), count_sides(values, np.array(wide.quantiles))
        shares = (
            np.rint(np.array(old) * known) + new
            for old, new in zip((wide.below, wide.at_most), more, strict=True)
        )
        return type(self)(wide.quantiles, *(tuple((counts / total).tolist()) for counts in shares))

    def _reaching(self, low: float, high: float) -> Self:
        """The same spread with these ends, where they are beyond its own."""
        first, last = low < self.quantiles[0], high > self.quantiles[-1]
        ends = ((low, high), (0.0, 1.0), (0.0, 1.0))
        parts = (self.quantiles, self.below, self.at_most)
        return type(self)(
            *((*end[:first], *part, *end[2 - last :]) for end, part in zip(ends, parts, strict=True))
        )

    def at(self, level: float) -> float:
        """The largest quantile that fewer than this share of the numbers lie below."""
        return self.quantiles[max(0, bisect_left(self.below, level) - 1)]

    @property
    def usual(self) -> tuple[float, float]:
        """Between these lie nine of ten numbers or more: at most one of twenty is below, and one above."""
        low, high = bisect_right(self.below, 0.05) - 1, bisect_left(self.at_most, 0.95)
        return self.quantiles[low], self.quantiles[high]

    def _place(self, value: float) -> int:
        return bisect_left(self.quantiles, value)

    def _is_quantile(self, at: int, value: float) -> bool:
        return at < len(self.quantiles) and self.quantiles[at] == value


def count_sides(numbers: NDArray, edges: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many numbers are smaller than each edge, and how many do not exceed it; edges are in order.

    >>> count_sides(np.array([5.0, 1.0, 3.0, 3.0]), np.array([1.0, 3.0]))
    (array([0, 1]), array([1, 3]))
    """
    counts = [
        np.bincount(np.searchsorted(edges, numbers, side), minlength=edges.size + 1)
        for side in ("right", "left")
    ]
    below, at_most = (np.cumsum(each)[:-1] for each in counts)
    return below, at_most


@dataclass(frozen=True)
class Categories:
    """Which share of the known values each value is, most frequent first.

    >>> Categories.of(pl.Series(["b", "a", "b", "c"])).shares
    {'b': 0.5, 'a': 0.25, 'c': 0.25}
    """

    shares: Mapping[Any, float]

    @classmethod
    def of(cls, values: pl.Series) -> Self:
        """Count known values; of equally frequent ones, the first that was met comes first."""
        return cls._of_counts(_counted(values))

    @classmethod
    def _of_counts(cls, counts: Mapping[Any, int]) -> Self:
        total = sum(counts.values())
        ranked = sorted(counts.items(), key=lambda pair: -pair[1])
        return cls({value: rows / total for value, rows in ranked})

    def joined(self, values: pl.Series, known: int) -> Self:
        """The shares after more values have joined the ``known`` ones."""
        counts = {value: round(share * known) for value, share in self.shares.items()}
        for value, rows in _counted(values).items():
            counts[value] = counts.get(value, 0) + rows
        return self._of_counts(counts)

    def share_as_rare(self, value: Any) -> float:
        """Which share of the rows has a value that is no more frequent than this one."""
        mine = self.shares.get(value, 0.0)
        return sum(share for share in self.shares.values() if share <= mine)

    def most_frequent(self, count: int) -> list[Any]:
        """The values that most rows have."""
        return [*self.shares][:count]


@dataclass(frozen=True)
class ColumnProfile:
    """One column of the matrix in training.

    numbers : how its values are spread; empty for categories
    bins : numbers: inner edges between bins; categories: the codes that are counted one by one
    shares : share of rows in each bin, then (categories) in all others, then missing
    """

    name: str
    numbers: Numbers
    bins: tuple[float, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, name: str, x: NDArray, *, category: bool) -> Self:
        """The profile of one column of the matrix; missing values are NaN."""
        known = x[~np.isnan(x)].astype(np.float64)
        numbers = Numbers() if category else Numbers.of(known)
        if category:
            bins = np.array(Categories.of(pl.Series(known)).most_frequent(_MOST_CATEGORIES))
        elif known.size:
            bins = np.unique(np.quantile(known[sample_rows(known.size)], _DECILES, method="lower"))
        else:
            bins = np.array([])
        shares = _counts(x, bins, category) / x.size
        return cls(name, numbers, tuple(bins.tolist()), tuple(shares.tolist()))

    @property
    def missing(self) -> float:
        """Share of rows without a value."""
        return self.shares[-1]

    def counts(self, column: NDArray, *, category: bool) -> NDArray[np.int64]:
        """How many values fall into each of the bins."""
        return _counts(column, np.asarray(self.bins), category)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain values for JSON."""
        return {"name": self.name, **asdict(self.numbers), "bins": self.bins, "shares": self.shares}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """The profile that ``to_dict`` stored."""
        numbers = Numbers(*(tuple(stored[part]) for part in ("quantiles", "below", "at_most")))
        return cls(stored["name"], numbers, tuple(stored["bins"]), tuple(stored["shares"]))


class Shift(NamedTuple):
    """How far the values of a column lie from those of training."""

    column: int
    name: str
    stability: float  # the population stability index
    chance: float  # what chance alone would make of it

    @property
    def is_marked(self) -> bool:
        """Whether it is more than chance, and much."""
        return self.stability > MARKED_SHIFT + 2 * self.chance


@dataclass(frozen=True)
class Profile:
    """The columns of the training matrix, and the scores that the trained model gives a sample of its rows."""

    rows: int  # that the profile was taken from
    columns: tuple[ColumnProfile, ...]
    scores: tuple[float, ...] = ()  # at LEVELS

    @classmethod
    def of(cls, X: NDArray[np.float32], schema: Schema) -> Profile:
        """The profile of encoded rows.

        >>> import polars as pl
        >>> X = np.array([[1.0], [2.0], [np.nan], [4.0]], dtype=np.float32)
        >>> Profile.of(X, Schema.learn(pl.DataFrame({"amount": X[:, 0]}))).columns[0].missing
        0.25
        """
        columns = zip(schema.columns, X.T, schema.categorical, strict=True)
        return cls(X.shape[0], tuple(ColumnProfile.of(name, x, category=known) for name, x, known in columns))

    def shifts(self, X: NDArray[np.float32], schema: Schema) -> tuple[Shift, ...]:
        """How far the values of each column lie from those of training, and what chance alone would make of it.

        The index is Σ over bins of (new - old) ln(new / old) of the shares; chance makes it about
        (bins - 1)(1/rows + 1/new rows). Dates are left out: new rows are always later.
        """
        sample, shifts = X[sample_rows(X.shape[0])], []
        for i, profile in enumerate(self.columns):
            if schema.kinds[i] == "date":
                continue
            counts = profile.counts(sample[:, i], category=bool(schema.categorical[i]))
            chance = (counts.size - 1) * (1 / self.rows + 1 / sample.shape[0])
            index = stability_index(np.asarray(profile.shares) * self.rows, counts)
            shifts.append(Shift(i, profile.name, index, chance))
        return tuple(shifts)

    def to_dict(self) -> dict[str, Any]:
        """The profile as plain values for JSON."""
        columns = [column.to_dict() for column in self.columns]
        return {"rows": self.rows, "columns": columns, "scores": self.scores}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Profile:
        """The profile that ``to_dict`` stored."""
        columns = tuple(map(ColumnProfile.from_dict, stored["columns"]))
        return cls(stored["rows"], columns, tuple(stored["scores"]))


def sample_rows(n_rows: int) -> NDArray[np.int64]:
    """Positions of at most 50,000 rows, evenly spread: the same ones every time."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).astype(np.int64))


def stability_index(old: NDArray, new: NDArray) -> float:
    """Population stability index of two rows of counts; half a row is added to each bin, so none is empty.

    >>> round(stability_index(np.array([50, 50]), np.array([80, 20])), 2)
    0.41
    """
    p, q = ((counts + 0.5) / (counts + 0.5).sum() for counts in (old, new))
    return float(np.sum((q - p) * np.log(q / p)))


def later_dates(table: Table, profile: Profile) -> list[str]:
    """Columns of dates most of which lie after all dates of training: what was learned of dates says little of them."""
    notes = []
    for i, part in enumerate(table.schema.parts):
        known = table.X[:, i][~np.isnan(table.X[:, i])]
        usual = profile.columns[i].numbers.quantiles
        if part != "days" or not usual or not known.size or np.mean(known > usual[-1]) <= MOST_LATER:
            continue
        name, last = table.schema.feature_of_column[i].name, table.schema.value_text(i, usual[-1])
        notes.append(
            f"{percent(float(np.mean(known > usual[-1])))} of the dates in column {name!r} lie after the last one of "
            f"training, {last}, and nothing was learned of such dates. If it is the day of a row, train with --time "
            f"{quote(name)}; if it tells nothing, with --ignore {quote(name)}."
        )
    return notes


def drift_notes(table: Table, profile: Profile, shifts: Sequence[Shift]) -> list[str]:
    """Columns of the new rows whose values are spread otherwise than in training, the most marked first."""
    later = later_dates(table, profile)
    if len(table) < FEWEST_ROWS:
        return later
    marked = sorted((shift for shift in shifts if shift.is_marked), key=lambda shift: -shift.stability)
    notes = later + [
        f"column {name!r} has shifted since training: {_change(table, column, profile.columns[column])} "
        f"(stability index {index:.2f})."
        for column, name, index, _ in marked[:_MOST_NOTES]
    ]
    if len(marked) > _MOST_NOTES:
        notes.append(f"{len(marked) - _MOST_NOTES} more columns have shifted; consider training anew.")
    return notes


def column_shifts(shifts: Sequence[Shift]) -> pl.DataFrame:
    """The stability index of every column, most shifted first."""
    rows = [{"column": shift.name, "stability index": shift.stability} for shift in shifts]
    frame = pl.DataFrame(rows, schema={"column": pl.String, "stability index": pl.Float64})
    return frame.sort("stability index", descending=True, maintain_order=True)


def _change(table: Table, column: int, old: ColumnProfile) -> str:
    """What moved most: the gaps, the median, or a category's share."""
    values = table.X[:, column]
    missing = float(np.isnan(values).mean())
    if abs(missing - old.missing) > 0.2 or missing == 1:
        return f"{percent(missing)} of its values are missing, {percent(old.missing)} in training"
    if not table.schema.categorical[column]:
        median = float(np.nanmedian(values))
        return f"its median is {number_text(median)}, {number_text(old.numbers.at(0.5))} in training"
    counts = old.counts(values, category=True)
    shares = counts / counts.sum()
    most = int(np.argmax(np.abs(shares[:-2] - np.asarray(old.shares[:-2]))))
    name = table.schema.value_text(column, old.bins[most])
    return f"{name!r} is {percent(shares[most])} of the rows, {percent(old.shares[most])} in training"


def _counted(values: pl.Series) -> dict[Any, int]:
    """How many rows have each value, in the order they were met."""
    counts = values.alias("value").to_frame().group_by("value", maintain_order=True).len("rows")
    return dict(counts.iter_rows())


def _counts(x: NDArray, bins: NDArray, category: bool) -> NDArray[np.int64]:
    """Rows in each bin, then (categories) in all others, then missing."""
    missing = np.isnan(x)
    if category:
        each = np.array([np.sum(x == code) for code in bins], dtype=np.int64)
        each = np.append(each, x.size - missing.sum() - each.sum())
    else:
        each = np.bincount(np.searchsorted(bins, x[~missing], side="left"), minlength=bins.size + 1)
    return np.append(each, missing.sum())
