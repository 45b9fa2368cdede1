"""How fast APBoost trains beside XGBoost's own logistic loss and LightGBM.

* Rounds: our losses and XGBoost's built-in logistic grow trees in turn, round by round, on one matrix; the ratio is
  that of the median time per round, by the wall clock and in CPU time of all threads. Of ours also that of the trees
  alone, gradients given; and how many rows the last trees added up, as a share of all rows, by XGBoost's rule (the
  child with the smaller hessian) and at the least (that with fewer rows): what a loss splits off costs time too.
* Memory: the peak of a process that trains, less that of one that only makes the rows, per method.
* End to end: from an array to a model, beside LightGBM, in turn; the median of each.
* Default: APBoost as it comes, an ensemble, beside LightGBM as it comes, in turn; the median CPU time of one thread.
  Beside LightGBM with its rounds, or leaves and rounds, chosen by cross-validation, once; and how large the model's
  file is.
* Growth: time per round from 100,000 to 8 million rows.

Threads that wait sleep, for XGBoost and for us alike, as in the ``shortlist`` command; set OMP_WAIT_POLICY=active
to measure with threads that spin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the libraries that read it

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from joblib import effective_n_jobs

from shortlist import models
from shortlist.lists import Lists
from shortlist.metrics import average_precision
from shortlist.rankers import APBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.trees.engine import newton_step
from studies.measure import Spent, apart, cpu_seconds, peak_mb, spent
from studies.quality.rivals import METHODS, Scorer, lightgbm
from studies.running import study_parser, tell

TREES = {"max_depth": 6, "learning_rate": 0.1, "max_bin": 256, "tree_method": "hist", "base_score": 0.0}
#: XGBoost's base is a chance: one half is margin 0, where ours start.
BUILT_IN = {**TREES, "objective": "binary:logistic", "base_score": 0.5}
LOSSES = ("mix", "ap_exp")
LOGISTIC = "XGBoost logistic"
PARTS = ("rounds", "apart", "default", "growth")


def make_rows(n: int, columns: int = 40, rate: float = 0.002, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which a small share is wanted, by a smooth rule with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, columns), dtype=np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 + rng.standard_normal(n, dtype=np.float32)
    return X, signal > np.quantile(signal, 1 - rate)


def rounds_in_turn(n: int, rounds: int, losses: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Median wall and CPU seconds per round of each loss, grown in turn on the same matrix."""
    X, y = make_rows(n)
    matrix = xgb.QuantileDMatrix(X, y, max_bin=TREES["max_bin"])
    batch = Batch(X, y, Lists.single(n), None, np.zeros(X.shape[1], dtype=bool))
    ours = {loss: Ours(matrix, loss, batch) for loss in losses}
    growers: dict[str, BuiltIn | Ours] = {LOGISTIC: BuiltIn(matrix), **ours}
    times: dict[str, list[Spent]] = {name: [] for name in growers}
    for round_ in range(rounds):
        for name, grow in growers.items():
            times[name].append(spent(partial(grow, round_)))
    medians = {name: np.median([(one.wall, one.cpu) for one in each], axis=0) for name, each in times.items()}
    base = medians[LOGISTIC]
    found = {
        name: {"wall": m[0], "cpu": m[1], "wall ratio": m[0] / base[0], "cpu ratio": m[1] / base[1]}
        for name, m in medians.items()
    }
    for loss in losses:
        found[loss]["trees cpu ratio"] = np.median(ours[loss].seconds) / base[1]
    for name, grow in growers.items():
        found[name] |= rows_added_up(grow.booster, matrix)
    return found


def rows_added_up(booster: xgb.Booster, matrix: xgb.DMatrix, n_trees: int = 5) -> dict[str, float]:
    """Rows that a tree adds up into histograms, as a share of all: the root's, and of two children those of one."""
    trees = booster[max(0, booster.num_boosted_rounds() - n_trees) :]
    leaves = trees.predict(matrix, pred_leaf=True).astype(np.int64)
    told = [json.loads(tree) for tree in trees.get_dump(dump_format="json", with_stats=True)]
    counts = [_count_rows(tree, np.bincount(leaves[:, number])) for number, tree in enumerate(told)]
    by_rule, at_least = np.mean([each[2:] for each in counts], axis=0) / matrix.num_row()
    return {"rows a tree": 1 + by_rule, "rows a tree at least": 1 + at_least}


def _count_rows(node: dict[str, Any], of_leaf: np.ndarray) -> tuple[float, float, float, float]:
    """Rows and hessian of a node, and the rows added up below it: by the smaller hessian, and at the least."""
    if "leaf" in node:
        number = node["nodeid"]
        return float(of_leaf[number]) if number < of_leaf.size else 0.0, node["cover"], 0.0, 0.0
    left, right = (_count_rows(child, of_leaf) for child in node["children"])
    by_rule, at_least = left[2] + right[2], left[3] + right[3]
    if node["depth"] + 1 < TREES["max_depth"]:  # the last children are not split, so nobody adds them up
        by_rule += left[0] if left[1] <= right[1] else right[0]
        at_least += min(left[0], right[0])
    return left[0] + right[0], node["cover"], by_rule, at_least


class BuiltIn:
    """Grows trees of XGBoost's own loss."""

    def __init__(self, matrix: xgb.DMatrix) -> None:
        self.matrix, self.booster = matrix, xgb.Booster(BUILT_IN, cache=[matrix])

    def __call__(self, round_: int) -> None:
        """One round."""
        self.booster.update(self.matrix, round_)


class Ours:
    """Grows trees of a loss of ours, and notes the CPU seconds that each takes once its gradients are there."""

    def __init__(self, matrix: xgb.DMatrix, loss: str, batch: Batch) -> None:
        self.matrix, self.booster = matrix, xgb.Booster(TREES, cache=[matrix])
        self.step = newton_step(make_loss(loss, batch, alpha=5.0, mix=1.0, threads=effective_n_jobs(-1)))
        self.seconds: list[float] = []

    def __call__(self, round_: int) -> None:
        """One round."""
        read = {"output_margin": True, "training": True, "validate_features": False}
        self.step(self, self.matrix, round_, lambda: self.booster.predict(self.matrix, **read))

    def boost(self, *arguments: Any, **gradients: Any) -> None:
        """One tree."""
        self.seconds.append(cpu_seconds(lambda: self.booster.boost(*arguments, **gradients)))


def train(method: str, n: int, rounds: int) -> dict[str, float]:
    """Train once in this process: seconds from array to model, and the peak of memory in MB."""
    X, y = make_rows(n)
    took = spent(lambda: fit(method, X, y, rounds))
    return {"wall": took.wall, "cpu": took.cpu, "peak MB": peak_mb()}


def fit(method: str, X: np.ndarray, y: np.ndarray, rounds: int) -> None:
    if method == LOGISTIC:
        xgb.train(BUILT_IN, xgb.QuantileDMatrix(X, y), rounds)
    elif method == "LightGBM":
        params = {"objective": "binary", "num_leaves": 63, "learning_rate": 0.1, "verbose": -1}
        lgb.train(params, lgb.Dataset(X, y), rounds)
    elif method != "rows only":
        APBoost(
            loss=method,
            folds=0,
            n_estimators=rounds,
            early_stopping_rounds=None,
            subsample=1.0,
            colsample_bynode=1.0,
            min_child_weight=1.0,
        ).fit(X, y)


def trainings(methods: Sequence[str], n: int, rounds: int, repeats: int) -> dict[str, dict[str, float]]:
    """The medians of whole trainings, each in a process of its own, in turn."""
    runs = [{method: apart(train, method, n, rounds) for method in methods} for _ in range(repeats)]
    return {
        method: {what: float(np.median([run[method][what] for run in runs])) for what in runs[0][method]}
        for method in methods
    }


def defaults(n: int, repeats: int) -> dict[str, Any]:
    """Median CPU seconds of both, their ratio, and the AP of each on new rows; the same of LightGBM tuned, once."""
    X, y = make_rows(n, rate=0.01)
    new, truth = make_rows(50_000, rate=0.01, seed=1)
    ours, theirs = APBoost(n_jobs=1, random_state=0), lgb.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    APBoost(n_jobs=1, n_estimators=10, random_state=0).fit(X[:3_000], y[:3_000])  # compiles
    took = [[cpu_seconds(partial(model.fit, X, y)) for model in (ours, theirs)] for _ in range(repeats)]
    seconds = np.median(took, axis=0)
    found = {
        "APBoost": seconds[0],
        "LightGBM": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "rounds": ours.rounds_,
        "AP of APBoost": average_precision(truth, ours.decision_function(new)),
        "AP of LightGBM": average_precision(truth, theirs.predict(new, raw_score=True)),
        "file MB": file_mb(ours),
    }
    for name, method in (("rounds chosen", lightgbm((31,), (20,))), ("tuned", METHODS["LightGBM"])):
        scorers: list[Scorer] = []
        took_them = cpu_seconds(partial(_keep, scorers, method, X, y))
        found |= {
            f"LightGBM, {name}": took_them,
            f"ratio to {name}": seconds[0] / took_them,
            f"AP of LightGBM, {name}": average_precision(truth, scorers[0](new)),
        }
    return found


def _keep(scorers: list[Scorer], method: Callable[..., Scorer], X: np.ndarray, y: np.ndarray) -> None:
    scorers.append(method(X, y, np.zeros(X.shape[1], dtype=bool), 0))


def file_mb(ranker: APBoost) -> float:
    """The size of its model file."""
    with TemporaryDirectory() as folder:
        models.save(ranker, path := Path(folder) / "model.shortlist")
        return path.stat().st_size / 1e6


def growth(sizes: list[int], rounds: int) -> list[dict[str, float]]:
    table = []
    for n in sizes:
        times = rounds_in_turn(n, rounds, ("mix",))
        table.append({"rows": n, **{f"{name} cpu/round": times[name]["cpu"] for name in times}})
        table[-1]["mix ns per row"] = 1e9 * times["mix"]["cpu"] / n
    return table


def main(arguments: Sequence[str]) -> None:
    """Rounds in turn, whole trainings apart, growth."""
    parser = study_parser(__name__, __doc__, "100,000 rows, few rounds")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3, help="of whole trainings, in turn")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--largest", type=int, default=8_000_000, help="rows of the last line of the growth table"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.rounds, options.largest, options.repeats = 100_000, 5, 200_000, 1
    found: dict[str, Any] = {"rows": options.rows, "rounds": options.rounds}
    if "rounds" in options.parts:
        found["per round"] = rounds_in_turn(options.rows, options.rounds, LOSSES)
    if "apart" in options.parts:
        methods = ("rows only", LOGISTIC, "mix", "ap_exp", "LightGBM")
        found["end to end"] = trainings(methods, options.rows, options.rounds, options.repeats)
    if "default" in options.parts:
        sizes = [n for n in (14_999, 20_000, 200_000) if n <= options.rows / 5]
        found["default"] = {n: apart(defaults, n, options.repeats) for n in sizes}
    if "growth" in options.parts:
        sizes = [n for n in (100_000, 500_000, 2_000_000, 8_000_000) if n < options.largest]
        found["growth"] = growth([*sizes, options.largest], rounds=5)
    tell(found, options.json, lambda found: print(json.dumps(found, indent=2)))
