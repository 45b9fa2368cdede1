"""What the columns of the training rows looked like: the ground for reasons, and for noticing that new rows differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.tables import Schema

#: Finer at the ends, where the rows are that people look at.
LEVELS = (0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99, 1)
_DECILES = slice(4, 13)
#: Rows that a profile is taken from; more would cost time and change no digit that anybody reads.
_MOST_ROWS = 50_000
#: Frequent categories that are counted one by one; the others are counted together.
_MOST_CATEGORIES = 30
#: A population stability index above this is commonly read as a marked shift.
MARKED_SHIFT = 0.25


@dataclass(frozen=True)
class ColumnProfile:
    """One column of the matrix in training.

    quantiles : the values at ``LEVELS``; none for categories
    below, at_most : the shares of values below each quantile, and of those that do not exceed it; where many rows
        have the same value these differ from the levels
    bins : numbers: inner edges between bins; categories: the codes that are counted one by one
    shares : share of rows in each bin, then (categories) in all others, then missing
    """

    name: str
    quantiles: tuple[float, ...]
    below: tuple[float, ...]
    at_most: tuple[float, ...]
    bins: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def missing(self) -> float:
        """Share of rows without a value."""
        return self.shares[-1]

    def share_below(self, value: float) -> float:
        """Which share of the training values is smaller; exact at quantiles, interpolated between them.

        >>> levels = tuple(float(q) for q in LEVELS)
        >>> ColumnProfile("rate", levels, levels, levels, (), (0.0,)).share_below(0.975)
        0.975
        """
        return self._share(value, self.below)

    def share_above(self, value: float) -> float:
        """Which share of the training values is larger."""
        return 1 - self._share(value, self.at_most)

    def _share(self, value: float, shares: tuple[float, ...]) -> float:
        if value > self.quantiles[-1]:
            return 1.0
        return 0.0 if value < self.quantiles[0] else float(np.interp(value, self.quantiles, shares))

    def counts(self, column: NDArray, *, category: bool) -> NDArray[np.int64]:
        """How many values fall into each of the bins."""
        return _counts(column, np.asarray(self.bins), category)


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
        return cls(sample.shape[0], tuple(_profile(name, x, is_category) for name, x, is_category in columns))

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
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Profile:
        """The profile that ``to_dict`` stored."""
        parts = ("quantiles", "below", "at_most", "bins", "shares")
        columns = (ColumnProfile(c["name"], *(tuple(c[part]) for part in parts)) for c in stored["columns"])
        return cls(stored["rows"], tuple(columns), tuple(stored["scores"]))


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


def _profile(name: str, x: NDArray, category: bool) -> ColumnProfile:
    known = np.sort(x[~np.isnan(x)]).astype(np.float64)
    # Values of the sample itself, not between two of them: only those have an exact share.
    quantiles = np.quantile(known, LEVELS, method="lower") if known.size and not category else np.empty(0)
    below, at_most = (
        np.searchsorted(known, quantiles, side=s) / max(known.size, 1) for s in ("left", "right")
    )
    if category:
        codes, counts = np.unique(known, return_counts=True)
        bins = codes[np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]]
    else:
        bins = np.unique(quantiles[_DECILES])
    shares = _counts(x, bins, category) / x.size
    return ColumnProfile(
        name, *(tuple(map(float, values)) for values in (quantiles, below, at_most, bins, shares))
    )


def _counts(x: NDArray, bins: NDArray, category: bool) -> NDArray[np.int64]:
    """Rows in each bin, then (categories) in all others, then missing."""
    missing = np.isnan(x)
    if category:
        each = np.array([np.sum(x == code) for code in bins], dtype=np.int64)
        each = np.append(each, x.size - missing.sum() - each.sum())
    else:
        each = np.bincount(np.searchsorted(bins, x[~missing], side="left"), minlength=bins.size + 1)
    return np.append(each, missing.sum())
