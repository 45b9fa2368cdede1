"""Defaults of TargetTree, checked on imbalanced sets that the paper did not use.

Each set is split in halves several times; every setting learns from one half and is measured on the other by
average precision. Settings are chosen on the sets of the first group and confirmed on those of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
import polars.selectors as cs
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from shortlist.datasets import make_claims
from shortlist.metrics import average_precision
from shortlist.rankers import Ranker, TargetTree
from studies.measure import cpu_seconds
from studies.paper_sets import load_paper_set
from studies.papers.target_runs import cart, random_forest
from studies.running import study_parser, tell

CHOOSE = [
    "abalone", "breast_ljubljana", "clus_letters", "clus_segment", "clus_svmguide", "clus_vowels", "ecoli",
    "heart_cleveland", "lympho", "musk", "shuttle", "vertebral", "wine", "claims_1", "car_insurance_cost",
    "claims_3", "nominal abalone", "nominal clus_vowels", "nominal shuttle", "nominal clus_segment",
    "top power_outages", "w8a_train", "top communities_crime",
]  # fmt: skip
CONFIRM = [
    "ann_thyroid", "cardiotocography", "clus_optdigits", "clus_statlog", "clus_vehicle", "covtype54_sub", "glass",
    "hiv_schilling", "mammography", "pima", "thyroid", "wbc", "yeast", "claims_2", "creditcard_part",
    "claims_4", "nominal mammography", "nominal yeast", "nominal thyroid", "nominal creditcard_part",
    "top forest_fires", "cover", "cod_rna",
]  # fmt: skip
MOST_ROWS = 12_000
UNKNOWN = ("start_date", "hurricane_names")


def load(name: str) -> tuple[pl.DataFrame, np.ndarray]:
    if name.startswith("claims"):
        claims = make_claims(6_000, random_state=int(name[-1]))
        return claims.drop("claim_id", "fraud"), claims["fraud"].to_numpy()
    kind, _, source = name.rpartition(" ")
    found = load_paper_set(source)
    # Of impacts the highest tenth is wanted; what is known only afterwards, dates and names are left out.
    y = (found.y > (np.quantile(found.y, 0.9) if kind == "top" else 0)).astype(int)
    rows = np.random.default_rng(0).permutation(y.size)[:MOST_ROWS] if kind != "top" else np.arange(y.size)
    X = found.X[rows] if found.frame is not None else pl.DataFrame(found.X[rows].toarray())
    if kind == "top":
        X = X.select(~(cs.starts_with("post_") | cs.by_name(*UNKNOWN, require_all=False)))
    return nominal(X) if kind == "nominal" else X, y[rows]


def nominal(X: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    """Numbers as at most twelve categories whose names say nothing of their order."""
    rng = np.random.default_rng(seed)
    columns = {}
    for column in X:
        values = column.to_numpy().astype(float)
        distinct = np.unique(values)
        if distinct.size > 12:
            distinct = np.unique(np.nanquantile(values, np.arange(1, 12) / 12))
        code = np.searchsorted(distinct, values)
        names = rng.permutation(code.max() + 1)
        columns[column.name] = [f"c{number}" for number in names[code]]
    return pl.DataFrame(columns)


def settings(n_wanted: int, share: float) -> dict[str, TargetTree]:
    """Prices of a leaf in terms of pi and of the number of wanted rows; and other parameters at the default price."""
    base = TargetTree(n_jobs=1, random_state=0)
    prices = {f"{c:g} / sqrt(wanted)": c / n_wanted**0.5 for c in (0.05, 0.075, 0.1, 0.15)}
    prices |= {f"{c:g} pi": c * share for c in (0.01, 0.03, 0.1, 0.2)}
    prices |= {f"{c:g} / wanted": c / n_wanted for c in (0.25, 0.5, 1)}
    prices |= {f"{c:g} pi + 0.5 / wanted": c * share + 0.5 / n_wanted for c in (0.03, 0.1)}
    found = {f"alpha = {name}": clone(base).set_params(alpha=price) for name, price in prices.items()}
    others = [
        ("max_bins", 256),
        ("generations", 300),
        ("n_restarts", 1),
        ("n_restarts", 10),
        ("min_leaf", 10),
    ]
    found |= {f"{name} = {value}": clone(base).set_params(**{name: value}) for name, value in others}
    # Scorecards, beside one tree of as many leaves: so low a price that it takes them.
    found |= {f"scorecard = {n}": clone(base).set_params(scorecard=n) for n in (3, 4)}
    cheap = {"alpha": 0.01 / n_wanted**0.5}
    found |= {f"one tree of {n} leaves": clone(base).set_params(max_leaves=n, **cheap) for n in (12, 16)}
    return found | {
        "grown = 0": clone(base).set_params(grown=0),
        "alpha = 'cv'": clone(base).set_params(alpha="cv"),
    }


def peers() -> dict[str, Ranker]:
    return {"CART": cart(0), "random forest": random_forest(0)}


def measure(name: str, n_splits: int, chosen: list[str] | None, seed: int = 0) -> dict[str, dict[str, float]]:
    X, y = load(name)
    results: dict[str, list[tuple[float, float, float]]] = {}
    for train, test in StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=seed).split(X, y):
        candidates: dict[str, Ranker] = settings(int(y[train].sum()), float(y[train].mean())) | peers()
        for label, ranker in candidates.items():
            if chosen and label not in chosen:
                continue
            seconds = cpu_seconds(partial(ranker.fit, X[train], y[train]))
            ap = average_precision(y[test], ranker.decision_function(X[test]))
            views = ranker.views if isinstance(ranker, TargetTree) else []
            leaves = sum(view.tree.leaves.size for view in views) if views else np.nan
            results.setdefault(label, []).append((ap, leaves, seconds))
    return {
        label: dict(zip(("ap", "leaves", "seconds"), np.mean(runs, axis=0).tolist(), strict=True))
        for label, runs in results.items()
    }


def summary(
    found: dict[str, dict[str, dict[str, float]]], group: list[str]
) -> list[tuple[str, float, float, float]]:
    """Mean AP, mean rank among the settings and mean leaves over the sets of a group."""
    names = [name for name in group if name in found]
    labels = list(found[names[0]])
    ap = np.array([[found[name][label]["ap"] for label in labels] for name in names])
    rank = (ap[:, None, :] > ap[:, :, None] + 1e-12).sum(axis=2) + 1
    leaves = np.array([[found[name][label]["leaves"] for label in labels] for name in names])
    rows = zip(labels, ap.mean(axis=0), rank.mean(axis=0), leaves.mean(axis=0), strict=True)
    return sorted(
        ((label, float(a), float(r), float(size)) for label, a, r, size in rows), key=lambda row: -row[1]
    )


def main(arguments: Sequence[str]) -> None:
    """Measure every setting on every set."""
    parser = study_parser(__name__, __doc__, "three small sets, one split")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="of the splits")
    parser.add_argument("--only", nargs="*", help="settings to run")
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--jobs", type=int, default=1, help="sets measured at a time")
    options = parser.parse_args(arguments)
    sets = options.sets or (["ecoli", "heart_cleveland", "glass"] if options.quick else CHOOSE + CONFIRM)
    n_splits = 1 if options.quick else options.splits
    measured = Parallel(options.jobs, batch_size=1)(
        delayed(measure)(name, n_splits, options.only, options.seed) for name in sets
    )
    tell(dict(zip(sets, measured, strict=True)), options.json, show)


def show(found: dict[str, dict[str, dict[str, float]]]) -> None:
    for title, group in (("chosen on", CHOOSE), ("confirmed on", CONFIRM)):
        names = [name for name in group if name in found]
        if not names:
            continue
        print(f"\n{title}: {', '.join(names)}\n{'setting':36s}{'AP':>8s}{'rank':>8s}{'leaves':>8s}")
        for label, ap, rank, leaves in summary(found, group):
            print(f"{label:36s}{ap:8.3f}{rank:8.1f}{leaves:8.1f}")
