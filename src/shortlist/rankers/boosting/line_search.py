"""The paper's own boosting step: a least-squares tree on a mini-batch, then a line search for its weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import Exponential
from shortlist.rankers.folds import take


class LineSearchStep:
    """f ← f + ν γ h, with h fitted to -g on random rows S' and γ = argmin of 1 - AP_exp(f + γ h) on S'.

    Differs from the paper's Algorithm 1 in two things: max abs(γ h) is held at 1, without which one step sends the
    richest wanted rows so far up that all others lose their gradient; and ν, the learning rate (1 is the paper's).
    """

    def __init__(
        self, batch: Batch, params: dict[str, Any], *, learning_rate: float, subsample: float, seed: int
    ) -> None:
        self.batch = batch
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.seed = seed
        # Rows are drawn here and columns not at all, so that the tree measured is the tree that is added.
        self.tree_params = {
            **params,
            "colsample_bynode": 1.0,
            "lambda": 0.0,
            "learning_rate": 1.0,
        }

    def __call__(
        self,
        booster: xgb.Booster,
        matrix: xgb.DMatrix,
        round_: int,
        margins: Callable[[], NDArray[np.float32]],
    ) -> None:
        """Grow one tree."""
        margin = margins()
        rows = self._draw(np.random.default_rng([self.seed, round_]))
        loss = Exponential(take(self.batch, rows))
        grad = np.zeros_like(margin)
        grad[rows] = loss(margin[rows])[0]
        hess = np.zeros_like(margin)
        hess[rows] = 1
        direction = self._direction(matrix, round_, grad, hess)[rows]
        weight = self._weight(loss, margin[rows], direction)
        booster.set_param({**self.tree_params, "learning_rate": self.learning_rate * weight})
        booster.boost(matrix, round_, grad=grad, hess=hess)

    def _draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """A random share of each class: a mini-batch without a wanted row has no gradient."""
        parts = [np.flatnonzero(self.batch.y), np.flatnonzero(~self.batch.y)]
        drawn = [rng.choice(rows, max(1, round(self.subsample * rows.size)), replace=False) for rows in parts]
        return np.sort(np.concatenate(drawn))

    def _direction(
        self, matrix: xgb.DMatrix, round_: int, grad: NDArray, hess: NDArray
    ) -> NDArray[np.float32]:
        tree = xgb.Booster({"base_score": 0.0, "tree_method": "hist", **self.tree_params}, cache=[matrix])
        tree.boost(matrix, round_, grad=grad, hess=hess)
        return tree.predict(matrix, output_margin=True)

    @staticmethod
    def _weight(loss: Exponential, margin: NDArray[np.float32], direction: NDArray[np.float32]) -> float:
        from scipy.optimize import minimize_scalar  # noqa: PLC0415  which takes long to load, for one loss of many

        largest = float(np.abs(direction).max())
        if largest == 0:
            return 0.0
        found = minimize_scalar(
            lambda weight: loss.value(margin + np.float32(weight) * direction),
            bounds=(0.0, 1 / largest),
            method="bounded",
            options={"maxiter": 30},
        )
        return float(found.x)
