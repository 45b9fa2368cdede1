"""The perceptron of the papers: one step per window, from the labels of its top k and a few rows below."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.columns import StreamColumns
from shortlist.stream.learners.base import Learner
from shortlist.stream.window import OpenWindow

Floats = NDArray[np.float64]


class Perceptron(Learner):
    """Perceptron@k: w ← w − Σ_F x + (Δ / size of A)·Σ_A x after each window.

    F are the Δ unwanted rows of the top k, A the at most Δ highest-scored wanted rows found below it.

    What differs from the paper: w only moves when A is not empty, and Δ/|A| balances the two sums; as printed,
    removing Δ rows while adding fewer drives w to −Σx. ``balance=False`` leaves the factor out.

    Reference: Kar, Narasimhan, Jain (2015), Surrogate functions for maximizing precision at the top.

    >>> from shortlist.stream import ActiveRanker
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([0, 1, 1])
    >>> ranker = ActiveRanker(1, learner="perceptron", standardize=False, random_state=3).partial_fit(X, y)
    >>> ranker.decision_function(X)
    array([0., 0., 0.])
    """

    one_round = False
    follows_scales = False

    def __init__(self, *, balance: bool = True, average: bool = False) -> None:
        self.balance = balance
        self.average = average
        self.weights: Floats | None = None
        self.sum_of_weights: Floats | None = None
        self.steps = 0

    @property
    def ready(self) -> bool:
        """Whether a step has been taken."""
        return self.weights is not None

    def scores(self, X: NDArray, columns: StreamColumns) -> Floats:
        """w·x, or the mean of all w so far times x."""
        assert self.weights is not None
        assert self.sum_of_weights is not None
        return columns.linear_scores(X, self.sum_of_weights / self.steps if self.average else self.weights)

    def close(self, window: OpenWindow, columns: StreamColumns) -> None:
        """Take the step of a window whose labels are complete."""
        added, factor = rows_to_add(window, self.balance)
        if added.size:
            removed = window.false_positives
            parts = np.concatenate([np.full(added.size, factor), np.full(removed.size, -1.0)])
            step = parts @ columns.transform(window.features(np.concatenate([added, removed])))
            self.weights = step if self.weights is None else self.weights + step
        if self.weights is not None:
            self.steps += 1
            self.sum_of_weights = self.weights + (0.0 if self.sum_of_weights is None else self.sum_of_weights)

    def fade(self, factor: float) -> None:
        """Let old steps count less than the next one."""
        if self.weights is not None and factor < 1.0:
            self.weights = self.weights * factor

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return {name: getattr(self, name) for name in ("weights", "sum_of_weights", "steps")}


def rows_to_add(window: OpenWindow, balance: bool) -> tuple[NDArray[np.int64], float]:
    """A: the best Δ wanted rows found below the top k, and the factor that balances them against F."""
    missed = window.false_positives.size
    if not missed:
        return np.empty(0, dtype=np.int64), 1.0
    added = window.found_below[:missed]
    return added, missed / added.size if balance and added.size else 1.0
