"""The engine under boosted rankers: XGBoost's histogram trees, driven by a gradient of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.rankers.boosting.trees.draws import Draw

#: Nodes of a tree whose histograms are kept while it grows, to spare their sums; those of all nodes of a deep tree take
#: gigabytes where columns are many. Of gradients on the grid sums are exact, so that the trees are the same.
KEPT_NODES = 128

Gradient = Callable[[NDArray[np.float32]], tuple[NDArray, NDArray]]
Judge = Callable[[NDArray[np.float32]], float]
#: Grows one tree: (booster, training matrix, round, gives the margins of the training rows). They are asked for, not
#: handed over, so that who needs them no more while the tree grows can let them go.
Step = Callable[[xgb.Booster, xgb.DMatrix, int, Callable[[], NDArray[np.float32]]], None]


class Growth:
    """A model that grows tree by tree, from margin 0 or from another model.

    The margins of its training rows, and of the rows of ``watched``, are kept up to date as it grows.
    """

    def __init__(
        self,
        matrix: xgb.DMatrix,
        step: Step,
        params: dict[str, Any],
        start: xgb.Booster | None = None,
        watched: xgb.DMatrix | None = None,
    ) -> None:
        # Columns are drawn by seed and round alone, whichever models grow beside this one in a thread.
        fixed = {"base_score": 0.0, "tree_method": "hist", "seed_per_iteration": True}
        params = {**fixed, "max_cached_hist_node": KEPT_NODES, **params}
        self.matrix, self.step, self.watched = matrix, step, matrix if watched is None else watched
        self.booster = xgb.Booster(params, cache=[matrix, self.watched], model_file=start)
        # One of several machines may have no rows; XGBoost would not tell its model what columns hold.
        if matrix.num_row() == 0:
            self.booster.feature_types = matrix.feature_types

    @property
    def rounds(self) -> int:
        """How many trees it has."""
        return self.booster.num_boosted_rounds()

    def grow(self, rounds: int = 1) -> None:
        """Add so many trees."""
        for round_ in range(self.rounds, self.rounds + rounds):
            self.step(self.booster, self.matrix, round_, lambda: self._margins(self.matrix))

    def margins(self) -> NDArray[np.float32]:
        """Those of the rows watched."""
        return self._margins(self.watched)

    def _margins(self, matrix: xgb.DMatrix) -> NDArray[np.float32]:
        # They are in the engine's cache, so this costs one copy and no walk through the trees. They are asked for
        # before every tree: kept from the look before, models that share a matrix grew other trees now and then.
        # Of no rows XGBoost 3.4 gives a matrix.
        return self.booster.predict(
            matrix, output_margin=True, training=True, validate_features=False
        ).ravel()


def boost(
    growth: Growth,
    rounds: int,
    *,
    judge: Judge | None = None,
    patience: int | None = None,
    on_round: Callable[[int, float | None], None] | None = None,
) -> xgb.Booster:
    """Add up to ``rounds`` trees.

    Parameters
    ----------
    judge : the measure of the margins of the rows watched, larger = better. With ``patience`` the search ends
        after that many rounds without a gain, and the booster is cut after its best round
    on_round : told the round and the judge's value (None without one)
    """
    first = growth.rounds
    best, best_round = -np.inf, first + rounds - 1
    for round_ in range(first, first + rounds):
        growth.grow()
        value = None if judge is None else judge(growth.margins())
        if on_round is not None:
            on_round(round_, value)
        if value is None or patience is None:
            continue
        if value > best:
            best, best_round = value, round_
        elif round_ - best_round >= patience:
            break
    booster = growth.booster
    return booster[: best_round + 1] if growth.rounds > best_round + 1 else booster


def newton_step(gradient: Gradient, draw: Draw | None = None) -> Step:
    """Each tree takes one Newton step along the gradient of the rows drawn, shortened by the learning rate."""
    draw = draw or Draw()

    def step(
        booster: xgb.Booster, matrix: xgb.DMatrix, round_: int, margins: Callable[[], NDArray[np.float32]]
    ) -> None:
        grad, hess = gradient(margins())
        draw.settle(grad, hess, round_)
        booster.boost(matrix, round_, grad=grad, hess=hess)

    return step
