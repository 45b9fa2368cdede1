"""The first rows of each list so far, and all that is needed to say what their ranks mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.abilities import Floats

_COLUMNS = {"list": pl.Int64, "score": pl.Float64, "chance": pl.Float64, "row": pl.Int64}
_TIES = {"list": pl.Int64, "score": pl.Float64, "more": pl.Int64, "more_chance": pl.Float64}


class RunningTop:
    """The first ``budget`` rows of each list, as batches come; equal scores keep the order of the table.

    Rows that are as good as the last one kept count for its expected precision, so their number and chances are kept.

    >>> top = RunningTop(budget=1)
    >>> for start, score in enumerate(([0.2, 0.9], [0.9, 0.1])):
    ...     kept = top.add(2 * start, np.array(score), np.array(score).__getitem__, None)
    >>> top.best["row"].to_list(), top.expected().tolist(), top.longest
    ([1], [0.9], 4)
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.best = pl.DataFrame(schema=_COLUMNS)  # list after list in order of first appearance, best first
        self._ties = pl.DataFrame(schema=_TIES)  # with the last row kept of each list
        self._sizes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._last: Floats = np.empty(0)  # the score of the last row of each list that is full
        self._numbers: pl.DataFrame | None = None  # of the lists, by their names

    @property
    def longest(self) -> int:
        """The rows of the longest list."""
        return int(self._sizes.max())

    def add(
        self,
        start: int,
        score: Floats,
        chance_of: Callable[[NDArray[np.int64]], Floats | None],
        names: pl.Series | None,
    ) -> NDArray[np.int64]:
        """Take in a batch whose first row has the number ``start``.

        Gives the positions of the rows that are kept now among those that were kept before, followed by the batch.

        chance_of : the chances of rows of the batch, by position, where they are known: few rows are asked for
        names : the lists of its rows; None: all rows are one
        """
        numbers, n_before = self._number(names, score.size), self.best.height
        some = self._promising(score, numbers)
        if not some.size:
            return np.arange(n_before)
        chance = chance_of(some)
        known = np.full(some.size, np.nan) if chance is None else chance
        rows = {"list": numbers[some], "score": score[some], "chance": known, "row": start + some}
        fresh = pl.DataFrame(rows, schema=_COLUMNS).with_columns(at=pl.Series(n_before + some))
        ranked = (
            pl.concat([self.best.with_columns(at=pl.int_range(n_before, dtype=pl.Int64)), fresh])
            .sort(["list", "score", "row"], descending=[False, True, False])
            .with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64).over("list"))
        )
        kept = ranked.filter(pl.col("place") < self.budget)
        self._count_ties(kept, ranked.filter(pl.col("place") >= self.budget))
        full = kept.filter(pl.col("place") == self.budget - 1)
        self._last[full["list"].to_numpy()] = full["score"].to_numpy()
        self.best = kept.select(*_COLUMNS)
        return kept["at"].to_numpy()

    def _promising(self, score: Floats, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows as good as the last one kept of their list: ever fewer as batches go by."""
        is_one = self._sizes.size == 1
        some = np.flatnonzero(score >= (self._last[0] if is_one else self._last[numbers]))
        if not is_one or some.size <= self.budget:
            return some
        # Of one list, what is worse than the last one kept of these rows alone need not be sorted.
        here = score[some]
        return some[here >= np.partition(here, -self.budget)[-self.budget]]

    def _number(self, names: pl.Series | None, n_rows: int) -> NDArray[np.int64]:
        """The number of each row's list, by first appearance in the table; their rows are counted."""
        if names is None:
            self._meet(1 - self._sizes.size)
            self._sizes[0] += n_rows
            return np.zeros(n_rows, dtype=np.int64)
        rows = names.alias("name").to_frame()
        here = rows.group_by("name", maintain_order=True).len("rows")
        known = self._numbers
        if known is None:
            known = rows.clear().with_columns(number=pl.lit(0, dtype=pl.Int64))
        fresh = here.select("name").join(known, on="name", how="anti", maintain_order="left")
        fresh = fresh.with_columns(
            number=pl.int_range(known.height, known.height + fresh.height, dtype=pl.Int64)
        )
        self._numbers = pl.concat([known, fresh])
        number = here.join(self._numbers, on="name", how="left", maintain_order="left")["number"].to_numpy()
        self._meet(fresh.height)
        self._sizes[number] += here["rows"].to_numpy()
        return rows.join(self._numbers, on="name", how="left", maintain_order="left")["number"].to_numpy()

    def _meet(self, n_lists: int) -> None:
        """Make room for lists that were not met before."""
        self._sizes = np.concatenate([self._sizes, np.zeros(n_lists, dtype=np.int64)])
        self._last = np.concatenate([self._last, np.full(n_lists, -np.inf)])

    def _count_ties(self, kept: pl.DataFrame, beyond: pl.DataFrame) -> None:
        """Rows beyond the budget that are as good as the last within it."""
        last = kept.group_by("list").agg(score=pl.col("score").min())
        fresh = beyond.group_by("list", "score").agg(
            more=pl.len().cast(pl.Int64), more_chance=pl.col("chance").sum()
        )
        counted = pl.concat([self._ties, fresh.select(*_TIES)]).join(last, on=["list", "score"], how="semi")
        self._ties = counted.group_by("list", "score").sum()

    def expected(self) -> Floats:
        """For each row kept: the mean chance of all rows of its list that score no lower."""
        so_far = self.best.select(
            "list",
            "score",
            sum=pl.col("chance").cum_sum().over("list"),
            rows=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("list"),
        ).with_columns(pl.col("sum", "rows").last().over("list", "score"))
        beside = so_far.join(self._ties, on=["list", "score"], how="left", maintain_order="left").fill_null(0)
        chance = pl.col("sum") + pl.col("more_chance")
        return beside.select(chance / (pl.col("rows") + pl.col("more"))).to_series().to_numpy()
