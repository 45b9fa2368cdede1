"""The three surrogates of prec@k with their margin conditions, Theorem 1 on data, and the two related ways to ask.

The surrogates are those of Kar, Narasimhan and Jain (2015), which the paper builds on; its text has two of them in
formulas, and the averaged one is as their paper has it. Each is a largest value over shortlists of k rows with m
unwanted ones among them, and for each m the shortlist that attains it is known, so that sorting is enough. All of
them ask that at least k rows are wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.papers.prec_at_k_runs import Stream, load_stream

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]


def loss(y: Labels, score: Floats, k: int) -> int:
    """Unwanted rows among the first k."""
    return int(np.sum(~y[np.argsort(-score, kind="stable")[:k]]))


def ramp(y: Labels, score: Floats, k: int) -> float:
    """The tightest, Eq. 1: against the k wanted rows that rank best."""
    return float(_top(score + ~y, k).sum() - _top(score[y], k).sum())


def average(y: Labels, score: Floats, k: int) -> float:
    """Against the mean of the wanted rows that are not on the shortlist."""
    wanted, others = np.sort(score[y]), _top(score[~y], k)
    left_out = wanted.size - k + np.arange(1, others.size + 1)
    means = np.cumsum(wanted)[left_out - 1] / left_out
    m = np.arange(1, others.size + 1)
    return max(0.0, float(np.max(m + np.cumsum(others) - m * means)))


def maximum(y: Labels, score: Floats, k: int) -> float:
    """The loosest, Eq. 2: against the wanted rows that rank worst."""
    wanted, others = np.sort(score[y])[:k], _top(score[~y], k)
    m = min(wanted.size, others.size)
    return max(0.0, float(np.max(np.arange(1, m + 1) + np.cumsum(others[:m]) - np.cumsum(wanted[:m]))))


def _top(values: Floats, k: int) -> Floats:
    return -np.sort(-values)[:k]


SURROGATES = {"ramp": ramp, "average": average, "maximum": maximum}


def margins(y: Labels, score: Floats, k: int) -> dict[str, float]:
    """How far each surrogate's margin condition is met; from 1 on the surrogate is 0."""
    wanted, best_other = np.sort(score[y]), float(score[~y].max())
    return {
        "ramp": float(wanted[-k]) - best_other,
        "average": float(wanted[: wanted.size - k + 1].mean()) - best_other,
        "maximum": float(wanted[0]) - best_other,
    }


def rows_of(stream: Stream) -> Floats:
    """Columns less their mean over their spread, as the paper has them, and a constant."""
    X = (stream.X - stream.X.mean(axis=0)) / np.maximum(stream.X.std(axis=0), 1e-12)
    return np.column_stack([X, np.ones(len(X))])


def theorem(data: str, seed: int, k: int, rows: int | None = None) -> dict[str, Any]:
    """Perceptron@k-max with all labels on one stream: mistakes, the bound as printed and squared, the surrogates.

    The bounds are the least over w = 0 and multiples of the last w and of a least-squares w. Where a window has fewer
    than k wanted rows, k is as many.
    """
    stream = load_stream(data, seed, rows=rows)
    k = min(k, *(int(stream.y[window].sum()) for window in stream.windows))
    X, y = rows_of(stream), stream.y
    w, mistakes, seen = np.zeros(X.shape[1]), 0, []
    for window in stream.windows:
        score = X[window] @ w
        seen.append({name: each(y[window], score, k) for name, each in SURROGATES.items()})
        seen[-1]["loss"] = loss(y[window], score, k)
        mistakes += int(seen[-1]["loss"])
        w = w + step(X[window], y[window], score, k)
    least_squares = np.linalg.lstsq(X, np.where(y, 1.0, -1.0), rcond=None)[0]
    radius = float(np.linalg.norm(X, axis=1).max())
    tried = [np.zeros_like(w), *(scale * v for v in (w, least_squares) for scale in np.logspace(-6, 1, 15))]
    bounds = [_bound(v, X, stream, k, radius) for v in tried]
    return {
        "mistakes": mistakes,
        "as printed": min(bounds),
        "squared": min(bounds) ** 2,
        "surrogates": {name: float(np.mean([each[name] for each in seen])) for name in seen[0]},
        "ordered": all(each["loss"] <= each["ramp"] <= each["average"] <= each["maximum"] for each in seen),
    }


def step(X: Floats, y: Labels, score: Floats, k: int) -> Floats:
    """Algorithm 1: take off the false positives of the top k, add as many of the wanted rows ranked best below it."""
    order = np.argsort(-score, kind="stable")
    wrong = order[:k][~y[order[:k]]]
    missed = order[k:][y[order[k:]]][: wrong.size]
    return X[missed].sum(axis=0) - X[wrong].sum(axis=0)


def _bound(w: Floats, X: Floats, stream: Stream, k: int, radius: float) -> float:
    total = sum(maximum(stream.y[window], X[window] @ w, k) for window in stream.windows)
    return float(np.linalg.norm(w) * radius * np.sqrt(4 * k) + np.sqrt(total))


def related(
    data: str, seed: int, method: str, budgets: str, setting: float, rows: int | None = None
) -> dict[str, Any]:
    """Precision at each k by window, and labels, of a perceptron that asks row by row.

    ``selective sampling`` asks with chance b / (b + |score|); ``active perceptron`` asks where |score| is at most a
    threshold, which halves after so many answers in a row that changed nothing, and reflects w at a mistake.
    """
    stream = load_stream(data, seed, rows=rows)
    X = rows_of(stream)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    learner = {"selective sampling": selective, "active perceptron": reflecting}[method]
    w, state, asked, labels = np.zeros(X.shape[1]), {"b": setting, "quiet": 0.0, "threshold": 0.5}, 0, []
    precision: dict[str, list[float]] = {k: [] for k in budgets.split()}
    rng = np.random.default_rng(seed)
    for window in stream.windows:
        score = X[window] @ w
        for k, found in precision.items():
            found.append(1 - loss(stream.y[window], score, int(k)) / int(k))
        for row in window:
            w, told = learner(w, X[row], bool(stream.y[row]), state, rng)
            asked += told
        labels.append(asked)
    return {"precision": precision, "labels": labels, "rows": stream.y.size}


def selective(
    w: Floats, x: Floats, wanted: bool, state: dict[str, float], rng: np.random.Generator
) -> tuple[Floats, bool]:
    """Cesa-Bianchi, Gentile and Zaniboni: the perceptron's step on labels drawn by the margin."""
    score = float(w @ x)
    if rng.random() >= state["b"] / (state["b"] + abs(score)):
        return w, False
    sign = 1.0 if wanted else -1.0
    return (w + sign * x if sign * score <= 0 else w), True


def reflecting(
    w: Floats, x: Floats, wanted: bool, state: dict[str, float], rng: np.random.Generator
) -> tuple[Floats, bool]:
    """Dasgupta, Kalai and Monteleoni: w starts at the first row and stays of length 1."""
    sign = 1.0 if wanted else -1.0
    if not w.any():
        return sign * x, True
    score = float(w @ x)
    if abs(score) > state["threshold"]:
        return w, False
    if sign * score <= 0:
        state["quiet"] = 0.0
        return w - 2 * score * x, True
    state["quiet"] += 1
    if state["quiet"] >= state["b"]:
        state["quiet"], state["threshold"] = 0.0, state["threshold"] / 2
    return w, True
