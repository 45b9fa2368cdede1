"""A ranker that is an XGBoost model: what all boosted rankers share once they are trained."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_is_fitted

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker
from shortlist.validation import check_jobs

#: Values of sparse rows that are made dense at a time.
DENSE_VALUES = 1 << 24


def margins(booster: xgb.Booster, X: Any, first: int = 0, last: int = 0) -> NDArray[np.float32]:
    """Margins of rows, of the rounds from ``first`` to before ``last`` (0: to the end)."""
    if issparse(X):
        X = csr_matrix(X)  # the older of SciPy's two classes is the one that XGBoost knows; nothing is copied
    # Of no rows XGBoost 3.4 gives a matrix.
    return booster.inplace_predict(X, predict_type="margin", iteration_range=(first, last)).ravel()


def without_stored_zeros(X: Any) -> Any:
    """A sparse matrix that leaves all its zeros out, whoever made it; other rows as they are."""
    if not issparse(X) or X.data.all():
        return X
    X = X.copy()
    X.eliminate_zeros()
    return X


def check_no_gaps(X: Any) -> None:
    """Refuse missing values where XGBoost takes zeros for missing.

    >>> check_no_gaps(csr_matrix([[0, np.nan]]))
    Traceback (most recent call last):
        ...
    shortlist.exceptions.InvalidInputError: X has 1 missing value, and ...
    """
    n_gaps = int(np.isnan(X.data if issparse(X) else X).sum())
    if n_gaps:
        raise InvalidInputError(
            f"X has {counted(n_gaps, 'missing value')}, and trees that learn from a sparse matrix cannot tell a gap "
            "from zero. Fit the ranker on a dense array or a table, or fill the gaps."
        )


def _warn_of_unknown_zeros() -> None:
    warnings.warn(
        "this ranker was saved by a version that did not keep whether it learned from dense or from sparse rows. What "
        "X leaves out is read as missing; if the ranker learned from dense rows, the ranking is wrong. Train it again, "
        "or give X in the form that it learned from.",
        UserWarning,
        stacklevel=2,
    )


class BoostedRanker(Ranker):
    """A ranker whose learned state is an XGBoost model, ``booster_``."""

    booster_: xgb.Booster
    n_jobs: int | None
    _takes_missing = True
    _takes_sparse = True
    _trains_spread = True

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        X = without_stored_zeros(super()._check_features(X, reset=reset))
        if reset:
            self.sparse_ = issparse(X)
        elif issparse(X) and self._learned_sparse() is None:
            _warn_of_unknown_zeros()
        if self._learned_sparse():
            check_no_gaps(X)
        return X

    def _learned_sparse(self) -> bool | None:
        """Whether ``fit`` saw a sparse matrix; None: nobody knows."""
        # Models of 0.1.0 do not say; those with a schema learned from a table, which is never sparse.
        return getattr(self, "sparse_", None if getattr(self, "schema_", None) is None else False)

    def _score(self, X: Any) -> NDArray:
        return np.concatenate([margins(self.booster_, part) for part in self._as_fitted(X)])

    def _as_fitted(self, X: Any) -> Iterator[Any]:
        """Rows in the form that ``fit`` saw: XGBoost takes what a sparse matrix leaves out for missing, not zero."""
        learned_sparse = self._learned_sparse()
        if learned_sparse is None or learned_sparse == issparse(X):
            yield X
        elif learned_sparse:
            yield csr_matrix(X)
        else:
            step = max(1, DENSE_VALUES // X.shape[1])
            yield from (X[start : start + step].toarray() for start in range(0, X.shape[0], step))

    def _all_as_fitted(self, X: Any) -> Any:
        """The same as one, for rows that training looks at."""
        parts = [*self._as_fitted(X)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """How much each column moves each row's score (SHAP values); the last column is the base.

        Rows sum to ``decision_function(X)``.
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        return np.concatenate([self._contributions(part) for part in self._as_fitted(X)], dtype=np.float64)

    def _contributions(self, X: Any) -> NDArray[np.float32]:
        matrix = xgb.DMatrix(
            X,
            feature_types=self.booster_.feature_types,
            enable_categorical=True,
            nthread=check_jobs(self.n_jobs),
        )
        return self.booster_.predict(matrix, pred_contribs=True)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of the training gain that each column of X brought; sums to 1."""
        gain = self.booster_.get_score(importance_type="total_gain")
        names = self.booster_.feature_names or [f"f{i}" for i in range(self.booster_.num_features())]
        share = np.array([gain.get(name, 0.0) for name in names])
        return share / share.sum() if share.sum() > 0 else share

    def __getstate__(self) -> dict[str, Any]:
        # Bytes instead of a live handle: the state can be stored and read back without executing code.
        state = dict(super().__getstate__())
        if isinstance(state.get("booster_"), xgb.Booster):
            state["booster_"] = np.frombuffer(state["booster_"].save_raw("ubj"), dtype=np.uint8)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        raw = state.get("booster_")
        if isinstance(raw, np.ndarray):
            state = {**state, "booster_": xgb.Booster(model_file=bytearray(raw.tobytes()))}
        super().__setstate__(state)
