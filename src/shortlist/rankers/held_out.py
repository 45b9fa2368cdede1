"""Rankers that stop when lists they do not learn from gain no more."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups
from shortlist.rankers.base import Ranker, unchanged_if_refused
from shortlist.rankers.batch import Batch
from shortlist.tables.io.frames import is_spark, is_spread


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
        X : array, sparse matrix or data frame of shape (rows, features); for boosted trees also a data frame or array
            of Dask, with y, groups and sample_weight as columns of the same table; or a data frame of Spark, with
            their names: all other columns are features
        y : what is known of each row: wanted or not, or its impact
        groups : the list of each row; rows are ranked within their list. None: all rows are one list
        sample_weight : how much each row counts; None: all alike
        eval_set : (X, y) or (X, y, groups) of lists to judge the model on while it learns; it stops when they
            gain no more. In place of those that the ranker would hold out itself
        """
        if is_spread(X):
            from shortlist.rankers.cluster.on_dask import fit_spread  # noqa: PLC0415  few have a cluster

            fit_spread(self, X, y, groups=groups, sample_weight=sample_weight, eval_set=eval_set)
            return self
        if is_spark(X):
            from shortlist.rankers.cluster.on_spark import fit_spark  # noqa: PLC0415  few have a cluster

            fit_spark(self, X, y, groups=groups, sample_weight=sample_weight, eval_set=eval_set)
            return self
        with unchanged_if_refused(self):
            batch = self._check_batch(X, y, groups, sample_weight)
            held_out = None if eval_set is None else self._check_eval_set(eval_set)
            self._fit(batch, held_out)
            self._calibrate(batch, held_out)
        return self

    @abstractmethod
    def _fit(self, batch: Batch, held_out: Batch | None = None) -> None:
        """Learn from checked rows, judged on the held-out ones."""

    def _check_eval_set(self, eval_set: tuple[Any, ...]) -> Batch:
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
    useful = np.flatnonzero(ideals > 0)
    if useful.size < 2:
        raise InvalidInputError(
            f"eval_groups needs at least two lists with something to gain to hold one out; there are {useful.size}. "
            "Pass groups, or an eval_set to fit, or leave eval_groups out."
        )
    count = min(max(1, round(share * useful.size)), useful.size - 1)
    held = np.sort(rng.permutation(useful)[:count])
    return np.setdiff1d(np.arange(ideals.size), held), held
