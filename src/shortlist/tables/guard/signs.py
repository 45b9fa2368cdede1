"""Signs that one column alone gives the label away; each is a count that a sentence can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """The rows on one side of the best cut through a column: how many there are, how many of them are wanted."""

    found: int
    rows: int
    wanted: int  # in all

    @property
    def strength(self) -> float:
        """F1 of the cut, 2·found / (rows + wanted + 1); one row is imagined that it gets wrong, so few prove little.

        >>> Cut(found=20, rows=20, wanted=20).strength
        0.975...
        """
        return 2 * self.found / (self.rows + self.wanted + 1)


def best_cut(values: Floats, wanted: Flags) -> Cut:
    """The cut with the highest F1; rows above it or below it count, rows without a value (NaN) never do.

    >>> best_cut(np.array([1.0, 5.0, 6.0, np.nan]), np.array([False, True, True, True]))
    Cut(found=2, rows=2, wanted=3)
    """
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    sorted_values, hits = values[known][order], wanted[known][order]
    total, best = int(wanted.sum()), Cut(0, 0, int(wanted.sum()))
    for turned in (slice(None, None, 1), slice(None, None, -1)):
        found = np.cumsum(hits[turned])
        ends = np.flatnonzero(np.append(np.diff(sorted_values[turned]) != 0, True))
        if not found.size:
            break
        rows = ends + 1
        at = int(np.argmax(2 * found[ends] / (rows + total + 1)))
        cut = Cut(int(found[ends][at]), int(rows[at]), total)
        best = max(best, cut, key=lambda each: each.strength)
    return best


def rates_elsewhere(codes: Codes, wanted: Flags) -> Floats:
    """For each row, the share of wanted rows in its category among the other half of the rows.

    A category that names the row says nothing in this way, as it would if the row itself were counted.
    """
    half = np.random.default_rng(0).integers(0, 2, codes.size)
    size, base = int(codes.max()) + 1, wanted.mean()
    rates = np.empty(codes.size)
    for side in (0, 1):
        there = half != side
        rows = np.bincount(codes[there], minlength=size)
        found = np.bincount(codes[there], wanted[there], minlength=size)
        rates[~there] = ((found + base) / (rows + 1))[codes[~there]]
    return rates


@dataclass(frozen=True)
class Group:
    """Rows that have something in common, and how many of them are wanted."""

    rows: int
    found: int

    def is_pure(self, wanted: int, total: int, *, least_share: float, least_purity: float) -> bool:
        """Whether (nearly) only wanted rows belong to it, and so many that chance cannot have done it."""
        by_chance = self.found * np.log(total / wanted)
        enough = self.found >= max(least_share * wanted, 3) and by_chance > 12
        return bool(self.rows < total and enough and self.found >= least_purity * self.rows)

    def expected(self, wanted: int, total: int) -> float:
        """How many of its rows were wanted if it had nothing to do with the label."""
        return self.rows * wanted / total

    def avoids(self, wanted: int, total: int, *, most_ratio: float) -> bool:
        """Whether (nearly) no wanted row belongs to it, though many should by chance."""
        # (1 - share)^wanted is the chance that none of the wanted rows is among this share of all rows.
        by_chance = -wanted * np.log1p(-min(self.rows / total, 1 - 1e-9))
        return bool(by_chance > 7 and self.found <= most_ratio * self.expected(wanted, total))


def group_of(rows: Flags, wanted: Flags) -> Group:
    """The group that a mask picks."""
    return Group(int(rows.sum()), int(wanted[rows].sum()))


def side_of(values: Floats, wanted: Flags) -> float:
    """How well the values order wanted rows after the others: the area under the ROC curve, 0.5 is chance.

    >>> side_of(np.array([1.0, 2.0, 3.0]), np.array([False, True, True]))
    1.0
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    n_wanted = int(wanted.sum())
    pairs = n_wanted * (values.size - n_wanted)
    return float((rank[place][wanted].sum() - n_wanted * (n_wanted + 1) / 2) / pairs) if pairs else 0.5
