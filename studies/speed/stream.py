"""Speed of the stream: score a window, choose what to ask, take the labels, learn.

Rows per second of CPU time on one thread, beside scikit-learn's ``SGDClassifier`` (score + ``partial_fit`` with all
labels) and the bare product ``X @ w``. All methods take each window in turn, and which of them comes first (and finds
the window in no cache) changes from window to window.

Goals: at least 3 × SGD in both sizes of window, and at least 1/4 of ``X @ w`` in the large ones. "Fourier sums alone"
is the part of the default's score that takes 256 cosines per row: what the default can reach at best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from shortlist.stream import ActiveRanker
from shortlist.stream.learners.fourier import FourierFeatures
from studies.measure import cpu_seconds
from studies.running import study_parser, tell

FEATURES = 8
PEERS = ("SGD partial_fit", "X @ w")
METHODS: dict[str, dict] = {
    "perceptron": {"learner": "perceptron"},
    "perceptron exponential": {"learner": "perceptron", "scheme": "exponential"},
    "refit linear": {"kernel": None},
    "refit (default)": {},
}


def make_stream(rows: int, windows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows * windows, FEATURES))
    return X, X @ rng.normal(size=FEATURES) + rng.normal(size=X.shape[0]) > 2.0


def run_ranker(X: np.ndarray, y: np.ndarray, rows: int, settings: dict) -> Callable[[int], None]:
    ranker = ActiveRanker(50, random_state=0, **settings)

    def window(number: int) -> None:
        asked = ranker.ask(X[number * rows : (number + 1) * rows])
        while asked.size:
            ranker.tell(asked, y[asked])
            asked = ranker.ask()

    return window


def run_labelled(X: np.ndarray, y: np.ndarray, rows: int) -> Callable[[int], None]:
    ranker = ActiveRanker(50, learner="perceptron", random_state=0)

    def window(number: int) -> None:
        ranker.partial_fit(X[number * rows : (number + 1) * rows], y[number * rows : (number + 1) * rows])

    return window


def run_sgd(X: np.ndarray, y: np.ndarray, rows: int) -> Callable[[int], None]:
    model = SGDClassifier(loss="log_loss", random_state=0)

    def window(number: int) -> None:
        part = slice(number * rows, (number + 1) * rows)
        if number:
            model.decision_function(X[part])
        model.partial_fit(X[part], y[part], classes=[False, True])

    return window


def run_product(X: np.ndarray, rows: int) -> Callable[[int], None]:
    w = np.ones(FEATURES)

    def window(number: int) -> None:
        X[number * rows : (number + 1) * rows] @ w

    return window


def run_cosines(X: np.ndarray, rows: int) -> Callable[[int], None]:
    features, weights = FourierFeatures(FEATURES, 256, 0.25 / FEATURES, 0), np.ones(256)

    def window(number: int) -> None:
        features.sums(X[number * rows : (number + 1) * rows], weights)

    return window


def measure(rows: int, windows: int, warm_up: int) -> dict[str, float]:
    """Rows per second of CPU time by method."""
    X, y = make_stream(rows, windows)
    steps = {name: run_ranker(X, y, rows, settings) for name, settings in METHODS.items()}
    steps["perceptron, all labels"] = run_labelled(X, y, rows)
    steps["Fourier sums alone"] = run_cosines(X, rows)
    steps["SGD partial_fit"] = run_sgd(X, y, rows)
    steps["X @ w"] = run_product(X, rows)
    spent, names = dict.fromkeys(steps, 0.0), [*steps]
    for number in range(windows):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            seconds = cpu_seconds(partial(steps[name], number))
            spent[name] += seconds if number >= warm_up else 0.0
    return {name: rows * (windows - warm_up) / seconds for name, seconds in spent.items()}


def compare(rows: int, windows: int) -> dict:
    """Rows per second, and the ratios that the goals are about."""
    speed = measure(rows, windows, warm_up=max(2, windows // 10))
    sgd, product = speed["SGD partial_fit"], speed["X @ w"]
    ratios = {
        name: {"of SGD": speed[name] / sgd, "of X @ w": speed[name] / product}
        for name in speed
        if name not in PEERS
    }
    return {"window_rows": rows, "windows": windows, "rows_per_second": speed, "ratios": ratios}


def main(arguments: Sequence[str]) -> None:
    """Small windows and large ones."""
    options = study_parser(__name__, __doc__, "fewer windows").parse_args(arguments)
    sizes = [(1_000, 40), (25_000, 8)] if options.quick else [(1_000, 200), (25_000, 40)]
    with threadpool_limits(1):
        results = [compare(rows, windows) for rows, windows in sizes]
    tell({"features": FEATURES, "k": 50, "results": results}, options.json, show)


def show(found: dict[str, Any]) -> None:
    for result in found["results"]:
        print(f"\nwindows of {result['window_rows']:,} rows: million rows per second, × SGD, × (X @ w)")
        for name, speed in result["rows_per_second"].items():
            ratio = result["ratios"].get(name)
            shown = f"{ratio['of SGD']:8.2f} {ratio['of X @ w']:8.3f}" if ratio else ""
            print(f"  {name:<24} {speed / 1e6:8.2f} {shown}")
