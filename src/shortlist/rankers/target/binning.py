"""Features as few bins: thresholds for numbers, groups for categories, missing values apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.tables.columns.learn import MOST_VALUES

MAX_CATEGORIES = MOST_VALUES  # so that every category of a table can be learned from
SET_BITS = 64  # bins of a categorical feature: a set of them is one word
_SAMPLE = 200_000  # rows looked at for thresholds


@dataclass(frozen=True, eq=False)
class Bins:
    """How each feature falls into bins.

    A number x is in bin ``#{t in thresholds[f] : t < x}``. Category code c is in bin ``bin_of_code[f][c]``;
    rare categories share the last bin. A code that training did not have counts as missing.
    """

    categorical: NDArray[np.bool_]
    thresholds: list[NDArray[np.float64]]
    bin_of_code: list[NDArray[np.uint8]]

    @classmethod
    def learn(
        cls,
        X: NDArray,
        categorical: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        max_bins: int,
        rng: np.random.Generator,
    ) -> Bins:
        """Thresholds at quantiles, between two values that occur; one bin per frequent category."""
        weight = np.ones(X.shape[0]) if weight is None else weight
        if X.shape[0] > _SAMPLE:
            sample = np.sort(rng.choice(X.shape[0], _SAMPLE, replace=False))
        else:
            sample = np.arange(X.shape[0])
        thresholds, bin_of_code = [], []
        for feature, is_category in enumerate(categorical):
            column = X[:, feature]
            numbers = column[sample] if not is_category else column[:0]
            thresholds.append(quantile_thresholds(numbers, weight[sample][: numbers.size], max_bins))
            bin_of_code.append(
                _group_codes(column, weight, feature) if is_category else np.zeros(0, np.uint8)
            )
        return cls(categorical, thresholds, bin_of_code)

    @property
    def n_bins(self) -> NDArray[np.int64]:
        """How many bins each feature has, missing values not counted."""
        pairs = zip(self.thresholds, self.bin_of_code, strict=True)
        return np.array([t.size + 1 if not c.size else int(c.max()) + 1 for t, c in pairs], dtype=np.int64)

    def numbers(self, X: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Bin numbers and which values are missing, both (features x rows)."""
        code = np.zeros(X.shape[::-1], dtype=np.uint8)
        missing = np.zeros(X.shape[::-1], dtype=bool)
        for feature, column in enumerate(X.T):
            code[feature], missing[feature] = self.column(feature, column)
        return code, missing

    def column(self, feature: int, values: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Bin numbers of one feature and which of its values are missing."""
        missing = np.isnan(values)
        if not self.categorical[feature]:
            place = np.searchsorted(self.thresholds[feature], values, side="left")
            return np.where(missing, 0, place).astype(np.uint8), missing
        lookup = self.bin_of_code[feature]
        known = ~missing & (values >= 0) & (values < lookup.size)
        code = np.zeros(values.size, dtype=np.uint8)
        code[known] = lookup[values[known].astype(np.int64)]
        return code, ~known

    def has_rare(self, feature: int) -> bool:
        """Whether the last bin of a categorical feature collects its rare categories."""
        return self.bin_of_code[feature].size > SET_BITS


def quantile_thresholds(values: NDArray, weight: NDArray[np.float64], max_bins: int) -> NDArray[np.float64]:
    """At most ``max_bins`` - 1 thresholds that part the values into bins of about equal weight.

    >>> quantile_thresholds(np.array([3.0, 1.0, 2.5, np.nan]), np.ones(4), max_bins=4)
    array([2. , 2.8])
    """
    present = ~np.isnan(values) & (weight > 0)
    distinct, place = np.unique(values[present].astype(np.float64), return_inverse=True)
    if distinct.size < 2:
        return np.zeros(0)
    cuts = np.arange(distinct.size - 1)
    if distinct.size > max_bins:
        reached = np.cumsum(np.bincount(place, weights=weight[present]))
        goals = reached[-1] * np.arange(1, max_bins) / max_bins
        cuts = np.unique(np.minimum(np.searchsorted(reached, goals), distinct.size - 2))
    low, high = distinct[cuts], distinct[cuts + 1]
    if values.dtype == np.float32:
        # 19.2 as float32 is above 19.2: a threshold of 19.2 between the two would part the row in memory from the
        # same row in the table, so thresholds stay clear of the numbers as they were written, too.
        low, high = np.maximum(low, _as_written(low)), np.minimum(high, _as_written(high))
    return np.array([shortest_between(*pair) for pair in zip(low, high, strict=True)])


def _as_written(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shortest decimals that float32 numbers can stand for."""
    return np.array([float(str(value)) for value in values.astype(np.float32)])


def shortest_between(low: float, high: float) -> float:
    """A number t with low <= t < high, near the middle, with as few digits as possible.

    >>> shortest_between(36.91, 37.08)
    37.0
    """
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return float(low)


def _group_codes(column: NDArray, weight: NDArray[np.float64], feature: int) -> NDArray[np.uint8]:
    """A bin for each category code: one each up to 64 categories, else the rare ones share the last bin."""
    known = ~np.isnan(column)
    codes = column[known].astype(np.int64)
    if codes.size and codes.min() < 0:
        raise InvalidInputError(
            f"feature {feature} is categorical but has the code {codes.min()}; codes are 0, 1, 2, ... and NaN."
        )
    n_codes = int(codes.max()) + 1 if codes.size else 0
    if n_codes > MAX_CATEGORIES:
        raise InvalidInputError(
            f"feature {feature} has {n_codes} categories; a tree takes at most {MAX_CATEGORIES}. It is probably "
            "an identifier: drop it, or group its categories first."
        )
    if n_codes <= SET_BITS:
        return np.arange(n_codes, dtype=np.uint8)
    total = np.bincount(codes, weights=weight[known], minlength=n_codes)
    bins = np.full(n_codes, SET_BITS - 1, dtype=np.uint8)
    bins[np.argsort(-total, kind="stable")[: SET_BITS - 1]] = np.arange(SET_BITS - 1)
    return bins
