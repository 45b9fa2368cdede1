"""Columns of a stream made comparable: robust centre and scale from recent rows, categories as 0/1 columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.stream.clipped_sums import clipped_columns, clipped_sums

Floats = NDArray[np.float64]

#: Rows kept of each window to learn scales from, and of how many windows: old scales are forgotten.
SAMPLE_PER_WINDOW = 500
SAMPLED_WINDOWS = 8
#: Scales are computed anew when this share of the sample is new: medians cost more than scoring a window.
_STALE_SHARE = 0.25
#: A value further from the centre than this many scales counts as if it were that far.
_CLIP = 10.0
#: The interquartile range of a normal distribution in standard deviations.
_IQR_OF_NORMAL = 1.349
#: Categories with a column of their own, the most frequent ones of the first window.
_MAX_CATEGORIES = 50


class StreamColumns:
    """Standardises rows by what recent windows looked like, whatever their labels.

    z = clip((x − median) / scale, −10, 10). The scale is the interquartile range (in units of a normal's
    standard deviation), but no less than a tenth of the standard deviation, which also serves where half of
    the values are equal. A missing number becomes the median; a category code becomes a 0/1 column.

    >>> columns = StreamColumns(np.array([False]))
    >>> columns.observe(np.arange(101.0).reshape(-1, 1), np.random.default_rng(0))
    >>> columns.transform(np.array([[50.0], [1e9], [np.nan]])).ravel()
    array([ 0., 10.,  0.])
    """

    def __init__(
        self, categorical: NDArray[np.bool_], *, standardize: bool = True, frozen: bool = False
    ) -> None:
        self.categorical = categorical
        self.standardize = standardize
        self.frozen = frozen  # learn from the first window only: w of a perceptron cannot follow new scales
        self.sample: list[NDArray] = []
        self.new_rows = 0
        self.n_observed = 0
        self.version = 0  # how often the scales were computed
        self.center: Floats | None = None
        self.scale: Floats | None = None
        self.codes: list[NDArray[np.int64]] = []
        self._n_numbers = int(np.count_nonzero(~categorical))
        self._range, self._range_of = (np.empty(0), np.empty(0)), -1  # within which values are not clipped

    @property
    def n_columns(self) -> int:
        """How many numbers a transformed row has."""
        return self._n_numbers + sum(codes.size for codes in self.codes)

    @property
    def _all_numbers(self) -> bool:
        return not self.codes

    @property
    def _clip(self) -> float:
        return _CLIP if self.standardize else np.inf

    @property
    def recent_rows(self) -> NDArray:
        """The sample of recent rows, oldest first."""
        return np.concatenate(self.sample)

    def observe(self, X: NDArray, rng: np.random.Generator) -> None:
        """Learn from the rows of a window; their labels are not needed."""
        if X.shape[0] == 0 or (self.frozen and self.center is not None):
            return
        size = min(X.shape[0], SAMPLE_PER_WINDOW)
        self.sample = [*self.sample[1 - SAMPLED_WINDOWS :], X[rng.choice(X.shape[0], size, replace=False)]]
        self.new_rows += size
        self.n_observed += X.shape[0]
        if self.center is None:
            self.codes = [_frequent_codes(X[:, j]) for j in np.flatnonzero(self.categorical)]
        if self.center is None or self.new_rows > _STALE_SHARE * sum(len(rows) for rows in self.sample):
            self._rescale()

    def _rescale(self) -> None:
        self.new_rows = 0
        self.version += self.standardize or self.center is None
        if self.standardize:
            rows = self.recent_rows if self._all_numbers else self.recent_rows[:, ~self.categorical]
            self.center, self.scale = _center_and_scale(rows.T.astype(np.float64, order="C"))
        elif self.center is None:
            self.center, self.scale = np.zeros(self._n_numbers), np.ones(self._n_numbers)

    def transform(self, X: NDArray) -> Floats:
        """Standardised numbers, then the columns of the categories."""
        assert self.center is not None
        assert self.scale is not None
        Z = np.empty((X.shape[0], self.n_columns))
        clipped_columns(
            X if self._all_numbers else X[:, ~self.categorical], self.center, self.scale, self._clip, Z
        )
        start = self._n_numbers
        for j, codes in zip(np.flatnonzero(self.categorical), self.codes, strict=True):
            Z[:, start : start + codes.size] = X[:, [j]] == codes
            start += codes.size
        return Z

    def linear_scores(self, X: NDArray, weights: Floats) -> Floats:
        """transform(X) @ weights, up to a constant, in one pass and without the transformed rows."""
        if not self._all_numbers:
            return self.transform(X) @ weights
        assert self.center is not None
        assert self.scale is not None
        if self._range_of != self.version:
            reach = self._clip * self.scale
            self._range, self._range_of = (self.center - reach, self.center + reach), self.version
        return clipped_sums(X, *self._range, self.center, weights / self.scale)

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later, as arrays and plain values."""
        return {
            "categorical": self.categorical,
            "standardize": self.standardize,
            "frozen": self.frozen,
            "sample": self.sample,
            "new_rows": self.new_rows,
            "n_observed": self.n_observed,
            "version": self.version,
            "center": self.center,
            "scale": self.scale,
            "codes": self.codes,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> StreamColumns:
        """The columns whose state was kept."""
        columns = cls(state["categorical"], standardize=state["standardize"], frozen=state["frozen"])
        for name in ("sample", "new_rows", "n_observed", "version", "center", "scale", "codes"):
            setattr(columns, name, state[name])
        return columns


def _center_and_scale(columns: Floats) -> tuple[Floats, Floats]:
    """Of each column (a row of the array, whose values then lie together and sort fast)."""
    finite = np.isfinite(columns)
    if finite.all():
        columns.sort(axis=1)
        deviation = np.sqrt(np.mean((columns - columns.mean(axis=1, keepdims=True)) ** 2, axis=1))
        return _robust(_quartiles(columns), deviation)
    columns, known = np.where(finite, columns, np.nan), finite.any(axis=1)
    center, scale = np.zeros(known.size), np.ones(known.size)
    if known.any():
        quartiles = np.nanpercentile(columns[known], [25, 50, 75], axis=1)
        center[known], scale[known] = _robust(quartiles, np.nanstd(columns[known], axis=1))
    return center, scale


def _robust(quartiles: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    lower, center, upper = quartiles
    robust = np.maximum((upper - lower) / _IQR_OF_NORMAL, deviation / 10)
    best = np.where(upper > lower, robust, deviation)
    return center, np.where(best > np.abs(center) * 1e-12, best, 1.0)


def _quartiles(in_order: Floats) -> Floats:
    """What np.percentile gives, for values that are in order."""
    last = in_order.shape[1] - 1
    places = last * np.array([0.25, 0.5, 0.75])
    below = places.astype(np.int64)
    above = np.minimum(below + 1, last)
    return (in_order[:, below] + (in_order[:, above] - in_order[:, below]) * (places - below)).T


def _frequent_codes(column: NDArray) -> NDArray[np.int64]:
    codes, counts = np.unique(column[~np.isnan(column)].astype(np.int64), return_counts=True)
    return np.sort(codes[np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]])
