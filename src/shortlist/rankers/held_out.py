"""Rankers that stop when lists they do not learn from gain no more."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups
from shortlist.rankers.base import Batch, Ranker, unchanged_if_refused


class HeldOutRanker(Ranker):
    """A ranker that can be judged, while it learns, on lists held out.

    Either ``fit(..., eval_set=(X, y, groups))`` names them, or a parameter of the ranker holds out a share of the
    training lists at random.
    """

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: Groups | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
    ) -> Self:
        """Learn to rank the rows of X by y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
        y : what is known of each row: wanted or not, or its impact
        groups : the list of each row; rows are ranked within their list. None: all rows are one list
        sample_weight : how much each row counts; None: all alike
        eval_set : (X, y) or (X, y, groups) of lists to judge the model on while it learns; it stops when they
            gain no more. In place of those that the ranker would hold out itself
        """
        with unchanged_if_refused(self):
            batch = self._check_batch(X, y, groups, sample_weight)
            self._fit(batch, None if eval_set is None else self._check_eval_set(eval_set, y))
        return self

    @abstractmethod
    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        """Learn from checked rows, judged on the held-out ones."""

    def _check_eval_set(self, eval_set: tuple[Any, ...], trained_on: ArrayLike) -> Batch:
        X, y, groups = eval_parts(eval_set)
        return self._checked(self._check_features(X, reset=False), y, groups, None)


def eval_parts(eval_set: Any) -> tuple[Any, Any, Any]:
    """X, y and groups of a validation set; groups are None where it names none.

    >>> eval_parts(("X", "y"))
    ('X', 'y', None)
    """
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise InvalidInputError(
            "eval_set must be a tuple (X, y) or (X, y, groups), not a list of several as in XGBoost."
        )
    X, y, groups = (*eval_set, None)[:3]
    return X, y, groups


def hold_out(
    ideals: NDArray[np.float64], share: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the lists to learn from and of those held out, at least one of each kind.

    Only lists in which something can be gained are held out: the others could not judge anything.

    >>> hold_out(np.array([1.0, 0.0, 2.0, 3.0]), 0.4, np.random.default_rng(0))
    (array([0, 1, 2]), array([3]))
    """
    if not 0 < share < 1:
        raise InvalidInputError(f"eval_groups must be a share between 0 and 1; got {share!r}.")
    useful = np.flatnonzero(ideals > 0)
    if useful.size < 2:
        raise InvalidInputError(
            f"eval_groups needs at least two lists with something to gain to hold one out; there are {useful.size}. "
            "Pass groups, or an eval_set to fit, or leave eval_groups out."
        )
    count = min(max(1, round(share * useful.size)), useful.size - 1)
    held = np.sort(rng.permutation(useful)[:count])
    return np.setdiff1d(np.arange(ideals.size), held), held
