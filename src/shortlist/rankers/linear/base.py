"""Rankers whose score is a weighted sum of columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shortlist.objectives import Goal, Objective
from shortlist.objectives.base import ListWeight
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch
from shortlist.rankers.explanation import gather_parts
from shortlist.rankers.objective import bind_batch, takes_impact
from shortlist.rankers.preparation import complete_numbers, fit_columns


class LinearRanker(Ranker):
    """A ranker that explains itself: score = sum of weight x standardised column.

    Missing numbers become the median, categories one column each (see ``preparation.complete_numbers``).
    """

    objective: Objective | None
    list_weight: ListWeight
    coef_: NDArray[np.float64]
    value_: float
    _takes_missing = True
    _free_scale = True

    @property
    def _takes_impact(self) -> bool:
        return takes_impact(self.objective)

    @abstractmethod
    def _search(self, columns: NDArray[np.float64], goal: Goal) -> tuple[float, NDArray[np.float64]]:
        """The best value found and its weights; rows of ``columns`` lie list after list."""

    def _fit(self, batch: Batch) -> None:
        goal = bind_batch(self.objective, batch, self.list_weight, batch.sample_weight)
        rows, goal = goal.take(np.arange(len(goal.lists)))
        self.preparation_ = complete_numbers(batch.categorical)
        # A weight multiplies what a row is worth, and says nothing of how often its values occur.
        prepared = fit_columns(self.preparation_, batch.X, None)
        # Column by column in memory, because that is how they are tried.
        self.value_, self.coef_ = self._search(np.asfortranarray(prepared[rows]), goal)

    def _score(self, X: Any) -> NDArray:
        return np.asarray(self.preparation_.transform(X), dtype=np.float64) @ self.coef_

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """How much each column of X moves each row's score; the last column is the base, 0.

        Rows sum to ``decision_function(X)``.
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        parts = np.asarray(self.preparation_.transform(X), dtype=np.float64) * self.coef_
        return gather_parts(self.preparation_, parts, self.n_features_in_)

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each prepared column by name, largest first: what one standard deviation moves."""
        names = self.preparation_.get_feature_names_out(self._names_in())
        order = np.argsort(-np.abs(self.coef_), kind="stable")
        return {str(names[i]).split("__", 1)[1]: float(self.coef_[i]) for i in order}

    def _names_in(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return (
            [f"x{i}" for i in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        )
