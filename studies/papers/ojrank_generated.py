"""Clustered sets by the OJRank paper's recipe: two classes become rare, one of them wanted, the others are nominal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from shortlist.feedback import ScoreSpace, simulate
from studies.papers.ojrank_runs import STRATEGIES

#: Classes that stay as they are where there are many.
NOMINAL = 3


class Clustered(NamedTuple):
    """Rows of a multi-class set that were taken, which of them are wanted, and which are rare and not wanted."""

    rows: NDArray[np.int64]
    wanted: NDArray[np.bool_]
    rare: NDArray[np.bool_]


def clustered(classes: NDArray, size: int, seed: int) -> Clustered:
    """Draw two classes and ``size`` rows of each, and all rows of at most three others; in random order.

    >>> found = clustered(np.repeat(np.arange(6), 100), 20, seed=0)
    >>> found.rows.size, int(found.wanted.sum()), int(found.rare.sum())
    (340, 20, 20)
    """
    rng = np.random.default_rng(seed)
    first, second, *others = rng.permutation(np.unique(classes))
    drawn = [rng.permutation(np.flatnonzero(classes == each))[:size] for each in (first, second)]
    nominal = np.flatnonzero(np.isin(classes, others[:NOMINAL]))
    rows = rng.permutation(np.concatenate([*drawn, nominal]))
    return Clustered(rows, np.isin(rows, drawn[0]), np.isin(rows, drawn[1]))


def on_generated(seed: int, strategy: str, size: int) -> dict[str, Any]:
    """One review of a set made of scikit-learn's digits: precision, and how often the rare rows were shown."""
    digits = load_digits()
    made = clustered(digits.target, size, seed)
    space = ScoreSpace.from_isolation_forest(digits.data[made.rows], max_depth=8, random_state=seed)
    make, own = STRATEGIES[strategy]
    order = simulate(make(space, random_state=seed, **own), made.wanted, size).order
    return {"precision": float(made.wanted[order].mean()), "rare": float(made.rare[order].mean())}
