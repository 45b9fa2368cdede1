"""A review played through with known labels: what a strategy would have found."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.feedback.base import FeedbackRanker
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.validation import check_budget, check_wanted


@dataclass(frozen=True, eq=False)
class Simulation:
    """The rows in the order they were reviewed, which of them were wanted, and what it took."""

    order: Integers
    found: NDArray[np.bool_]
    effort: float  # mean, as in the paper's tables; NaN for a single review
    seconds: Floats  # CPU time of ask and tell, per review

    @property
    def hits(self) -> Integers:
        """Wanted rows found after each review."""
        return np.cumsum(self.found)

    @property
    def precision(self) -> float:
        """The share of reviewed rows that were wanted: precision at the budget."""
        return float(self.found.mean())


def simulate(ranker: FeedbackRanker, wanted: ArrayLike, budget: int) -> Simulation:
    """Ask for the top row and tell its label, ``budget`` times.

    >>> from shortlist.feedback import LeafSimilarity, ScoreSpace
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> ranker = LeafSimilarity(ScoreSpace.from_isolation_forest(X, random_state=0), random_state=0)
    >>> simulate(ranker, np.arange(520) >= 500, budget=20).precision
    0.95
    """
    label = check_wanted(wanted, ranker.space.n_rows)
    budget = check_budget(budget, ranker.space.n_rows)
    order, seconds = np.empty(budget, dtype=np.int64), np.empty(budget)
    for i in range(budget):
        start = time.process_time()
        order[i] = ranker.ask()
        ranker.tell(int(order[i]), bool(label[order[i]]))
        seconds[i] = time.process_time() - start
    return Simulation(order, label[order], ranker.effort() if budget > 1 else float("nan"), seconds)
