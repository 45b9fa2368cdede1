"""Speed of TargetTree: one generation of 50 trees beside one scikit-learn tree of 12 leaves on the same rows.

Both are measured in turn, in CPU time of one thread, and the best of a few runs counts: what else the machine does can
only add to it. The generation is the mean over a whole evolution. The first call is that of a new process whose
compiled code is cached.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from shortlist.rankers import TargetTree
from studies.measure import best_in_turn, cpu_seconds
from studies.running import study_parser, tell

SIZES = {
    "2,500 x 15": (2_500, 15, 50),
    "15,000 x 31": (15_000, 31, 500),
    "1,000,000 x 30": (1_000_000, 30, 2_000),
}
GENERATIONS = 100
FIRST_CALL = """
import time
start = time.perf_counter()
import numpy as np
from shortlist.rankers import TargetTree
X = np.random.default_rng(0).normal(size=(2_500, 15))
TargetTree(n_restarts=1, generations=1, random_state=0).fit(X, X[:, 0] > 1.5)
print(time.perf_counter() - start, time.process_time())
"""


def make_rows(n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five in a hundred rows are wanted, by a sum and a product of features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    return X, (signal > np.quantile(signal, 0.95)).astype(int)


def generation_seconds(X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """CPU seconds of one generation: between the first and the last generation of a fit, nothing else."""
    ticks: list[float] = []

    def watch(*told: object) -> None:
        ticks.append(time.process_time())

    TargetTree(n_restarts=1, generations=GENERATIONS, callback=watch, n_jobs=1, random_state=seed).fit(X, y)
    return (ticks[-1] - ticks[0]) / GENERATIONS


def one_pass_seconds(X: np.ndarray) -> float:
    """CPU seconds to read the binned data (one byte per value) once."""
    binned = np.zeros(X.shape, dtype=np.uint8)
    words = binned.ravel().view(np.uint64)[: X.size // 8]
    return best_in_turn(lambda: np.bitwise_or.reduce(words), repeats=3)[0].cpu


def measure(name: str, repeats: int) -> dict[str, float | None]:
    n_rows, n_features, goal = SIZES[name]
    X, y = make_rows(n_rows, n_features)
    generation, tree = [], []
    generation_seconds(X[:2_000], y[:2_000], 0)  # compiled code is loaded before the clock runs
    for repeat in range(repeats):
        generation.append(generation_seconds(X, y, repeat))
        tree.append(cpu_seconds(lambda: DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, y)))
    generation_ms, tree_ms = 1e3 * min(generation), 1e3 * min(tree)
    return {
        "generation_ms": generation_ms,
        "sklearn_tree_ms": tree_ms,
        "ratio": tree_ms / generation_ms,
        "goal": goal,
        "memory_passes": generation_ms / (1e3 * one_pass_seconds(X)) if n_rows >= 1_000_000 else None,
    }


def first_call(repeats: int) -> tuple[float, float]:
    """Seconds, by the clock and of CPU, of import and first fit in a new process; the best of a few."""
    command = [sys.executable, "-c", FIRST_CALL]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)]
    wall, cpu = zip(*(map(float, run.stdout.split()) for run in runs), strict=True)
    return min(wall), min(cpu)


def main(arguments: Sequence[str]) -> None:
    """Every size, and the first call."""
    options = study_parser(__name__, __doc__, "without the million rows").parse_args(arguments)
    names = list(SIZES)[:2] if options.quick else list(SIZES)
    found = {
        name: measure(name, 3 if options.quick else 5 if SIZES[name][0] < 10**6 else 2) for name in names
    }
    wall, cpu = first_call(2 if options.quick else 5)
    tell({"sizes": found, "first_call_seconds": wall, "first_call_cpu_seconds": cpu}, options.json, show)


def show(found: dict[str, Any]) -> None:
    print(f"{'rows x features':16s}{'generation':>14s}{'sklearn tree':>16s}{'ratio':>8s}{'goal':>8s}")
    for name, row in found["sizes"].items():
        times = f"{row['generation_ms']:11.3f} ms{row['sklearn_tree_ms']:13.1f} ms"
        print(f"{name:16s}{times}{row['ratio']:8.0f}{row['goal']:8d}")
    wall, cpu = found["first_call_seconds"], found["first_call_cpu_seconds"]
    print(f"first call in a new process: {wall:.2f} s, of CPU {cpu:.2f} s (goal 3)")
