"""The rows to rank as the kernels want them: row sets for every cut, and how a ranking is valued."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.kernels.target import leaf_value
from shortlist.kernels.target.bitset import Cuts, fill_cuts, fill_planes, fill_set
from shortlist.kernels.target.tree_fitness import Rows
from shortlist.objectives import AUC, AveragePrecision, Objective
from shortlist.rankers.batch import Batch
from shortlist.rankers.target.binning import Bins


@dataclass(frozen=True, eq=False)
class Problem:
    """Binned rows, what each is worth, and the objective of their ranking."""

    bins: Bins
    code: NDArray[np.uint8]  # features x rows
    missing: NDArray[np.bool_]
    gain: NDArray[np.float64]
    list_of_row: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    objective: Objective

    @classmethod
    def of(cls, batch: Batch, objective: Objective, max_bins: int, rng: np.random.Generator) -> Problem:
        """The problem that checked rows pose; rows without weight are left out."""
        kind_of(objective)
        weight, X = batch.sample_weight, batch.X
        gain = objective.gains(batch.y if weight is None else np.where(weight > 0, batch.y, 0), batch.lists)
        bins = Bins.learn(X, batch.categorical, weight, max_bins, rng)
        problem = cls(bins, *bins.numbers(X), gain, batch.lists.of_row, weight, objective)
        return problem if weight is None else problem.take(np.flatnonzero(weight > 0))

    def check_splittable(self, min_leaf: float) -> None:
        """Refuse rows from which no tree can grow."""
        if self.gain.min() == self.gain.max():
            raise NoWantedRowsError(
                f"none of the {self.n_rows} rows is worth more than another (one class); training needs at least one "
                "that is. Label one, or start without labels: shortlist review DATA"
            )
        if not self._usable(self.had_missing).size:
            raise InvalidInputError(
                "every feature is constant, so there is nothing to split by. Add features that differ between rows."
            )
        if self.weight is not None and self.weight.sum() < 2 * min_leaf <= self.n_rows:
            raise InvalidInputError(
                f"sample_weight sums to {self.weight.sum():g}, and a row of weight w counts as w rows: too few for two "
                f"leaves of {min_leaf:g}. Multiply the weights, so that they average about 1, or lower min_leaf."
            )

    @property
    def n_rows(self) -> int:
        """How many rows there are, whatever they weigh."""
        return self.gain.size

    @property
    def had_missing(self) -> NDArray[np.bool_]:
        """Which features have missing values."""
        return np.any(self.missing, axis=1, keepdims=True)[:, 0]

    @property
    def share(self) -> float:
        """The share of rows that are worth anything: pi."""
        return float(np.average(self.gain > 0, weights=self.weight))

    @property
    def counted(self) -> bool:
        """One list of wanted and unwanted rows that count alike: popcounts are all it takes."""
        return self.weight is None and not self.list_of_row.any() and bool(np.isin(self.gain, (0, 1)).all())

    def take(self, rows: NDArray[np.int64]) -> Problem:
        """The same problem on some of the rows, which may repeat."""
        weight = None if self.weight is None else self.weight[rows]
        lists = np.unique(self.list_of_row[rows], return_inverse=True)[1]
        return Problem(
            self.bins,
            self.code[:, rows],
            self.missing[:, rows],
            self.gain[rows],
            lists,
            weight,
            self.objective,
        )

    def value(self, score: NDArray[np.float64]) -> float:
        """The value of a ranking of these rows by score."""
        leaf = np.unique(score, return_inverse=True)[1]
        count, gain = self._sums(leaf)
        kind, discounts = kind_of(self.objective), self.discounts
        order = np.arange(count.shape[0])[::-1].copy()
        rank_score = order[::-1].astype(np.float64)
        totals = [
            leaf_value.list_total(kind, gain, count, order.size, number, rank_score, order, discounts)
            for number in range(count.shape[1])
        ]
        return float(self.list_scale @ np.array(totals))

    def _sums(self, leaf: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rows and gain of each leaf (leaves x lists)."""
        n_lists = int(self.list_of_row.max()) + 1
        cell = leaf * n_lists + self.list_of_row
        shape = (int(leaf.max()) + 1, n_lists)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        sums = [
            np.bincount(cell, weights=each, minlength=shape[0] * n_lists)
            for each in (weight, weight * self.gain)
        ]
        count, gain = (each.astype(np.float64).reshape(shape) for each in sums)
        return count, gain

    @property
    def discounts(self) -> NDArray[np.float64]:
        """Discounts cumulated by rank, as far as ranks count."""
        if kind_of(self.objective) != leaf_value.DISCOUNTED:
            return np.zeros(2)
        longest = np.bincount(self.list_of_row, weights=self.weight).max()
        n_ranks = int(np.ceil(longest))
        if self.objective.cutoff is not None:
            n_ranks = min(n_ranks, self.objective.cutoff)
        discounts = self.objective.discounts(n_ranks)  # type: ignore[attr-defined]
        return np.concatenate([[0.0], np.cumsum(discounts)])

    @property
    def list_scale(self) -> NDArray[np.float64]:
        """Weight of each list divided by its ideal, which is the total of a leaf per distinct gain."""
        distinct, leaf = np.unique(self.gain, return_inverse=True)
        count, gain = self._sums(leaf)
        order = np.arange(distinct.size)[::-1].copy()
        kind, discounts = kind_of(self.objective), self.discounts
        ideals = np.array(
            [
                leaf_value.list_total(kind, gain, count, order.size, number, distinct, order, discounts)
                for number in range(count.shape[1])
            ]
        )
        weights = self.objective.list_weights(ideals)
        return np.divide(weights, ideals, out=np.zeros(ideals.size), where=ideals > 0)

    def rows(self) -> tuple[Rows, NDArray[np.int64]]:
        """What the kernels need to value a tree, and the bit position of each row."""
        counted = self.counted
        wanted = self.gain == 1 if counted else np.zeros(self.n_rows, dtype=bool)
        wanted_words = -(-int(wanted.sum()) // 64)
        position = np.where(wanted, np.cumsum(wanted) - 1, np.cumsum(~wanted) - 1 + 64 * wanted_words)
        n_words = -(-int(position.max() + 1) // 64)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        by_row = (np.zeros(0), np.zeros(0), np.zeros(0, np.int32))
        if not counted:  # then positions are the row numbers
            by_row = (weight, weight * self.gain, self.list_of_row.astype(np.int32))
        rows = Rows(
            everyone=_row_set(np.ones(self.n_rows, dtype=bool), position, n_words),
            n_rows=float(weight.sum()),
            # Not as a product of vectors: BLAS would share it out, and its threads spin on beside the search.
            gain=float((weight * self.gain).sum()),
            counted=counted,
            wanted_words=wanted_words,
            weighted=self.weight is not None,
            row_weight=by_row[0],
            row_gain=by_row[1],
            row_list=by_row[2],
            list_scale=self.list_scale,
            kind=kind_of(self.objective),
            discounts=self.discounts,
        )
        return rows, position

    def cuts(self, position: NDArray[np.int64], n_words: int, memory: float) -> Cuts:
        """Row sets of all features: one per cut, or bit planes when those exceed ``memory`` bytes."""
        has_missing = self.had_missing
        n_bins, categorical = self.bins.n_bins, self.bins.categorical
        # A numeric feature with missing values has one more cut: known against missing.
        n_cuts = np.where(categorical | has_missing, n_bins, n_bins - 1)
        in_planes = bool(8.0 * n_words * n_cuts.sum() > memory)
        n_planes = np.array([int(n - 1).bit_length() if in_planes else 0 for n in n_bins], dtype=np.int64)
        n_sets = np.where(n_planes > 0, n_planes, n_cuts)
        start = np.concatenate([[0], np.cumsum(n_sets)])
        bits = np.zeros((int(start[-1]), n_words), dtype=np.uint64)
        for feature in range(n_bins.size):
            own = bits[start[feature] : start[feature + 1]]
            if n_planes[feature] > 0:
                fill_planes(self.code[feature], position, own)
            elif own.size:
                self._fill(feature, position, own)
        lacking = np.flatnonzero(has_missing)
        missing = np.zeros((lacking.size, n_words), dtype=np.uint64)
        for place, lacks in enumerate(lacking):
            fill_set(self.missing[lacks], position, missing[place])
        missing_at = np.full(n_bins.size, -1)
        missing_at[lacking] = np.arange(lacking.size)
        ready = ~categorical & ~has_missing & (n_planes == 0)
        usable = self._usable(has_missing)
        return Cuts(bits, start[:-1], n_planes, n_cuts, categorical, missing, missing_at, ready, usable)

    def _fill(self, feature: int, position: NDArray[np.int64], own: NDArray[np.uint64]) -> None:
        """One row set per cut; without missing values the last bin of numbers has no cut."""
        cumulate = not self.bins.categorical[feature]
        beyond = self.missing[feature] | (self.code[feature] >= own.shape[0])
        fill_cuts(self.code[feature], beyond, position, own, cumulate)

    def _usable(self, has_missing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Features that part the rows: two bins in use, or one and missing values."""
        used = [np.unique(code[~gone]).size for code, gone in zip(self.code, self.missing, strict=True)]
        return np.flatnonzero(np.array(used) + has_missing > 1)


def kind_of(objective: Objective) -> int:
    """How leaves add up to the objective's total."""
    if isinstance(objective, AveragePrecision):
        return leaf_value.AVERAGE_PRECISION
    if isinstance(objective, AUC):
        return leaf_value.PAIRS
    if hasattr(objective, "discounts"):
        return leaf_value.DISCOUNTED
    raise InvalidInputError(
        f"TargetTree cannot value leaves by {objective!r}. Use AveragePrecision, AUC, PrecisionAtK, NDCG or "
        "CostSaved, or give your objective a method discounts(n) that says what a gain counts at ranks 1 to n."
    )


def _row_set(member: NDArray[np.bool_], position: NDArray[np.int64], n_words: int) -> NDArray[np.uint64]:
    bits = np.zeros(n_words, dtype=np.uint64)
    fill_set(member, position, bits)
    return bits
