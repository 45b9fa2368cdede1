"""The parameters of an evolution, checked once."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.target.breeding import (
    BEST_OF_FOUR,
    BEST_TWO_OF_FOUR,
    BETTER_CHILD,
    BOTH_CHILDREN,
    Plan,
)
from shortlist.rankers.limits import COUNT, NOT_NEGATIVE, Limit
from shortlist.rankers.target.scorecard import LEAVES
from shortlist.validation import check_jobs

ACCEPT = {
    "both_children": BOTH_CHILDREN,
    "better_child": BETTER_CHILD,
    "best_of_four": BEST_OF_FOUR,
    "best_two_of_four": BEST_TWO_OF_FOUR,
}
_SHARES = ("elitism", "crossover", "mutation", "transplant", "grown", "p_split", "p_node_swap", "p_nudge")
#: What the numbers among the parameters may be.
LIMITS = {
    **dict.fromkeys(("n_restarts", "n_estimators"), COUNT),
    "generations": Limit(0, whole=True),
    "population": Limit(2, whole=True),
    "max_leaves": Limit(2, 4096, whole=True),
    "max_bins": Limit(2, 256, whole=True),
    **dict.fromkeys(_SHARES, Limit(0, 1)),
    "min_leaf": Limit(1),
    "memory": NOT_NEGATIVE,
    "patience": Limit(1, whole=True, optional=True),
    "time_limit": Limit(0, optional=True, endless=True),
    "scorecard": Limit(2, 20, whole=True, optional=True),
}


@dataclass(frozen=True, eq=False)
class Recipe:
    """How trees are evolved, apart from the price of a leaf, which may depend on the rows."""

    plan: Plan  # with alpha 0
    alpha: float | str
    n_restarts: int
    n_trees: int
    is_scorecard: bool
    generations: int
    population: int
    max_leaves: int
    memory: float

    @property
    def min_leaf(self) -> float:
        """Fewest rows of a leaf."""
        return self.plan.min_leaf

    @property
    def total(self) -> int:
        """Generations of all populations, the first ones included."""
        return self.n_trees * self.n_restarts * (self.generations + 1)

    @classmethod
    def check(cls, ranker: Any) -> Recipe:
        """The recipe of a ranker whose numbers are within ``LIMITS``; what else makes no sense is refused."""
        check_jobs(ranker.n_jobs)
        ranker._check_callback()
        if ranker.scorecard and ranker.n_estimators > 1:
            raise InvalidInputError(
                f"scorecard={ranker.scorecard} adds trees up and n_estimators={ranker.n_estimators} averages them; "
                "choose one."
            )
        return cls(
            plan=_plan(ranker),
            alpha=_check_alpha(ranker.alpha),
            n_restarts=ranker.n_restarts,
            n_trees=ranker.scorecard or ranker.n_estimators,
            is_scorecard=bool(ranker.scorecard),
            generations=ranker.generations,
            population=ranker.population,
            max_leaves=min(ranker.max_leaves, LEAVES) if ranker.scorecard else ranker.max_leaves,
            memory=ranker.memory,
        )


def _plan(ranker: Any) -> Plan:
    """Shares as numbers of trees; what rounding leaves over becomes new random trees."""
    shares = np.array([ranker.elitism, ranker.crossover, ranker.mutation, ranker.transplant])
    if not np.isclose(shares.sum(), 1):
        raise InvalidInputError(
            f"elitism, crossover, mutation and transplant must sum to 1; they sum to {shares.sum():g}."
        )
    if not isinstance(ranker.accept, str) or ranker.accept not in ACCEPT:
        raise InvalidInputError(f"accept must be one of {', '.join(ACCEPT)}; got {ranker.accept!r}.")
    edges = np.rint(np.cumsum(shares) * ranker.population).astype(int)
    return Plan(
        n_elite=int(edges[0]),
        n_crossover=int(edges[1] - edges[0]),
        n_mutation=int(edges[2] - edges[1]),
        accept=ACCEPT[ranker.accept],
        p_split=float(ranker.p_split),
        p_node_swap=float(ranker.p_node_swap),
        mutations=np.cumsum(_check_mutations(ranker.mutations))[:3],
        min_leaf=float(ranker.min_leaf),
        alpha=0.0,
        n_grown=round(ranker.grown * ranker.population),
        p_nudge=float(ranker.p_nudge),
    )


def _check_mutations(mutations: Any) -> NDArray[np.float64]:
    try:
        shares = np.asarray(mutations, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.zeros(0)
    if shares.shape != (4,) or shares.min() < 0 or not np.isclose(shares.sum(), 1):
        raise InvalidInputError(f"mutations must be four shares that sum to 1; got {mutations!r}.")
    return shares


def _check_alpha(alpha: Any) -> float | str:
    if isinstance(alpha, str) and alpha in ("default", "cv"):
        return alpha
    if isinstance(alpha, numbers.Real) and 0 <= float(alpha) < np.inf:
        return float(alpha)
    raise InvalidInputError(f"alpha must be a number of at least 0, 'default' or 'cv'; got {alpha!r}.")
