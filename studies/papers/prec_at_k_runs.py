"""What the prec@k paper runs: one stream, one scheme; and the streams of our wider study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream import ActiveRanker
from shortlist.stream.queries import top_positions
from studies.paper_sets import load_paper_set

Rows = list[NDArray[np.int64]]

#: Streams: the set and the share of wanted rows it is cut to (None: as it is).
SETS: dict[str, tuple[str, float | None]] = {
    "cod_rna": ("cod_rna", None),
    "cod_rna 1:50": ("cod_rna", 1 / 50),
    "cover 1:100": ("cover", 1 / 100),
    "creditcard 1:500": ("creditcard_part", 1 / 500),
    "covtype54_10k": ("covtype54_10k", None),
}


@dataclass(frozen=True)
class Stream:
    """A labelled stream in random order, and the rows of its windows."""

    X: NDArray[np.float64]
    y: NDArray[np.bool_]
    windows: Rows


def load_stream(name: str, seed: int, *, rows: int | None = None) -> Stream:
    """Shuffle a set, cut it to its share of wanted rows, and divide it into log n windows."""
    file, share = SETS[name]
    data = load_paper_set(file)
    X, y = data.X.to_numpy().astype(np.float64), data.y == 1
    if file == "creditcard_part" and data.frame is not None:
        kept = y | (data.frame["sample"] == "random").to_numpy()
        X, y = X[kept], y[kept]
    rng = np.random.default_rng(seed)
    wanted, others = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    if share is not None:
        wanted = wanted[: round(others.size * share)]
    order = rng.permutation(np.concatenate([wanted, others]))[:rows]
    return Stream(X[order], y[order], np.array_split(np.arange(order.size), int(np.log(order.size))))


def play(stream: Stream, ranker: ActiveRanker) -> tuple[list[float], list[int]]:
    """Precision and labels by window of a ranker whose every question is answered at once."""
    precision, labels = [], []
    for window in stream.windows:
        before = getattr(ranker, "labels_asked_", 0)
        rows = ranker.ask(stream.X[window])
        top = _shortlist(ranker, stream, window, rows)
        precision.append(float(stream.y[top].mean()))
        while rows.size:
            ranker.tell(rows, stream.y[rows])
            rows = ranker.ask()
        labels.append(ranker.labels_asked_ - before)
    return precision, labels


def _shortlist(
    ranker: ActiveRanker, stream: Stream, window: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The top k; where fewer are labelled, the rest by the scores that chose these."""
    k = min(ranker.k, window.size)
    if rows.size >= k:
        return rows[:k]
    scores = ranker.decision_function(stream.X[window])
    return window[top_positions(scores, k, np.random.default_rng(0))]


def perceptron(
    data: str, seed: int, k: int, scheme: str, kernel: str | None, rows: int | None = None
) -> dict[str, Any]:
    """Precision and labels by window of the paper's algorithm with one scheme of asking."""
    stream = load_stream(data, seed, rows=rows)
    ranker = ActiveRanker(k, learner="perceptron", scheme=scheme, kernel=kernel, random_state=seed)
    precision, labels = play(stream, ranker)
    return {"precision": precision, "labels": labels, "rows": stream.y.size}
