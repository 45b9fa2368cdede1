"""Ranking by expected value: the chance that a row is wanted, times what it is worth then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist.counts import counted
from shortlist.models.abilities import Floats, chances, score_rows
from shortlist.rankers.base import Ranker
from shortlist.rankers.chances.calibration import chance_curve, read_chance
from shortlist.rankers.folds import deal_folds, divisible
from shortlist.tables import Table
from shortlist.tables.numbers import read_numbers

#: Folds in which a ranker that does not know its own chances shows how often its scores are right.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class ByValue:
    """How a chance and a value make one score: chance x value^power.

    power : 1 for the most money, 0 for the most wanted rows, between them for some of both
    least_chance : rows below it come after all others, however much they are worth
    usual : what a row without a value is taken to be worth, the median of training
    curve : scores and chances, of rankers that do not know their own

    >>> ByValue(least_chance=0.1).score(np.array([0.5, 0.25, 0.01]), np.array([10.0, 40.0, 5_000.0]))
    array([ 5.        , 10.        , -0.01960784])
    """

    power: float = 1.0
    least_chance: float = 0.0
    usual: float = 0.0
    curve: Floats | None = None

    @classmethod
    def learn(
        cls, ranker: Ranker, table: Table, *, power: float, least_chance: float, random_state: int
    ) -> Self:
        """What scores of this fitted ranker are worth, by rows that were held out."""
        known = chances(ranker, np.zeros(1)) is not None
        curve = None if known else _own_curve(ranker)
        if not known and curve is None:
            curve = held_out_curve(ranker, table, random_state)
        usual = float(np.median(value_of_rows(table)))
        return cls(power, least_chance, usual, curve)

    def chance(self, ranker: Ranker, score: Floats) -> Floats:
        """The chance that a row with such a score of the ranker is wanted."""
        known = chances(ranker, score) if self.curve is None else read_chance(self.curve, score)
        assert known is not None  # ``learn`` made a curve where the ranker has none
        return known

    def score(self, chance: Floats, value: Floats) -> Floats:
        """What rows are ranked by; where the power is 1 it is the expected value, but for hopeless rows."""
        expected = chance * value**self.power
        return np.where(chance >= self.least_chance, expected, -1 / (1 + expected))

    def values(self, table: Table) -> tuple[Floats, tuple[str, ...]]:
        """What each of the new rows is worth if it is wanted, and a note on those that do not say."""
        values = value_of_rows(table)
        gaps = np.isnan(values)
        if not gaps.any():
            return values, ()
        return np.where(gaps, self.usual, values), self.gap_notes(table.roles.value, int(gaps.sum()))

    def gap_notes(self, column: str | None, gaps: int) -> tuple[str, ...]:
        """A note on so many rows that do not say what they are worth."""
        says = (
            f"no {column} in {counted(gaps, 'row')}: ranked as if it were {self.usual:,.0f}, the "
            "median of the history."
        )
        return (says,) if gaps else ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        curve = None if self.curve is None else self.curve.tolist()
        return {
            "power": self.power,
            "least_chance": self.least_chance,
            "usual": self.usual,
            "curve": curve,
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """What ``to_dict`` stored."""
        curve = None if stored["curve"] is None else np.array(stored["curve"], dtype=np.float64)
        return cls(
            **{name: float(stored[name]) for name in ("power", "least_chance", "usual")},
            curve=curve,
        )


def value_of_rows(table: Table) -> Floats:
    """The value of each row, NaN where there is none."""
    if table.impact is not None:
        return table.impact
    column = table.roles.value
    assert column is not None  # only models that were trained with a value ask
    return read_numbers(table.frame[column], "value").cast(pl.Float64).fill_null(np.nan).to_numpy()


def _own_curve(ranker: Ranker) -> Floats | None:
    """The curve that a ranker made of rows held out, if it made one."""
    return ranker.chance_curve_ if getattr(ranker, "calibrated_on_", "") == "held-out rows" else None


def held_out_curve(ranker: Ranker, table: Table, random_state: int) -> Floats:
    """How often scores of such a ranker are right, by rows that its like did not learn from.

    With a single wanted row none can be held out: the smooth curve through the training rows has to do.
    """
    y, lists = table.wanted, table.drawn_lists
    n_folds = min(N_FOLDS, divisible(y, lists), divisible(~y, lists))
    if n_folds < 2:
        return chance_curve(score_rows(ranker, table.features), y, table.for_fit.get("sample_weight")).points
    fold = deal_folds(y, lists, n_folds, random_state)
    score = np.empty(y.size)
    for number in range(n_folds):
        score[fold == number] = _scores_without(ranker, table, fold == number)
    return chance_curve(score, y, table.for_fit.get("sample_weight")).points


def _scores_without(ranker: Ranker, table: Table, out: NDArray[np.bool_]) -> Floats:
    """The scores that some rows get from a ranker that learned from the others."""
    others = table.take(np.flatnonzero(~out))
    like = clone(ranker).fit(others.features, others.wanted, **others.for_fit)
    return score_rows(like, table.features.take(np.flatnonzero(out)))
