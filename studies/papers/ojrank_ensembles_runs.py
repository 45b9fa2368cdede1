"""What the OJRank paper leaves open: the same reviews on other ensembles than isolation forests (its Section 3.2).

Bagged LOF is that of A. Lazarevic and V. Kumar, "Feature bagging for outlier detection", KDD 2005: each member sees a
random half of the columns or more. A member's score is the logarithm of its LOF, which is a ratio.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import LocalOutlierFactor

from shortlist.feedback import ScoreSpace, simulate
from shortlist.feedback.spaces.isolation import on_usual_scale
from studies.papers.ojrank_runs import STRATEGIES, shuffled

MEMBERS, NEIGHBOURS = 25, 20


def bagged_lof(X: NDArray[np.float64], seed: int, members: int = MEMBERS) -> NDArray[np.float64]:
    """The score of every row by every member, high = rare.

    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 4)), np.full((1, 4), 9.0)])
    >>> int(np.argmax(bagged_lof(X, seed=0, members=3).sum(axis=1)))
    60
    """
    rng = np.random.default_rng([seed, 11])
    spread = X.std(axis=0)
    scaled = X / np.where(spread > 0, spread, 1.0)
    return np.column_stack([_member(scaled, rng) for _ in range(members)])


def _member(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    width = X.shape[1]
    n_columns = int(rng.integers((width + 1) // 2, max(width, (width + 1) // 2 + 1)))
    columns = rng.choice(width, n_columns, replace=False)
    detector = LocalOutlierFactor(n_neighbors=min(NEIGHBOURS, X.shape[0] - 1))
    with warnings.catch_warnings():  # some sets have more copies of a row than it has neighbours
        warnings.simplefilter("ignore", UserWarning)
        return np.log(-detector.fit(X[:, columns]).negative_outlier_factor_)


ENSEMBLES: dict[str, Callable[[NDArray[np.float64], int], ScoreSpace]] = {
    "iForest": lambda X, seed: ScoreSpace.from_isolation_forest(X, random_state=seed),
    "HS-Trees": lambda X, seed: ScoreSpace.from_half_space_trees(X, random_state=seed),
    "RS-Forest": lambda X, seed: ScoreSpace.from_rs_forest(X, random_state=seed),
    "LODA": lambda X, seed: ScoreSpace.from_loda(X, random_state=seed),
    "bagged LOF": lambda X, seed: ScoreSpace.from_scores(bagged_lof(X, seed)),
    "LODA, rescaled": lambda X, seed: rescaled(ScoreSpace.from_loda(X, random_state=seed)),
}


def rescaled(space: ScoreSpace) -> ScoreSpace:
    """The same space with its values where those of isolation forests lie, to see whether OJRank fails by the scale."""
    space.values = on_usual_scale(space.values)
    return space


@lru_cache(maxsize=1)
def space_of(data: str, seed: int, ensemble: str) -> ScoreSpace:
    """The space of a shuffled set, which all strategies share."""
    return ENSEMBLES[ensemble](shuffled(data, seed)[0], seed)


def on_ensemble(data: str, seed: int, ensemble: str, strategy: str) -> dict[str, Any]:
    """One review of as many rows as are wanted, by one strategy on one ensemble."""
    y = shuffled(data, seed)[1]
    make, own = STRATEGIES[strategy]
    order = simulate(make(space_of(data, seed, ensemble), random_state=seed, **own), y, int(y.sum())).order
    return {"precision": float(y[order].mean())}
