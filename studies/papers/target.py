"""Fan and Zhu, Detection of rare items with TARGET: Table 1, the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from shortlist.metrics import average_precision, roc_auc
from shortlist.rankers import Baseline, Ranker, TargetTree
from studies.paper_sets import load_paper_set
from studies.running import study_parser, tell

Results = dict[str, dict[str, dict[str, float]]]
ONE_HOT = "CART, a column per category"
CODED = "CART, categories as codes"
SETS = "CART, sets of categories"
SIZES = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 16, 24, 32]}
Split = tuple[Any, NDArray, Any, NDArray]  # features and labels to learn from, and to be measured on

#: AP of Table 1: TARGET, the better of CART-A and CART-B, the better of RF-A and RF-B; leaves of TARGET.
PAPER = {
    "Simulation 1": (0.304, 0.273, 0.298, 5),
    "Simulation 2": (0.486, 0.441, 0.545, 10),
    "Breast cancer": (0.958, 0.923, 0.985, 5),
    "Fraud 1994": (0.139, 0.109, 0.127, 12),
    "Fraud 1995": (0.091, 0.075, 0.081, 15),
}

_MEANS = ((0.9, 0.5, 0.9, 0.5), (0.1, 0.1, 0.3, 0.7), (0.4, 0.0, 0.0, 0.2))
_COMMON = ((1.0, 0.2, 0.0, -0.5), (0.2, 1.0, 0.6, -0.2), (0.0, 0.6, 1.0, 0.0), (-0.5, -0.2, 0.0, 1.0))
_THIRD = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, -0.5, 0.2), (0.0, -0.5, 1.0, 0.0), (0.5, 0.2, 0.0, 1.0))


def simulation_1(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Five uniform features; the probability of a wanted row rises in steps with x1 + x2."""
    X = rng.random((5_000, 5))
    probability = np.array([0.05, 0.10, 0.15, 0.45])[np.minimum((X[:, 0] + X[:, 1]) // 0.5, 3).astype(int)]
    return X, (rng.random(5_000) < probability).astype(int)


def simulation_2(rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Three normal clouds in four dimensions, two of them wanted, and eleven features of noise."""
    clouds = zip(_MEANS, (_COMMON, _COMMON, _THIRD), (4_000, 700, 300), strict=True)
    signal = np.vstack([rng.multivariate_normal(mean, covariance, size) for mean, covariance, size in clouds])
    return np.hstack([signal, rng.random((5_000, 11))]), np.repeat([0, 1], [4_000, 1_000])


def experiments(n_draws: int = 30) -> Iterator[tuple[str, list[Split]]]:
    """The five experiments of Table 1, each with its pairs of training and test rows.

    The paper draws each simulation five times. AP of the true probabilities then still has a standard error of .006
    to .01, more than most differences between methods.
    """
    for name, simulate in (("Simulation 1", simulation_1), ("Simulation 2", simulation_2)):
        yield name, [_halves(simulate, seed) for seed in range(n_draws)]
    cancer = load_paper_set("wisconsin")
    complete = ~np.isnan(cancer.X.to_numpy().astype(float)).any(axis=1)
    X, y = cancer.X.to_numpy().astype(float)[complete], cancer.y[complete]
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=-(-n_draws // 5), random_state=0).split(X, y)
    yield "Breast cancer", [(X[train], y[train], X[test], y[test]) for train, test in folds]
    claims = load_paper_set("carclaims").frame
    assert claims is not None
    yield "Fraud 1994", [_by_year(claims, [1994], [1995, 1996])]
    yield "Fraud 1995", [_by_year(claims, [1995], [1996])]


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
    if not isinstance(X, pl.DataFrame):
        return found | {"CART": cart(seed)}
    categorical = [place for place, dtype in enumerate(X.dtypes) if dtype == pl.String]
    return found | {ONE_HOT: cart(seed), CODED: cart(seed), SETS: cart_of_sets(seed, categorical)}


def run(quick: bool = False, n_draws: int = 30, only: list[str] | None = None) -> Results:
    """Mean test AP, AUC and leaves of every ranker in every experiment, over splits and seeds."""
    results = {}
    for name, splits in experiments(n_draws):
        if only and name not in only:
            continue
        results[name] = {
            label: _mean(
                [
                    _measure(label, split, seed, quick)
                    for split in splits
                    for seed in _seeds(label, len(splits))
                ]
            )
            for label in rankers(splits[0][0], 0, quick)
        }
    return results


def _seeds(label: str, n_splits: int) -> range:
    """Ten where one split is all there is: a single tree changes much with its seed, CART with its folds."""
    repeated = n_splits == 1 and (
        label.startswith("CART") or label in ("TargetTree", "TargetTree, alpha='cv'")
    )
    return range(10) if repeated else range(1)


def _measure(label: str, split: Split, seed: int, quick: bool) -> dict[str, float]:
    X, y, X_test, y_test = split
    ranker = rankers(X, seed, quick)[label]
    if label in (CODED, SETS):
        X_test, X = _coded(X, X_test), _coded(X, X)
    score = ranker.fit(X, y).decision_function(X_test)
    leaves = ranker.views[0].tree.leaves.size if isinstance(ranker, TargetTree) else np.nan
    return {"ap": average_precision(y_test, score), "auc": roc_auc(y_test, score), "leaves": float(leaves)}


def _coded(learned: pl.DataFrame, X: pl.DataFrame) -> NDArray:
    """Categories numbered by their names, as a tree sees them that knows numbers only; others are -1."""
    texts = [name for name, dtype in learned.schema.items() if dtype == pl.String]
    codes = {name: {text: code for code, text in enumerate(learned[name].unique().sort())} for name in texts}
    return X.with_columns(
        pl.col(name).replace_strict(codes[name], default=-1, return_dtype=pl.Int32) for name in texts
    ).to_numpy()


def _mean(runs: list[dict[str, float]]) -> dict[str, float]:
    """Means over the runs, and the standard error of the mean AP."""
    error = np.std([run["ap"] for run in runs], ddof=1) / len(runs) ** 0.5 if len(runs) > 1 else np.nan
    return {key: float(np.mean([run[key] for run in runs])) for key in runs[0]} | {"ap_error": float(error)}


def _print(results: Results) -> None:
    for name, found in results.items():
        target, tree, forest, leaves = PAPER[name]
        print(
            f"\n{name}: the paper has TARGET {target:.3f} ({leaves} leaves), CART {tree:.3f}, "
            f"random forest {forest:.3f}"
        )
        for label, mean in found.items():
            size = "" if np.isnan(mean["leaves"]) else f"  {mean['leaves']:.1f} leaves"
            print(f"  {label:28s} AP {mean['ap']:.3f} +- {mean['ap_error']:.3f}  AUC {mean['auc']:.3f}{size}")


def main(arguments: Sequence[str]) -> None:
    """Print Table 1."""
    parser = study_parser(__name__, __doc__, "TargetTree and CART only, three draws, without the claims")
    parser.add_argument("--draws", type=int, default=30, help="of each simulation")
    parser.add_argument("--only", nargs="*", choices=list(PAPER), help="experiments to run")
    options = parser.parse_args(arguments)
    if options.quick:
        options.draws, options.only = min(options.draws, 3), options.only or [*PAPER][:3]
    results = run(options.quick, options.draws, options.only)
    tell({"paper": PAPER, "ours": results}, options.json, lambda found: _print(found["ours"]))
