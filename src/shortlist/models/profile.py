"""What is usual in each column: the ground for reasons, for noticing that rows differ, and for a reviewer's page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.tables import Schema, Table
from shortlist.tables.columns.words import number_text, percent

#: Finer at the ends, where the rows are that people look at.
LEVELS = (0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1)
_DECILES = slice(4, 13)
#: Rows that a profile is taken from; more would cost time and change no digit that anybody reads.
_MOST_ROWS = 50_000
#: Frequent categories that are counted one by one; the others are counted together.
_MOST_CATEGORIES = 30
#: A population stability index above this is commonly read as a marked shift.
MARKED_SHIFT = 0.25
#: Fewer rows than this say little about how values are spread.
_FEWEST_ROWS = 30
_MOST_NOTES = 5


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
    def of(
        cls,
        numbers: NDArray,
        levels: Sequence[float] | NDArray[np.float64] = LEVELS,
        method: Literal["lower", "nearest"] = "lower",
    ) -> Self:
        """The spread of known numbers. Quantiles are numbers of the sample: only those have an exact share.

        >>> Numbers.of(np.array([3.0, 1.0, 1.0, 5.0]), levels=(0, 0.5, 1)).at_most
        (0.5, 0.5, 1.0)
        """
        if not numbers.size:
            return cls()
        known = np.sort(numbers).astype(np.float64)
        quantiles = np.quantile(known, levels, method=method)
        below, at_most = (np.searchsorted(known, quantiles, side=s) / known.size for s in ("left", "right"))
        return cls(*(tuple(values.tolist()) for values in (quantiles, below, at_most)))

    def share_below(self, value: float) -> float:
        """Which share of the numbers is smaller; exact at quantiles, interpolated between them.

        >>> levels = tuple(float(q) for q in LEVELS)
        >>> Numbers(levels, levels, levels).share_below(0.975)
        0.975
        """
        return self._share(value, self.below)

    def share_above(self, value: float) -> float:
        """Which share of the numbers is larger."""
        return 1 - self._share(value, self.at_most)

    def _share(self, value: float, shares: tuple[float, ...]) -> float:
        if value > self.quantiles[-1]:
            return 1.0
        return 0.0 if value < self.quantiles[0] else float(np.interp(value, self.quantiles, shares))


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
        counts = values.alias("value").to_frame().group_by("value", maintain_order=True).len("rows")
        counts = counts.sort("rows", descending=True, maintain_order=True)
        return cls({value: rows / len(values) for value, rows in counts.iter_rows()})

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
        known = np.sort(x[~np.isnan(x)]).astype(np.float64)
        numbers = Numbers() if category else Numbers.of(known)
        if category:
            bins = np.array(Categories.of(pl.Series(known)).most_frequent(_MOST_CATEGORIES))
        else:
            bins = np.unique(np.array(numbers.quantiles[_DECILES]))
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
        sample = X[sample_rows(X.shape[0])]
        columns = zip(schema.columns, sample.T, schema.categorical, strict=True)
        return cls(
            sample.shape[0], tuple(ColumnProfile.of(name, x, category=known) for name, x, known in columns)
        )

    def shifts(self, X: NDArray[np.float32], schema: Schema) -> list[tuple[int, float]]:
        """Columns whose values are spread markedly otherwise than in training, with their stability index."""
        return [
            (i, index) for i, index, chance in self.indices(X, schema) if index > MARKED_SHIFT + 2 * chance
        ]

    def indices(self, X: NDArray[np.float32], schema: Schema) -> Iterator[tuple[int, float, float]]:
        """The stability index of each column, and what chance alone would make of it.

        The index is Σ over bins of (new - old) ln(new / old) of the shares; chance makes it about
        (bins - 1)(1/rows + 1/new rows). Dates are left out: new rows are always later.
        """
        sample = X[sample_rows(X.shape[0])]
        for i, profile in enumerate(self.columns):
            if schema.kinds[i] == "date":
                continue
            counts = profile.counts(sample[:, i], category=bool(schema.categorical[i]))
            chance = (counts.size - 1) * (1 / self.rows + 1 / sample.shape[0])
            yield i, stability_index(np.asarray(profile.shares) * self.rows, counts), chance

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


def drift_notes(table: Table, profile: Profile) -> list[str]:
    """Columns of the new rows whose values are spread otherwise than in training, the most marked first."""
    if len(table) < _FEWEST_ROWS:
        return []
    shifts = sorted(profile.shifts(table.X, table.schema), key=lambda shift: -shift[1])
    notes = [
        f"column {profile.columns[i].name!r} has shifted since training: {_change(table, i, profile.columns[i])} "
        f"(stability index {index:.2f})."
        for i, index in shifts[:_MOST_NOTES]
    ]
    if len(shifts) > _MOST_NOTES:
        notes.append(f"{len(shifts) - _MOST_NOTES} more columns have shifted; consider training anew.")
    return notes


def column_shifts(table: Table, profile: Profile | None) -> pl.DataFrame:
    """The stability index of every column, most shifted first."""
    every = () if profile is None else profile.indices(table.X, table.schema)
    rows = [{"column": table.schema.columns[i], "stability index": index} for i, index, _ in every]
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
        return f"its median is {number_text(median)}, {number_text(old.numbers.quantiles[8])} in training"
    counts = old.counts(values, category=True)
    shares = counts / counts.sum()
    most = int(np.argmax(np.abs(shares[:-2] - np.asarray(old.shares[:-2]))))
    name = table.schema.value_text(column, old.bins[most])
    return f"{name!r} is {percent(shares[most])} of the rows, {percent(old.shares[most])} in training"


def _counts(x: NDArray, bins: NDArray, category: bool) -> NDArray[np.int64]:
    """Rows in each bin, then (categories) in all others, then missing."""
    missing = np.isnan(x)
    if category:
        each = np.array([np.sum(x == code) for code in bins], dtype=np.int64)
        each = np.append(each, x.size - missing.sum() - each.sum())
    else:
        each = np.bincount(np.searchsorted(bins, x[~missing], side="left"), minlength=bins.size + 1)
    return np.append(each, missing.sum())
