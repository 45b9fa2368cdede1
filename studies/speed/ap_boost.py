"""How fast APBoost trains beside XGBoost's own logistic loss and LightGBM.

* Rounds: our losses and XGBoost's built-in logistic grow trees in turn, round by round, on one matrix; the ratio is
  that of the median time per round, by the wall clock and in CPU time of all threads. Of ours also that of the trees
  alone, gradients given: XGBoost adds up the child with the smaller hessian, which need not be the one with fewer
  rows, so trees of one loss can take longer than those of another.
* Memory: the peak of a process that trains, less that of one that only makes the rows, per method.
* End to end: from an array to a model, beside LightGBM.
* Default: APBoost as it comes, an ensemble, beside LightGBM as it comes; CPU time of one thread.
* Growth: time per round from 100,000 to 8 million rows.

Threads that wait sleep, for XGBoost and for us alike, as in the ``shortlist`` command; set OMP_WAIT_POLICY=active
to measure with threads that spin.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the libraries that read it

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from joblib import effective_n_jobs

from shortlist.lists import Lists
from shortlist.metrics import average_precision
from shortlist.rankers import APBoost
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.trees.engine import newton_step
from studies.measure import Spent, apart, cpu_seconds, peak_mb, spent
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
    growers = {LOGISTIC: _built_in(matrix)} | {loss: Ours(matrix, loss, batch) for loss in losses}
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
        found[loss]["trees cpu ratio"] = np.median(growers[loss].seconds) / base[1]
    return found


class Ours(xgb.Booster):
    """Grows trees of a loss of ours, and notes the CPU seconds that each takes once its gradients are there."""

    def __init__(self, matrix: xgb.DMatrix, loss: str, batch: Batch) -> None:
        super().__init__(TREES, cache=[matrix])
        self.matrix = matrix
        self.step = newton_step(make_loss(loss, batch, alpha=5.0, mix=1.0, threads=effective_n_jobs(-1)))
        self.seconds: list[float] = []

    def __call__(self, round_: int) -> None:
        """One round."""
        self.step(
            self, self.matrix, round_, lambda: self.predict(self.matrix, output_margin=True, training=True)
        )

    def boost(self, *arguments: Any, **gradients: Any) -> None:
        """One tree."""
        self.seconds.append(cpu_seconds(lambda: xgb.Booster.boost(self, *arguments, **gradients)))


def _built_in(matrix: xgb.DMatrix) -> Any:
    booster = xgb.Booster(BUILT_IN, cache=[matrix])
    return lambda round_: booster.update(matrix, round_)


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


def defaults(n: int) -> dict[str, Any]:
    """CPU seconds of both, their ratio, and the AP of each on new rows."""
    X, y = make_rows(n, rate=0.01)
    new, truth = make_rows(50_000, rate=0.01, seed=1)
    ours, theirs = APBoost(n_jobs=1, random_state=0), lgb.LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    APBoost(n_jobs=1, n_estimators=10, random_state=0).fit(X[:3_000], y[:3_000])  # compiles
    seconds = [cpu_seconds(partial(model.fit, X, y)) for model in (ours, theirs)]
    return {
        "APBoost": seconds[0],
        "LightGBM": seconds[1],
        "ratio": seconds[0] / seconds[1],
        "rounds": ours.rounds_,
        "AP of APBoost": average_precision(truth, ours.decision_function(new)),
        "AP of LightGBM": average_precision(truth, theirs.predict(new, raw_score=True)),
    }


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
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument(
        "--largest", type=int, default=8_000_000, help="rows of the last line of the growth table"
    )
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.rounds, options.largest = 100_000, 5, 200_000
    found: dict[str, Any] = {"rows": options.rows, "rounds": options.rounds}
    if "rounds" in options.parts:
        found["per round"] = rounds_in_turn(options.rows, options.rounds, LOSSES)
    if "apart" in options.parts:
        methods = ("rows only", LOGISTIC, "mix", "ap_exp", "LightGBM")
        found["end to end"] = {
            method: apart(train, method, options.rows, options.rounds) for method in methods
        }
    if "default" in options.parts:
        sizes = [n for n in (20_000, 200_000) if n <= options.rows / 5]
        found["default"] = {n: apart(defaults, n) for n in sizes}
    if "growth" in options.parts:
        sizes = [n for n in (100_000, 500_000, 2_000_000, 8_000_000) if n < options.largest]
        found["growth"] = growth([*sizes, options.largest], rounds=5)
    tell(found, options.json, lambda found: print(json.dumps(found, indent=2)))
