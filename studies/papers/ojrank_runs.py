"""What the OJRank paper runs: one review of one shuffled set by one strategy.

Rows are shuffled (several sets have their wanted rows in a block, which ties broken by row number would give away) and
ties are broken at random, both by seed. A set is reviewed as often as it has wanted rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback import AAD, OMD, FeedbackRanker, LeafSimilarity, Offline, OJRank, ScoreSpace, simulate
from shortlist.metrics import expert_effort
from studies.paper_sets import load_paper_set

Make = Callable[..., FeedbackRanker]
ALL = {"all_coordinates": True, "history": "all"}
#: As the authors' code has it.
RELEASED = {"optimizer": "released", "cap_targets": False}

STRATEGIES: dict[str, tuple[Make, dict[str, Any]]] = {
    "OJRank": (OJRank, {}),
    "OJRank, released": (OJRank, RELEASED),
    "OJR-MO": (OJRank, {"mistakes_only": True}),
    "OJR-MO, released": (OJRank, {"mistakes_only": True, **RELEASED}),
    "OJR-ALL": (OJRank, ALL),
    "OJR-ALL, released": (OJRank, {**ALL, **RELEASED}),
    "AAD": (AAD, {"form": "paper"}),
    "OMD-Lin": (OMD, {"loss": "linear"}),
    "OMD-LLH": (OMD, {"loss": "log-likelihood"}),
    "OMD-LLH, total": (OMD, {"loss": "log-likelihood", "likelihood": "total"}),
    "Offline": (Offline, {}),
    "AAD-margin": (AAD, {}),
    "Similarity-leaf": (LeafSimilarity, {"kernel": "leaf"}),
    "Similarity": (LeafSimilarity, {"kernel": "ancestor"}),
}
PEER = "coniferest AAD"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def review(data: str, seed: int, strategy: str, **settings: Any) -> dict[str, Any]:
    """One review: precision, efforts, wanted rows found after each review, and how long a verdict takes."""
    X, y = shuffled(data, seed)
    budget = int(y.sum())
    if strategy == PEER:
        order, seconds = play_peer(X, y, budget, seed), np.full(budget, np.nan)
    else:
        make, own = STRATEGIES[strategy]
        # OMD learns on whole trees, the others on trees of depth 8.
        space = forest(data, seed, None if make is OMD else 8)
        played = simulate(make(space, random_state=seed, **own, **settings), y, budget)
        order, seconds = played.order, played.seconds
    return {
        "precision": float(y[order].mean()),
        "effort": effort_in(forest(data, seed, 8), order),
        "effort in columns": expert_effort(X[order], normalize="mean"),
        "hits": np.cumsum(y[order]).tolist(),
        "seconds": [] if np.isnan(seconds).any() else np.quantile(seconds, QUANTILES).tolist(),
    }


@lru_cache(maxsize=2)
def shuffled(data: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A set with its rows in an order drawn by the seed."""
    read = load_paper_set(data)
    order = np.random.default_rng([seed, 7]).permutation(read.y.size)
    return read.X.to_numpy().astype(np.float64)[order], (read.y == 1)[order]


@lru_cache(maxsize=2)
def forest(data: str, seed: int, max_depth: int | None) -> ScoreSpace:
    """The forest of a set and a seed, which all strategies share."""
    return ScoreSpace.from_isolation_forest(shuffled(data, seed)[0], max_depth=max_depth, random_state=seed)


def effort_in(space: ScoreSpace, order: NDArray[np.int64]) -> float:
    """The effort of any order of reviews, in one space for all strategies: trees of depth 8."""
    ranker = Offline(space)
    for row in order.tolist():
        ranker.tell(row, True)
    return ranker.effort()


def play_peer(X: NDArray, y: NDArray[np.bool_], budget: int, seed: int) -> NDArray[np.int64]:
    """The same review with coniferest's AADForest at its defaults, ties broken at random."""
    # A peer for studies, not needed to import this module.
    from coniferest.aadforest import AADForest  # noqa: PLC0415
    from coniferest.label import Label  # noqa: PLC0415

    peer = AADForest(random_seed=seed, n_jobs=1).fit(X)
    tie = np.random.default_rng(seed).permutation(y.size)
    order: list[int] = []
    for _ in range(budget):
        score = peer.score_samples(X)
        score[order] = np.inf
        order.append(int(np.lexsort((tie, score))[0]))
        labels = np.where(y[order], Label.ANOMALY, Label.REGULAR)
        peer.fit_known(X, X[order], labels)
    return np.array(order)
