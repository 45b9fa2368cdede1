"""How fast APBoost trains beside XGBoost's own logistic loss and LightGBM.

* Rounds: our losses and XGBoost's built-in logistic grow trees in turn, round by round, on one matrix; the ratio is
  that of the median time per round, by the wall clock and in CPU time of all threads.
* Memory: the peak of a process that trains, less that of one that only makes the rows, per method.
* End to end: from an array to a model, beside LightGBM.
* Growth: time per round from 100,000 to 8 million rows.

Threads that wait sleep, for XGBoost and for us alike, as in the ``shortlist`` command; set OMP_WAIT_POLICY=active
to measure with threads that spin.

    python benchmarks/ap_boost_speed.py --json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before the libraries that read it

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from joblib import effective_n_jobs

from shortlist.lists import Lists
from shortlist.rankers import APBoost
from shortlist.rankers.base import Batch
from shortlist.rankers.boosting.ap_losses import make_loss
from shortlist.rankers.boosting.engine import newton_step

TREES = {"max_depth": 6, "learning_rate": 0.1, "max_bin": 256, "tree_method": "hist", "base_score": 0.0}
#: XGBoost's base is a chance: one half is margin 0, where ours start.
BUILT_IN = {**TREES, "objective": "binary:logistic", "base_score": 0.5}
LOSSES = ("mix", "ap_exp")
LOGISTIC = "XGBoost logistic"


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
    growers = {LOGISTIC: _built_in(matrix)} | {loss: _ours(matrix, loss, batch) for loss in losses}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in growers}
    for round_ in range(rounds):
        for name, grow in growers.items():
            wall, cpu = time.perf_counter(), time.process_time()
            grow(round_)
            spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    medians = {name: np.median(times, axis=0) for name, times in spent.items()}
    base = medians[LOGISTIC]
    return {
        name: {"wall": m[0], "cpu": m[1], "wall ratio": m[0] / base[0], "cpu ratio": m[1] / base[1]}
        for name, m in medians.items()
    }


def _built_in(matrix: xgb.DMatrix) -> Any:
    booster = xgb.Booster(BUILT_IN, cache=[matrix])
    return lambda round_: booster.update(matrix, round_)


def _ours(matrix: xgb.DMatrix, loss: str, batch: Batch) -> Any:
    booster = xgb.Booster(TREES, cache=[matrix])
    step = newton_step(make_loss(loss, batch, alpha=5.0, mix=1.0, threads=effective_n_jobs(-1)))
    return lambda round_: step(
        booster, matrix, round_, booster.predict(matrix, output_margin=True, training=True)
    )


def train(method: str, n: int, rounds: int) -> dict[str, float]:
    """Train once in this process: seconds from array to model, and the peak of memory in MB."""
    X, y = make_rows(n)
    wall, cpu = time.perf_counter(), time.process_time()
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
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak MB": peak_memory()}


def peak_memory() -> float:
    """The peak of this process since it began, in MB (``getrusage`` would count its parent's)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def train_apart(method: str, n: int, rounds: int) -> dict[str, float]:
    """The same in a process of its own, so that peaks do not mix."""
    command = [sys.executable, __file__, "--train", method, "--rows", str(n), "--rounds", str(rounds)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def growth(sizes: list[int], rounds: int) -> list[dict[str, float]]:
    table = []
    for n in sizes:
        times = rounds_in_turn(n, rounds, ("mix",))
        table.append({"rows": n, **{f"{name} cpu/round": times[name]["cpu"] for name in times}})
        table[-1]["mix ns per row"] = 1e9 * times["mix"]["cpu"] / n
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--parts", nargs="*", default=["rounds", "apart", "growth"])
    parser.add_argument(
        "--largest", type=int, default=8_000_000, help="Rows of the last line of the growth table."
    )
    parser.add_argument("--quick", action="store_true", help="100,000 rows, few rounds.")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.train:
        print(json.dumps(train(arguments.train, arguments.rows, arguments.rounds)))
        return
    if arguments.quick:
        arguments.rows, arguments.rounds, arguments.largest = 100_000, 5, 200_000
    found: dict[str, Any] = {"rows": arguments.rows, "rounds": arguments.rounds}
    if "rounds" in arguments.parts:
        found["per round"] = rounds_in_turn(arguments.rows, arguments.rounds, LOSSES)
    if "apart" in arguments.parts:
        methods = ("rows only", LOGISTIC, "mix", "ap_exp", "LightGBM")
        found["end to end"] = {m: train_apart(m, arguments.rows, arguments.rounds) for m in methods}
    if "growth" in arguments.parts:
        sizes = [n for n in (100_000, 500_000, 2_000_000, 8_000_000) if n < arguments.largest]
        found["growth"] = growth([*sizes, arguments.largest], rounds=5)
    print(json.dumps(found) if arguments.json else json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
