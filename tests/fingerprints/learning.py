"""Fingerprints of what learns from single verdicts: feedback rankers on every space, and streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import IsolationForest, RandomForestClassifier

import shortlist
from shortlist import feedback
from shortlist.feedback import AAD, STRATEGIES, LeafSimilarity, OJRank, ScoreSpace
from shortlist.rankers import APBoost, LambdaMART

from .digest import arrays_in
from .measures import Line
from .rows import claims, numbers

SCHEMES = ("sequential", "exponential", "inverse", "uniform")
LEARNERS: dict[str, dict[str, Any]] = {
    "refit": {},
    "refit-linear": {"kernel": None},
    "perceptron": {"learner": "perceptron"},
    "perceptron-average": {"learner": "perceptron", "average": True, "balance": False},
    "perceptron-rbf": {"learner": "perceptron", "kernel": "rbf"},
}
MORE_STRATEGIES: dict[str, Any] = {
    "similarity-leaf": lambda space: LeafSimilarity(space, kernel="leaf", window=8),
    "similarity-ancestor": lambda space: LeafSimilarity(space, kernel="ancestor"),
    "ojrank-all": lambda space: OJRank(space, all_coordinates=True, mistakes_only=True, cap_targets=False),
    "aad-paper": lambda space: AAD(space, form="paper"),
}


def lines(jobs: int) -> Iterator[Line]:
    """All feedback rankers and streams."""
    for kind, make in SPACES.items():
        yield from _space(kind, make(jobs))
    played = feedback.compare(np.nan_to_num(numbers()[0]), numbers()[1], 20, [*STRATEGIES], n_trees=20)
    yield from ((f"simulate/{name}", [each.order, each.effort]) for name, each in played.items())
    for name, options in LEARNERS.items():
        for scheme in SCHEMES:
            yield from _stream(f"{name}/{scheme}", {**options, "scheme": scheme})
    yield from _stream("refit/frame", {"cold_start": "random", "window_labels": 9, "decay": 0.8}, frame=True)
    yield from _stream("perceptron/limited", {"learner": "perceptron", "total_labels": 40, "extra_labels": 3})


# -- feedback


def _table() -> pl.DataFrame:
    return claims(150, 2).drop("claim_id", "date", "fraud")


def _boosted(ranker: Any) -> ScoreSpace:
    fraud = claims(150, 2)["fraud"].to_numpy()
    return ScoreSpace.from_boosted(_table(), ranker.fit(_table(), fraud))


def _forest(jobs: int) -> ScoreSpace:
    X, wanted, _, _ = numbers(150)
    forest = RandomForestClassifier(n_estimators=10, max_depth=5, random_state=0, n_jobs=jobs)
    return ScoreSpace.from_random_forest(np.nan_to_num(X), forest.fit(np.nan_to_num(X), wanted))


def _given(jobs: int) -> ScoreSpace:
    X = np.nan_to_num(numbers(150)[0])
    forest = IsolationForest(n_estimators=10, random_state=0, n_jobs=jobs).fit(X)
    return ScoreSpace.from_isolation_forest(X, forest=forest)


SPACES: dict[str, Any] = {
    "isolation": lambda jobs: ScoreSpace.from_isolation_forest(_table(), n_trees=15, random_state=0),
    "isolation-deep": lambda jobs: ScoreSpace.from_isolation_forest(_table(), n_trees=15, max_depth=None),
    "isolation-array": lambda jobs: ScoreSpace.from_isolation_forest(
        numbers(150)[0], n_trees=15
    ).build_index(),
    "isolation-given": _given,
    "loda": lambda jobs: ScoreSpace.from_loda(np.nan_to_num(numbers(150)[0]), n_projections=15),
    "half-space": lambda jobs: ScoreSpace.from_half_space_trees(_table(), n_trees=15),
    "rs-forest": lambda jobs: ScoreSpace.from_rs_forest(_table(), n_trees=15),
    "scores": lambda jobs: ScoreSpace.from_scores(np.abs(numbers(150)[0]), n_bins=20),
    "ap-boost": lambda jobs: _boosted(APBoost(n_estimators=6, folds=2, random_state=0, n_jobs=jobs)),
    "lambda-mart": lambda jobs: _boosted(LambdaMART(n_estimators=8, random_state=0, n_jobs=jobs)),
    "random-forest": _forest,
}


def _space(kind: str, space: ScoreSpace) -> Iterator[Line]:
    space.save("space")
    files = [arrays_in(path) for path in sorted(Path("space").iterdir())]
    yield f"space/{kind}", [space.fingerprint, space.base_scores(), space.leaves([0, 7, 149]), files]
    for name, strategy in STRATEGIES.items():
        if space.leaf_counts is not None or not strategy.needs_forest:
            yield from _reviewed(f"{kind}/{name}", feedback.make_strategy(name, space, random_state=1))
    for name, make in MORE_STRATEGIES.items():
        yield from _reviewed(f"{kind}/{name}", make(space))
    ranker = LeafSimilarity(space, random_state=0)
    _review(ranker, 5)
    named = kind in ("isolation", "isolation-deep", "half-space", "rs-forest", "ap-boost", "lambda-mart")
    space.append(_table().head(9) if named else np.nan_to_num(numbers(150)[0])[:9] + 1)
    ranker.tell(153, True)
    yield f"space/{kind}/appended", [space.base_scores(), ranker.scores(), ranker.ranking(9)]


def _reviewed(name: str, ranker: Any) -> Iterator[Line]:
    _review(ranker, 14)
    ranker.save("ranker.npz")
    again: Any = feedback.FeedbackRanker.load("ranker.npz", ranker.space)
    said = [ranker.reviewed, ranker.unsure, ranker.version, ranker.effort()]
    yield f"feedback/{name}/learned", [said, ranker.scores(), ranker.ranking(20), again.ask(9)]
    yield f"feedback/{name}/why", [str(ranker.why(int(row))) for row in ranker.ranking(4)]
    yield f"feedback/{name}/file", arrays_in(Path("ranker.npz"))
    again.untell(again.reviewed[2][0])
    yield f"feedback/{name}/untold", [again.scores(), again.ranking(9)]


def _review(ranker: Any, times: int) -> None:
    wanted = numbers(150)[1]
    for number in range(times):
        row = ranker.ask()
        ranker.tell(row, None if number == 4 else bool(wanted[row]))


# -- streams


def _stream(name: str, options: dict[str, Any], *, frame: bool = False) -> Iterator[Line]:
    """Eight windows with labels that come late; saved in the middle with a window open."""
    ranker = shortlist.ActiveRanker(6, **{"random_state": 0, **options})
    X, wanted = _windows()
    names = [f"x{i}" for i in range(X.shape[1])]
    asked = []
    for start in range(0, len(X), 60):
        window = X[start : start + 60]
        numbers_ = ranker.ask(pl.DataFrame(window, schema=names) if frame else window)
        if start == 240:
            ranker.save("active.state")
            yield f"stream/{name}/file", arrays_in(Path("active.state"))
            ranker = shortlist.ActiveRanker.load("active.state")
        while numbers_.size:
            asked.append(numbers_)
            numbers_ = ranker.tell(numbers_, wanted[numbers_]).ask()
    last = pl.DataFrame(X[:60], schema=names) if frame else X[:60]
    figures = [ranker.precisions_, ranker.alarms_, ranker.labels_asked_, ranker.n_rows_]
    yield f"stream/{name}/asked", asked
    yield f"stream/{name}/learned", [figures, ranker.decision_function(last)]


def _windows() -> tuple[Any, Any]:
    """What is wanted changes in the middle."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(480, 4))
    turned = np.where(np.arange(480) < 300, X[:, 0], -X[:, 0])
    return X, (turned + X[:, 1] > 1.6).astype(float)
