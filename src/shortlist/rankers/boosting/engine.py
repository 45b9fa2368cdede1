"""The engine under boosted rankers: XGBoost's histogram trees, driven by a gradient of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_is_fitted

from shortlist.rankers.base import Ranker
from shortlist.validation import check_jobs

Gradient = Callable[[NDArray[np.float32]], tuple[NDArray, NDArray]]
Judge = Callable[[NDArray[np.float32]], float]
#: Grows one tree: (booster, training matrix, round, margins of the training rows).
Step = Callable[[xgb.Booster, xgb.DMatrix, int, NDArray[np.float32]], None]


def training_matrix(
    X: Any, *, categorical: NDArray[np.bool_], max_bin: int = 256, n_jobs: int | None = None, ref: Any = None
) -> xgb.QuantileDMatrix:
    """X in bins, ready to train on; a validation matrix shares the bins of its training matrix ``ref``."""
    return xgb.QuantileDMatrix(
        X,
        feature_types=feature_types(categorical),
        enable_categorical=True,
        max_bin=max_bin,
        nthread=n_jobs,
        ref=ref,
    )


def feature_types(categorical: NDArray[np.bool_]) -> list[str]:
    """XGBoost's name for each column's kind."""
    return ["c" if is_category else "q" for is_category in categorical]


def boost(
    matrix: xgb.DMatrix,
    gradient: Gradient,
    *,
    params: dict[str, Any],
    rounds: int,
    start: xgb.Booster | None = None,
    valid: xgb.DMatrix | None = None,
    judge: Judge | None = None,
    patience: int | None = None,
    on_round: Callable[[int, float | None], None] | None = None,
    step: Step | None = None,
) -> xgb.Booster:
    """Add up to ``rounds`` trees along a gradient, from margin 0 or from ``start``.

    Parameters
    ----------
    gradient : margins of the training rows -> (gradient, hessian), float32
    valid, judge : rows held out and the measure of their margins, larger = better; without ``valid`` the judge
        sees the training rows' margins (some of which may have no weight). With ``patience`` the search ends
        after that many rounds without a gain, and the booster is cut after its best round
    on_round : told the round and the judge's value (None without one)
    step : grows each tree its own way instead of one Newton step along the gradient
    """
    step = step or newton_step(gradient)
    held_out = [] if valid is None else [valid]
    params = {"base_score": 0.0, "tree_method": "hist", **params}
    booster = xgb.Booster(params, cache=[matrix, *held_out], model_file=start)
    first = booster.num_boosted_rounds()
    best, best_round = -np.inf, first + rounds - 1
    for round_ in range(first, first + rounds):
        # The training cache holds the margins, so this costs one copy and no walk through the trees.
        margin = _margins_of(booster, matrix)
        step(booster, matrix, round_, margin)
        value = None if judge is None else judge(_margins_of(booster, matrix if valid is None else valid))
        if on_round is not None:
            on_round(round_, value)
        if value is None or patience is None:
            continue
        if value > best:
            best, best_round = value, round_
        elif round_ - best_round >= patience:
            break
    return booster[: best_round + 1] if booster.num_boosted_rounds() > best_round + 1 else booster


def _margins_of(booster: xgb.Booster, matrix: xgb.DMatrix) -> NDArray[np.float32]:
    return booster.predict(matrix, output_margin=True, training=True)


def margins(booster: xgb.Booster, X: Any, first: int = 0, last: int = 0) -> NDArray[np.float32]:
    """Margins of rows, of the rounds from ``first`` to before ``last`` (0: to the end)."""
    if issparse(X):
        X = csr_matrix(X)  # the older of SciPy's two classes is the one that XGBoost knows; nothing is copied
    return booster.inplace_predict(X, predict_type="margin", iteration_range=(first, last))


def newton_step(gradient: Gradient) -> Step:
    """Each tree takes one Newton step along the gradient, shortened by the learning rate."""

    def step(booster: xgb.Booster, matrix: xgb.DMatrix, round_: int, margin: NDArray[np.float32]) -> None:
        grad, hess = gradient(margin)
        booster.boost(matrix, round_, grad=grad, hess=hess)

    return step


class BoostedRanker(Ranker):
    """A ranker whose learned state is an XGBoost model, ``booster_``."""

    booster_: xgb.Booster
    n_jobs: int | None
    _takes_missing = True
    _takes_sparse = True

    def _score(self, X: Any) -> NDArray:
        return margins(self.booster_, X)

    def contributions(self, X: Any) -> NDArray[np.float64]:
        """How much each column moves each row's score (SHAP values); the last column is the base.

        Rows sum to ``decision_function(X)``.
        """
        check_is_fitted(self)
        X = self._check_features(X, reset=False)
        matrix = xgb.DMatrix(
            X,
            feature_types=self.booster_.feature_types,
            enable_categorical=True,
            nthread=check_jobs(self.n_jobs),
        )
        return np.asarray(self.booster_.predict(matrix, pred_contribs=True), dtype=np.float64)

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
