"""A trained model goes on learning on the job: what that finds when the wanted class changes, and when it does not.

Half of a set trains a boosted model; the other half is reviewed in its order, one verdict at a time, as often as it has
wanted rows (100 times at most). With drift, sets with several classes are used: the model learns one rare class, and
another one is wanted on the job; the first is then not wanted. Without drift the same class is wanted throughout.

- *static*: the model's order, which never changes
- *similarity*, *ojrank*: LeafSimilarity and OJRank on the leaves of the model
- *retrained*: the same kind of model, fitted anew to the training rows and all verdicts after every ten of them

The figure is wanted rows per 100 reviews; gains are paired with the static order. Nothing was chosen on these sets; all
the same, every second one by name is told apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from shortlist.feedback import LeafSimilarity, OJRank, ScoreSpace, simulate
from shortlist.rankers import APBoost
from studies.paper_sets import load_paper_set
from studies.running import append_runs, in_pieces, read_runs, runs_file, study_parser, tell

#: Sets with classes, and the column that holds them.
CLASSES = {
    **{f"clus_{name}": "cluster" for name in ("letters", "optdigits", "segment", "statlog", "svmguide")},
    **{f"clus_{name}": "cluster" for name in ("vehicle", "vowels")},
    **dict.fromkeys(("abalone", "covtype54_10k", "shuttle", "yeast"), "orig_label"),
    "sensorless_part": "cluster",
}
BINARY = (
    "ann_thyroid", "breast_ljubljana", "cardiotocography", "carclaims", "cod_rna", "creditcard_part", "hiv_schilling",
    "mammography", "musk", "pima", "thyroid", "wisconsin",
)  # fmt: skip
WAYS = ("static", "similarity", "ojrank", "retrained")
REVIEWS, FEWEST_OF_CLASS, MOST_ROWS, EVERY = 100, 20, 6_000, 10


class Job(NamedTuple):
    """Rows to train on and rows to review, with what is wanted then and now."""

    X: NDArray[np.float64]
    y: NDArray[np.bool_]
    X_job: NDArray[np.float64]
    y_job: NDArray[np.bool_]


def load(name: str, drift: bool, seed: int) -> Job:
    """Deal the rows of a set; with drift, the two rarest classes of at least 20 rows take turns by the seed."""
    data = load_paper_set(name)
    X = data.X.select(pl.all().exclude(pl.String), pl.col(pl.String).cast(pl.Categorical).to_physical())
    before = after = data.y == 1
    if drift and data.frame is not None:
        classes = data.frame[CLASSES[name]].to_numpy()
        kinds, counts = np.unique(classes, return_counts=True)
        enough = np.flatnonzero(counts >= FEWEST_OF_CLASS)
        rarest = kinds[enough[np.argsort(counts[enough], kind="stable")[:2]]]
        before, after = (classes == rarest[(seed + turn) % 2] for turn in (0, 1))
    order = np.random.default_rng([seed, 11]).permutation(data.y.size)[:MOST_ROWS]
    values = X.to_numpy().astype(np.float64)
    train, job = order[: order.size // 2], order[order.size // 2 :]
    return Job(values[train], before[train], values[job], after[job])


def fit(X: NDArray[np.float64], y: NDArray[np.bool_], seed: int) -> APBoost:
    return APBoost(folds=0, n_estimators=60, early_stopping_rounds=None, n_jobs=1, random_state=seed).fit(
        X, y
    )


def play(job: Job, way: str, seed: int) -> tuple[float, float]:
    """Wanted rows per 100 reviews, and the CPU time of learning and asking."""
    model, budget = fit(job.X, job.y, seed), min(REVIEWS, int(job.y_job.sum()))
    start = time.process_time()
    if way == "static":
        order = np.argsort(-model.decision_function(job.X_job), kind="stable")[:budget]
        hits = float(job.y_job[order].mean())
    elif way == "retrained":
        hits = float(job.y_job[_retrained(job, model, budget, seed)].mean())
    else:
        strategy = LeafSimilarity if way == "similarity" else OJRank
        space = ScoreSpace.from_boosted(job.X_job, model)
        hits = simulate(strategy(space, random_state=seed), job.y_job, budget).precision
    return 100.0 * hits, time.process_time() - start


def _retrained(job: Job, model: APBoost, budget: int, seed: int) -> NDArray[np.int64]:
    """The rows reviewed when a new model is fitted to training rows and verdicts after every ten verdicts."""
    reviewed = np.empty(0, dtype=np.int64)
    while reviewed.size < budget:
        score = model.decision_function(job.X_job)
        score[reviewed] = -np.inf
        next_ones = np.argsort(-score, kind="stable")[: min(EVERY, budget - reviewed.size)]
        reviewed = np.concatenate([reviewed, next_ones])
        X = np.concatenate([job.X, job.X_job[reviewed]])
        model = fit(X, np.concatenate([job.y, job.y_job[reviewed]]), seed)
    return reviewed


def run(results: Path, jobs: list[tuple[str, bool, int]], minutes: float) -> list[dict[str, Any]]:
    """Play what is missing in the file; gives all runs."""
    runs, end = read_runs(results), time.monotonic() + 60 * minutes
    done = {(each["set"], each["drift"], each["seed"]) for each in runs}
    for name, drift, seed in jobs:
        if (name, drift, seed) in done or time.monotonic() > end:
            continue
        job, line = load(name, drift, seed), {"set": name, "drift": drift, "seed": seed}
        played = {way: play(job, way, seed) for way in WAYS}
        line |= {"hits": {way: found for way, (found, _) in played.items()}}
        runs.append(line | {"cpu": {way: spent for way, (_, spent) in played.items()}})
        append_runs(results, runs[-1:])
    return runs


def summarise(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By drift, half and way: the mean over sets, and the gain over the static order with its error over sets."""
    rows = []
    for drift in (True, False):
        names = sorted({each["set"] for each in runs if each["drift"] == drift})
        for half, mine in (("all", names), ("every first", names[::2]), ("every second", names[1::2])):
            for way in WAYS if mine else ():
                found, cpu = _by_set(runs, drift, mine, "hits", way), _by_set(runs, drift, mine, "cpu", way)
                gains = found - _by_set(runs, drift, mine, "hits", "static")
                error = float(gains.std(ddof=1) / np.sqrt(gains.size)) if gains.size > 1 else 0.0
                rows.append(
                    {"drift": drift, "half": half, "way": way, "sets": len(mine), "hits": float(found.mean())}
                    | {"gain": float(gains.mean()), "error": error, "cpu": float(cpu.mean())}
                    | {"p": float(wilcoxon(gains).pvalue) if np.count_nonzero(gains) > 1 else 1.0}
                )
    return rows


def _by_set(runs: list[dict[str, Any]], drift: bool, names: list[str], what: str, way: str) -> Any:
    """The mean over seeds of each set."""
    own = [
        [each[what][way] for each in runs if (each["set"], each["drift"]) == (name, drift)] for name in names
    ]
    return np.array([np.mean(values) for values in own])


def show(rows: list[dict[str, Any]]) -> None:
    for drift in (True, False):
        print(
            f"\n{'with' if drift else 'without'} drift: hits of 100, gain ± error over sets (p), CPU seconds"
        )
        for row in (each for each in rows if each["drift"] == drift):
            gain = f"{row['gain']:+6.1f} ± {row['error']:4.1f} ({row['p']:.3f})"
            print(
                f"  {row['half']:<13}{row['way']:<11}{row['hits']:6.1f} {gain} {row['cpu']:8.2f}  {row['sets']} sets"
            )


def main(arguments: Sequence[str]) -> None:
    """Play every set with and without drift."""
    parser = study_parser(__name__, __doc__, "two small sets, one seed")
    in_pieces(parser)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args(arguments)
    if options.quick:
        jobs = [("clus_vehicle", True, 0), ("pima", False, 0)]
    else:
        pairs = [*((name, True) for name in CLASSES), *((name, False) for name in (*CLASSES, *BINARY))]
        jobs = [(name, drift, seed) for seed in range(options.seeds) for name, drift in pairs]
    tell(summarise(run(runs_file(options, __name__), jobs, options.minutes)), options.json, show)
