"""The strategies by name, for commands and settings; plug-ins of other packages add theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import FeedbackRanker
from shortlist.feedback.simulate import Simulation, simulate
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.aad import AAD
from shortlist.feedback.strategies.leaf_similarity import LeafSimilarity
from shortlist.feedback.strategies.offline import Offline
from shortlist.feedback.strategies.ojrank import OJRank
from shortlist.feedback.strategies.omd import OMD
from shortlist.plugins import Catalogue


@dataclass(frozen=True)
class Strategy:
    """How a verdict changes the ranking, how deep the trees it likes best are, and whether only a forest will do."""

    make: Callable[..., FeedbackRanker]
    summary: str
    max_depth: int | None = 8
    needs_forest: bool = False  # learns path lengths, which boosted trees do not have


_OWN = {
    "similarity": Strategy(LeafSimilarity, "kernel regression on how alike rows are; the default"),
    "ojrank": Strategy(OJRank, "pairwise, moves the leaves of the reviewed row"),
    "ojr-mo": Strategy(partial(OJRank, mistakes_only=True), "the same, learns from rows not wanted only"),
    "ojr-all": Strategy(
        partial(OJRank, all_coordinates=True, history="all"),
        "the same, pairs with all rows that were reviewed",
    ),
    "ojr-released": Strategy(
        partial(OJRank, optimizer="released", cap_targets=False), "the same, as in its authors' code"
    ),
    "aad": Strategy(AAD, "wanted rows above a quantile, the others below"),
    "omd": Strategy(OMD, "path lengths by mirror descent, linear loss", None, needs_forest=True),
    "omd-llh": Strategy(
        partial(OMD, loss="log-likelihood"), "the same, log-likelihood", None, needs_forest=True
    ),
    "omd-llh-total": Strategy(
        partial(OMD, loss="log-likelihood", likelihood="total"),
        "the same, likelihood of total path lengths as its authors have it",
        None,
        needs_forest=True,
    ),
    "omd-logistic": Strategy(
        partial(OMD, loss="logistic"), "the same, logistic loss", None, needs_forest=True
    ),
    "offline": Strategy(Offline, "never learns: the ensemble's own order"),
}
#: Ours first, then those of the entry points in the group ``shortlist.strategies``.
STRATEGIES: Catalogue[Strategy] = Catalogue("shortlist.strategies", Strategy, _OWN, reserved=("list",))
DEFAULT_STRATEGY = "similarity"


def find_strategy(name: str) -> Strategy:
    """A strategy by its name."""
    if name not in STRATEGIES:
        raise InvalidInputError(f"there is no strategy {name!r}; there are {', '.join(STRATEGIES)}.")
    return STRATEGIES[name]


def make_strategy(name: str, space: ScoreSpace, random_state: int | None = 0) -> FeedbackRanker:
    """A ranker of this strategy on a space."""
    return find_strategy(name).make(space, random_state=random_state)


def compare(
    X: Any,
    wanted: ArrayLike,
    budget: int,
    strategies: Sequence[str],
    *,
    n_trees: int = 100,
    random_state: int = 0,
) -> dict[str, Simulation]:
    """Play the same review with several strategies, all on isolation forests of one seed.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> played = compare(X, np.arange(520) >= 500, 20, ["similarity", "offline"])
    >>> {name: int(simulation.hits[-1]) for name, simulation in played.items()}
    {'similarity': 19, 'offline': 9}
    """
    chosen = {name: find_strategy(name) for name in strategies}
    spaces: dict[int | None, ScoreSpace] = {}
    played = {}
    for name, strategy in chosen.items():
        depth = strategy.max_depth
        if depth not in spaces:
            spaces[depth] = ScoreSpace.from_isolation_forest(
                X, n_trees=n_trees, max_depth=depth, random_state=random_state
            )
        played[name] = simulate(strategy.make(spaces[depth], random_state=random_state), wanted, budget)
    return played
