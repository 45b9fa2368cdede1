"""Rivals of APBoost, each tuned by the average precision of 3-fold cross-validation and refitted on all rows.

A method is a function (X, y, categorical, seed) -> scorer, a function of new rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from imblearn.ensemble import BalancedRandomForestClassifier
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from shortlist.lists import Lists
from shortlist.metrics import average_precision
from shortlist.rankers import APBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.trees.bins import feature_types
from shortlist.rankers.folds import deal_folds
from shortlist.rankers.preparation import complete_numbers

Scorer = Callable[[Any], np.ndarray]
ROUNDS, RATE = 150, 0.1
DEPTHS = ({"max_depth": 3}, {"max_depth": 6})
#: XGBoost as it comes, and with the small leaves and the sampling that APBoost's recipe uses.
MANNERS: tuple[dict[str, float], ...] = (
    {},
    {"min_child_weight": 0.1, "subsample": 0.7, "colsample_bynode": 0.5},
)


def fitted(X, y, categorical, seed, **settings: Any) -> APBoost:
    """Our ranker with these settings. Rows are encoded already, so they go in behind the checks of arrays."""
    ranker = APBoost(random_state=seed, n_jobs=1, **settings)
    ranker._fit(Batch(X, y, Lists.single(y.size), None, categorical))
    return ranker


def ap_boost(**settings: Any) -> Callable[..., Scorer]:
    return lambda *data: fitted(*data, **settings)._score


def tuned(candidates: Iterable[Any], fit_stages: Callable, refit: Callable) -> Callable[..., Scorer]:
    """Choose the candidate and its number of rounds by the AP of pooled out-of-fold scores, as APBoost does."""

    def fit(X, y, categorical, seed):
        fold = deal_folds(y, Lists.single(y.size), min(3, int(y.sum())), seed)
        best = (-1.0, None, 0)
        for candidate in candidates:
            pooled = np.concatenate(
                [_stages(fit_stages, candidate, X, y, fold == k, categorical, seed) for k in np.unique(fold)],
                axis=1,
            )
            rows = np.concatenate([np.flatnonzero(fold == k) for k in np.unique(fold)])
            values = [average_precision(y[rows], stage) for stage in pooled]
            if max(values) > best[0]:
                best = (max(values), candidate, int(np.argmax(values)))
        return refit(best[1], best[2], X, y, categorical, seed)

    return fit


def _stages(fit_stages: Callable, candidate: Any, X, y, out, categorical, seed) -> np.ndarray:
    """Scores of the rows left out after each stage, stages x rows."""
    return np.asarray(fit_stages(candidate, X[~out], y[~out], X[out], categorical, seed))


def xgboost(objective: str, rounds: int = ROUNDS) -> Callable[..., Scorer]:
    """XGBoost with one of its own objectives."""

    def params(candidate, seed):
        return {"objective": objective, "learning_rate": RATE, "seed": seed, "nthread": 1, **candidate}

    def matrix(X, categorical, y=None):
        m = xgb.DMatrix(X, y, feature_types=feature_types(categorical), enable_categorical=True, nthread=1)
        if objective.startswith("rank") and y is not None:
            m.set_group([y.size])
        return m

    def stages(candidate, X, y, X_valid, categorical, seed):
        booster = xgb.train(params(candidate, seed), matrix(X, categorical, y), rounds)
        valid = matrix(X_valid, categorical)
        parts = [
            booster.predict(valid, output_margin=True, iteration_range=(k, k + 10))
            for k in range(0, rounds, 10)
        ]
        base = booster.predict(valid, output_margin=True, iteration_range=(0, rounds)) - np.sum(parts, axis=0)
        return np.cumsum(parts, axis=0) + base / len(parts)

    def refit(candidate, stage, X, y, categorical, seed):
        booster = xgb.train(params(candidate, seed), matrix(X, categorical, y), 10 * (stage + 1))
        return lambda new: booster.predict(matrix(new, categorical), output_margin=True)

    manners = MANNERS[1:] if objective.startswith("rank") else MANNERS
    candidates = [{**depth, **manner} for depth in DEPTHS for manner in manners]
    return tuned(candidates, stages, refit)


def lightgbm(
    leaves: Sequence[int] = (7, 31), leaf_rows: Sequence[int] = (5, 20), rounds: int = ROUNDS
) -> Callable[..., Scorer]:
    """LightGBM, its leaves, their size and its rounds chosen."""

    def train(candidate, n_rounds, X, y, categorical, seed):
        params = {
            "objective": "binary",
            "learning_rate": RATE,
            "seed": seed,
            "num_threads": 1,
            "verbose": -1,
            **candidate,
        }
        data = lgb.Dataset(X, y, categorical_feature=[int(c) for c in np.flatnonzero(categorical)] or "auto")
        return lgb.train(params, data, n_rounds)

    def stages(candidate, X, y, X_valid, categorical, seed):
        booster = train(candidate, rounds, X, y, categorical, seed)
        parts = [
            booster.predict(X_valid, raw_score=True, start_iteration=k, num_iteration=10)
            for k in range(0, rounds, 10)
        ]
        return np.cumsum(parts, axis=0)

    def refit(candidate, stage, X, y, categorical, seed):
        booster = train(candidate, 10 * (stage + 1), X, y, categorical, seed)
        return lambda new: booster.predict(new, raw_score=True)

    candidates = [{"num_leaves": most, "min_data_in_leaf": rows} for most in leaves for rows in leaf_rows]
    return tuned(candidates, stages, refit)


def catboost(rounds: int = ROUNDS) -> Callable[..., Scorer]:
    """CatBoost with its own defaults but for the depth and the rounds; categories as codes."""

    def train(candidate, n_rounds, X, y, seed):
        settings = {"random_seed": seed, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
        model = import_module("catboost").CatBoostClassifier
        return model(learning_rate=RATE, iterations=n_rounds, **candidate, **settings).fit(X, y.astype(int))

    def stages(candidate, X, y, X_valid, categorical, seed):
        model = train(candidate, rounds, X, y, seed)
        return list(model.staged_predict(X_valid, prediction_type="RawFormulaVal", eval_period=10))

    def refit(candidate, stage, X, y, categorical, seed):
        model = train(candidate, min(rounds, 10 * (stage + 1)), X, y, seed)
        return lambda new: model.predict(new, prediction_type="RawFormulaVal")

    return tuned([{"depth": depth} for depth in (4, 6)], stages, refit)


def _sklearn(models: list[Any], prepare: bool = True) -> Callable[..., Scorer]:
    def make(model, X, categorical, seed):
        model = clone(model)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        if isinstance(model, HistGradientBoostingClassifier):
            model.set_params(categorical_features=categorical if categorical.any() else None)
        if not prepare:
            return model
        return make_pipeline(MaxAbsScaler() if issparse(X) else complete_numbers(categorical), model)

    def scores(model, X):
        if hasattr(model, "decision_function"):
            return model.decision_function(X)
        return model.predict_proba(X)[:, 1]

    def stages(candidate, X, y, X_valid, categorical, seed):
        model = make(candidate, X, categorical, seed).fit(X, y)
        if not isinstance(candidate, HistGradientBoostingClassifier):
            return [scores(model, X_valid)]
        return [s for k, s in enumerate(model.staged_decision_function(X_valid), 1) if k % 10 == 0]

    def refit(candidate, stage, X, y, categorical, seed):
        model = make(candidate, X, categorical, seed)
        if isinstance(candidate, HistGradientBoostingClassifier):
            model.set_params(max_iter=10 * (stage + 1))
        model.fit(X, y)
        return lambda new: scores(model, new)

    return tuned(models, stages, refit)


def _dense(method: Callable[..., Scorer]) -> Callable[..., Scorer]:
    def fit(X, y, categorical, seed):
        scorer = method(X.toarray() if issparse(X) else X, y, categorical, seed)
        return lambda new: scorer(new.toarray() if issparse(new) else new)

    return fit


def _quiet(method: Callable[..., Scorer]) -> Callable[..., Scorer]:
    def fit(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return method(*arguments)

    return fit


#: Other forms of APBoost, which are no rivals of it.
FORMS = (
    *("without extra trees", "one model", "any categories together", "APBoost as it was"),
    *("depth 6 alone", "with extra trees", "without depth 10"),
)
METHODS: dict[str, Callable[..., Scorer]] = {
    "APBoost": ap_boost(),
    "without extra trees": ap_boost(committee=False),
    "one model": ap_boost(folds=0),
    "any categories together": ap_boost(max_cat_threshold=64),
    "APBoost as it was": ap_boost(  # in the first release
        committee=False, n_estimators=150, max_cat_threshold=64
    ),
    "logistic, same recipe": ap_boost(loss="logistic"),
    "XGBoost logistic": xgboost("binary:logistic"),
    "LightGBM": lightgbm(),
    "HistGradientBoosting": _dense(
        _sklearn(
            [
                HistGradientBoostingClassifier(
                    learning_rate=RATE, max_iter=ROUNDS, early_stopping=False, min_samples_leaf=rows, **depth
                )
                for rows, depth in ((5, DEPTHS[0]), (20, DEPTHS[1]))
            ],
            prepare=False,
        )
    ),
    **({"CatBoost": catboost()} if find_spec("catboost") else {}),  # it is in the extra "studies"
    "ExtraTrees": _sklearn([ExtraTreesClassifier(500, min_samples_leaf=leaf, n_jobs=1) for leaf in (1, 3)]),
    "random forest": _sklearn(
        [RandomForestClassifier(500, min_samples_leaf=leaf, n_jobs=1) for leaf in (1, 3)]
    ),
    "rank:map": xgboost("rank:map"),
    "balanced random forest": _sklearn(
        [BalancedRandomForestClassifier(n_estimators=100, min_samples_leaf=leaf, n_jobs=1) for leaf in (1, 3)]
    ),
    "logistic regression": _quiet(
        _sklearn([LogisticRegression(C=strength, max_iter=300) for strength in (0.01, 0.1, 1.0, 10.0)])
    ),
}
