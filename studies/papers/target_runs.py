"""What the TARGET paper runs: one ranker in one of its five experiments."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from shortlist.metrics import average_precision, roc_auc
from shortlist.rankers import Baseline, Ranker, TargetTree
from studies.paper_sets import load_paper_set

ONE_HOT = "CART, a column per category"
CODED = "CART, categories as codes"
SETS = "CART, sets of categories"
CARD = "TargetTree, scorecard of 4"
CARD_ONE_HOT = "TargetTree, scorecard of 4, a column per category"
SIZES = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32]}
Split = tuple[Any, NDArray, Any, NDArray]  # features and labels to learn from, and to be measured on

_MEANS = ((0.9, 0.5, 0.9, 0.5), (0.1, 0.1, 0.3, 0.7), (0.4, 0.0, 0.0, 0.2))
_COMMON = ((1.0, 0.2, 0.0, -0.5), (0.2, 1.0, 0.6, -0.2), (0.0, 0.6, 1.0, 0.0), (-0.5, -0.2, 0.0, 1.0))
_THIRD = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, -0.5, 0.2), (0.0, -0.5, 1.0, 0.0), (0.5, 0.2, 0.0, 1.0))


def simulation_1(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Five uniform features; the probability of a wanted row rises in steps with x1 + x2."""
    X = rng.random((5_000, 5))
    return X, (rng.random(5_000) < chance_1(X[:, 0], X[:, 1])).astype(int)


def chance_1(x1: NDArray, x2: NDArray) -> NDArray:
    """The probability of a wanted row in Simulation 1, which is the paper's Figure 2."""
    return np.array([0.05, 0.10, 0.15, 0.45])[np.minimum((x1 + x2) // 0.5, 3).astype(int)]


def simulation_2(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Three normal clouds in four dimensions, two of them wanted, and eleven features of noise."""
    clouds = zip(_MEANS, (_COMMON, _COMMON, _THIRD), (4_000, 700, 300), strict=True)
    signal = np.vstack([rng.multivariate_normal(mean, covariance, size) for mean, covariance, size in clouds])
    return np.hstack([signal, rng.random((5_000, 11))]), np.repeat([0, 1], [4_000, 1_000])


def splits(experiment: str, draw: int) -> Split:
    """Rows to learn from and to be measured on: a draw of a simulation, a fold of breast cancer, the years of fraud.

    The paper draws each simulation five times. AP of the true probabilities then still has a standard error of .006
    to .01, more than most differences between methods.
    """
    simulations = {"Simulation 1": simulation_1, "Simulation 2": simulation_2}
    if experiment in simulations:
        return _halves(simulations[experiment], draw)
    if experiment == "Breast cancer":
        return _fold(draw)
    claims = load_paper_set("carclaims").frame
    assert claims is not None
    return (
        _by_year(claims, [1994], [1995, 1996])
        if experiment == "Fraud 1994"
        else _by_year(claims, [1995], [1996])
    )


def _fold(draw: int) -> Split:
    """One of the folds of breast cancer, its rows with gaps left out; five deal all rows once."""
    cancer = load_paper_set("wisconsin")
    complete = ~np.isnan(cancer.X.to_numpy().astype(float)).any(axis=1)
    X, y = cancer.X.to_numpy().astype(float)[complete], cancer.y[complete]
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1 + draw // 5, random_state=0).split(X, y)
    train, test = list(folds)[draw]
    return X[train], y[train], X[test], y[test]


def _halves(simulate: Any, seed: int) -> Split:
    rng = np.random.default_rng(seed)
    X, y = simulate(rng)
    order = rng.permutation(y.size)
    train, test = order[:2_500], order[2_500:]
    return X[train], y[train], X[test], y[test]


def _by_year(claims: pl.DataFrame, train: list[int], test: list[int]) -> Split:
    parts = [claims.filter(pl.col("Year").is_in(years)) for years in (train, test)]
    old, new = (part.drop("y", "Year", "PolicyNumber") for part in parts)
    return old, parts[0]["y"].to_numpy(), new, parts[1]["y"].to_numpy()


def _ap(model: BaseEstimator, X: Any, y: NDArray) -> float:
    return average_precision(y, model.predict_proba(X)[:, 1])


def cart(seed: int) -> Ranker:
    """CART with the size that cross-validated average precision picks; by error rate it shrinks to its root."""
    return Baseline(estimator=_sized(DecisionTreeClassifier(min_samples_leaf=5, random_state=seed), seed))


def cart_of_sets(seed: int, categorical: list[int]) -> GridSearchCV:
    """The same with splits by sets of categories, as the paper's CART has them.

    One step of boosting from a constant, at full length, is a tree of least squared error: for labels, of least Gini
    index. Categories are codes; categories that training did not have count as missing.
    """
    tree = HistGradientBoostingClassifier(
        max_iter=1,
        learning_rate=1.0,
        min_samples_leaf=5,
        early_stopping=False,
        categorical_features=categorical,
        random_state=seed,
    )
    return _sized(tree, seed)


def _sized(tree: BaseEstimator, seed: int) -> GridSearchCV:
    return GridSearchCV(tree, SIZES, scoring=_ap, cv=StratifiedKFold(5, shuffle=True, random_state=seed))


def random_forest(seed: int) -> Ranker:
    """A random forest of 500 trees, as in the paper."""
    return Baseline(estimator=RandomForestClassifier(500, random_state=seed))


def rankers(X: Any, seed: int, quick: bool) -> dict[str, Ranker | GridSearchCV]:
    """Who competes: TARGET as it comes, with alpha by cross-validation, bagged; a random forest; kinds of CART."""
    found: dict[str, Ranker | GridSearchCV] = {"TargetTree": TargetTree(random_state=seed)}
    if not quick:
        found["TargetTree, alpha='cv'"] = TargetTree(alpha="cv", random_state=seed)
        found["TargetTree, 30 bagged"] = TargetTree(n_estimators=30, n_restarts=1, random_state=seed)
        found["random forest"] = random_forest(seed)
        found[CARD] = TargetTree(scorecard=4, random_state=seed)
    if not isinstance(X, pl.DataFrame):
        return found | {"CART": cart(seed)}
    categorical = [place for place, dtype in enumerate(X.dtypes) if dtype == pl.String]
    if not quick:
        found[CARD_ONE_HOT] = TargetTree(scorecard=4, random_state=seed)
    return found | {ONE_HOT: cart(seed), CODED: cart(seed), SETS: cart_of_sets(seed, categorical)}


def papers_rankers(seed: int) -> dict[str, Any]:
    """Those of Table 1: TARGET as the paper ran it and as it comes here; A has equal costs, B unequal ones."""
    leaf = {"min_samples_leaf": 5, "random_state": seed}
    balanced = DecisionTreeClassifier(class_weight="balanced", **leaf)
    forest = RandomForestClassifier(500, class_weight="balanced", random_state=seed)
    one: dict[str, Any] = {"n_jobs": 1, "random_state": seed}  # cells are run side by side, not threads
    return {
        "TARGET, the paper's settings": TargetTree(
            generations=500, n_restarts=1, grown=0.0, p_nudge=0.0, alpha="cv", **one
        ),
        "TARGET, ours": TargetTree(**one),
        "CART-A": cart(seed),
        "CART-B": Baseline(estimator=_sized(balanced, seed)),
        "RF-A": random_forest(seed),
        "RF-B": Baseline(estimator=forest),
    }


def table_1(experiment: str, ranker: str, draw: int, seed: int, data: str | None = None) -> dict[str, float]:
    """The seven columns of Table 1; a row is called wanted if its chance is a half or more."""
    return _columns(ranker, splits(experiment, draw), seed)


def thinned(experiment: str, ranker: str, draw: int, share: float) -> dict[str, float]:
    """The same where wanted rows were taken away at random, before and after, until they are such a share."""
    X, y, X_test, y_test = splits(experiment, draw)
    rng = np.random.default_rng(draw)
    kept, kept_test = (_thin(labels, share, rng) for labels in (y, y_test))
    return _columns(ranker, (X[kept], y[kept], X_test[kept_test], y_test[kept_test]), draw)


def _thin(y: NDArray, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    wanted, others = np.flatnonzero(y), np.flatnonzero(y == 0)
    left = min(wanted.size, round(share / (1 - share) * others.size))
    return np.sort(np.concatenate([rng.permutation(wanted)[:left], others]))


def _columns(ranker: str, split: Split, seed: int) -> dict[str, float]:
    X, y, X_test, y_test = split
    model = papers_rankers(seed)[ranker].fit(X, y)
    score, called = model.decision_function(X_test), model.predict(X_test).astype(bool)
    wanted = y_test.astype(bool)
    found = {
        "AP": average_precision(y_test, score),
        "AUC": roc_auc(y_test, score),
        "MCC": float(matthews_corrcoef(wanted, called)),
        "specificity": float(np.mean(~called[~wanted])),
        "sensitivity": float(np.mean(called[wanted])),
        "error": float(np.mean(called != wanted)),
    }
    return found | _size(model)


def _size(model: Any) -> dict[str, float]:
    """Leaves, of what is one tree."""
    if isinstance(model, TargetTree):
        return {"leaves": float(model.views[0].tree.leaves.size)}
    tree = getattr(model.model_[-1], "best_estimator_", None)
    return {} if tree is None else {"leaves": float(tree.get_n_leaves())}


def measured(experiment: str, label: str, draw: int, seed: int, data: str | None = None) -> dict[str, float]:
    """AP, AUC and leaves of one of our own comparison, see ``rankers``."""
    return _measure(label, splits(experiment, draw), seed, quick=False)


def _measure(label: str, split: Split, seed: int, quick: bool) -> dict[str, float]:
    X, y, X_test, y_test = split
    ranker = rankers(X, seed, quick)[label]
    if label in (CODED, SETS):
        X_test, X = _coded(X, X_test), _coded(X, X)
    if label == CARD_ONE_HOT:
        X_test, X = _one_hot(X, X_test), _one_hot(X, X)
    score = ranker.fit(X, y).decision_function(X_test)
    views = ranker.views[: ranker.scorecard or 1] if isinstance(ranker, TargetTree) else []
    leaves = sum(view.tree.leaves.size for view in views) if views else np.nan
    return {"ap": average_precision(y_test, score), "auc": roc_auc(y_test, score), "leaves": float(leaves)}


def _coded(learned: pl.DataFrame, X: pl.DataFrame) -> NDArray:
    """Categories numbered by their names, as a tree sees them that knows numbers only; others are -1."""
    texts = [name for name, dtype in learned.schema.items() if dtype == pl.String]
    codes = {name: {text: code for code, text in enumerate(learned[name].unique().sort())} for name in texts}
    return X.with_columns(
        pl.col(name).replace_strict(codes[name], default=-1, return_dtype=pl.Int32) for name in texts
    ).to_numpy()


def _one_hot(learned: pl.DataFrame, X: pl.DataFrame) -> pl.DataFrame:
    """A flag for each category that training had, in place of the column."""
    texts = [name for name, dtype in learned.schema.items() if dtype == pl.String]
    flags = [
        (pl.col(name) == text).alias(f"{name} {text}")
        for name in texts
        for text in learned[name].unique().sort()
    ]
    return X.select(pl.exclude(texts), *flags)
