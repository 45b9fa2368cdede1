"""A small set with two rare clusters, one wanted, and every strategy on it."""

from __future__ import annotations

import numpy as np
import pytest

from shortlist.feedback import AAD, OMD, LeafSimilarity, Offline, OJRank, ScoreSpace

STRATEGIES = {
    "ojrank": lambda space: OJRank(space, random_state=3),
    "ojrank-mo": lambda space: OJRank(space, mistakes_only=True, random_state=3),
    "ojrank-all": lambda space: OJRank(space, all_coordinates=True, random_state=3),
    "aad": lambda space: AAD(space, random_state=3),
    "aad-paper": lambda space: AAD(space, form="paper", random_state=3),
    "omd": lambda space: OMD(space, random_state=3),
    "ojrank-released": lambda space: OJRank(
        space, optimizer="released", cap_targets=False, history="all", random_state=3
    ),
    "omd-llh-total": lambda space: OMD(space, loss="log-likelihood", likelihood="total", random_state=3),
    "omd-llh": lambda space: OMD(space, loss="log-likelihood", random_state=3),
    "omd-logistic": lambda space: OMD(space, loss="logistic", random_state=3),
    "leaf": lambda space: LeafSimilarity(space, kernel="leaf", random_state=3),
    "ancestor": lambda space: LeafSimilarity(space, kernel="ancestor", random_state=3),
    "leaf, settling": lambda space: LeafSimilarity(space, kernel="leaf", window=6, random_state=3),
    "ancestor, settling": lambda space: LeafSimilarity(space, kernel="ancestor", window=6, random_state=3),
    "offline": lambda space: Offline(space, random_state=3),
}


def make_rows(n=300, seed=0):
    """Rows of one large cluster and two rare ones; the first of these is wanted."""
    rng = np.random.default_rng(seed)
    rare = max(2, n // 20)
    X = np.concatenate(
        [
            rng.normal(size=(n - 2 * rare, 3)),
            rng.normal((3, 3, 0), 0.3, size=(rare, 3)),
            rng.normal((-3, 0, 3), 0.3, size=(rare, 3)),
        ]
    )
    wanted = np.zeros(n, dtype=bool)
    wanted[n - 2 * rare : n - rare] = True
    order = rng.permutation(n)
    return X[order], wanted[order]


def make_space(n=300, n_trees=20, **settings):
    return ScoreSpace.from_isolation_forest(make_rows(n)[0], n_trees=n_trees, random_state=1, **settings)


@pytest.fixture
def space():
    return make_space()


@pytest.fixture
def wanted():
    return make_rows()[1]


@pytest.fixture(params=STRATEGIES)
def make(request):
    """One strategy after the other: a function from a space to a ranker."""
    return STRATEGIES[request.param]


def play(ranker, wanted, n):
    """Review the top row n times."""
    for _ in range(n):
        row = ranker.ask()
        ranker.tell(row, bool(wanted[row]))


def same(one, other):
    """Whether two rankers rank and score every row with the same bits."""
    rankings = np.array_equal(one.ranking(), other.ranking())
    return rankings and np.array_equal(one.scores(), other.scores())
