"""Objectives that weigh rows by their impact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from shortlist import metrics
from shortlist.lists import Lists
from shortlist.metrics.cost import row_costs
from shortlist.metrics.gain import check_gain, log_discounts, relative_gains
from shortlist.objectives.base import Floats, shares
from shortlist.objectives.discounted import Discounted, ranks_to
from shortlist.validation import check_budget, check_impact


@dataclass(frozen=True)
class NDCG(Discounted):
    """Discounted gain of the first k, as a share of the best possible; each list counts alike.

    ``gain="exp2"`` is 2^y - 1, ``"linear"`` is y. Gains are kept relative to the largest of their list, so
    impacts of 10,000 do not overflow.

    >>> NDCG(k=2).value([10_000, 9_999, 0], [3, 2, 1])
    1.0
    """

    k: int | None = None
    gain: Literal["exp2", "linear"] = "exp2"

    def __post_init__(self) -> None:
        if self.k is not None:
            check_budget(self.k, name="k")
        check_gain(self.gain)

    @property
    def cutoff(self) -> int | None:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """Gains as a share of the largest of the list (before the constant 1 is taken off)."""
        return relative_gains(check_impact(y, lists.n_rows), lists, self.gain)

    def discounts(self, n: int) -> Floats:
        """1 / log2(rank + 1) for the first k ranks, else 0."""
        return log_discounts(self.k)(n)


@dataclass(frozen=True)
class CostSaved(Discounted):
    """Cost saved by acting on the first k rows, as a share of what an ideal order saves (R_CS).

    A row at rank r <= k is acted on with probability ``act``: ``"linear"`` 1 - (r - 1)/k, ``"top-k"`` 1,
    ``"log"`` 1/log2(r + 1), or a function of the ranks; later rows never. ``cost`` turns impacts into costs:
    None takes them as they are, a function maps them, an array gives the cost of each row (to measure: a ranker, which
    meets other rows, is given the costs as y). Lists count in proportion to what could be saved in them.

    >>> storms, impact = [1, 1, 1, 2, 2, 2], [10_000, 100, 0, 100, 1, 0]
    >>> CostSaved(k=2).value(impact, score=[3, 2, 1, 1, 2, 3], groups=storms)
    0.9901...
    """

    k: int
    cost: Callable[[Floats], ArrayLike] | ArrayLike | None = None
    act: Literal["linear", "top-k", "log"] | Callable[[Floats], ArrayLike] = "linear"

    def __post_init__(self) -> None:
        check_budget(self.k, name="k")
        metrics.act_probability(np.ones(1), self.k, self.act)

    @property
    def cutoff(self) -> int:  # type: ignore[override]
        """Only the first k ranks count."""
        return self.k

    @property
    def of_certain_rows(self) -> bool:  # type: ignore[override]
        """Costs that are given one by one are those of certain rows."""
        return self.cost is not None and not callable(self.cost)

    def gains(self, y: ArrayLike, lists: Lists) -> Floats:
        """The cost of each row."""
        return row_costs(check_impact(y, lists.n_rows), self.cost)

    def discounts(self, n: int) -> Floats:
        """The probability of acting on ranks 1 to n."""
        return metrics.act_probability(ranks_to(n), self.k, self.act)

    def list_weights(self, ideals: Floats) -> Floats:
        """Lists count in proportion to what an ideal order saves in them."""
        return shares(ideals)
