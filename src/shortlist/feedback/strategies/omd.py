"""OMD: online mirror descent on the nodes of an isolation forest."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.base import State, Told
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.isolation import expected_path_length
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_weights import LeafWeightRanker


class OMD(LeafWeightRanker):
    """Shortens the paths of wanted rows and lengthens those of others, node by node.

    Every node j has a weight w_j = max(0, θ_j), at first its share of the path length: 1 at inner nodes, c(count) at
    leaves. A row's path length is the sum of w over the nodes on its way in all trees, its score the negative mean.
    A verdict y = ±1 (wanted +1) on row u changes all nodes on u's ways ::

        θ_j ← θ_j - η·y·size_j·g_j          size = 1 at inner nodes, the sampled rows in it at leaves

    ``loss="linear"``: g = 1. ``"log-likelihood"``: g = 1 - mass_j, with mass_j the sum of softmax(score) over the
    rows in the node, so that nodes which hold all likely rows do not move. ``"logistic"``: g is the chance
    that the verdict comes as a surprise, 1 / (1 + exp(y·(s_u - top s))). Scores are high = wanted here and the other
    way round in the paper. ``likelihood="total"`` takes the softmax of the negative *sum* of path lengths, as the
    authors do, and not of their mean: nearly all mass then lies on the first few rows.

    Made for trees of unlimited depth: ``ScoreSpace.from_isolation_forest(X, max_depth=None)``.

    References
    ----------
    M. A. Siddiqui et al., "Feedback-Guided Anomaly Discovery via Online Optimization", KDD 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(500, 3)), rng.normal(3, 0.3, size=(20, 3))])
    >>> ranker = OMD(ScoreSpace.from_isolation_forest(X, max_depth=None, random_state=0))
    >>> for _ in range(20):
    ...     row = ranker.ask()
    ...     ranker.tell(row, row >= 500)
    >>> ranker.hits
    20
    """

    settings = ("loss", "learning_rate", "likelihood")

    def __init__(
        self,
        space: ScoreSpace,
        *,
        loss: Literal["linear", "log-likelihood", "logistic"] = "linear",
        learning_rate: float = 1.0,
        likelihood: Literal["mean", "total"] = "mean",
        random_state: int | None = 0,
    ) -> None:
        if loss not in ("linear", "log-likelihood", "logistic"):
            raise InvalidInputError(f"loss must be 'linear', 'log-likelihood' or 'logistic'; got {loss!r}.")
        if likelihood not in ("mean", "total"):
            raise InvalidInputError(f"likelihood must be 'mean' or 'total'; got {likelihood!r}.")
        if space.leaf_counts is None:
            raise InvalidInputError(
                "OMD learns path lengths, which only isolation forests have: make the space with "
                "ScoreSpace.from_isolation_forest(X, max_depth=None), or take LeafSimilarity or OJRank."
            )
        if loss == "log-likelihood":
            space.check_here("OMD with the log-likelihood", "loss='linear' or 'logistic'")
        self.loss = loss
        self.learning_rate = learning_rate
        self.likelihood = likelihood
        self._size = np.ones(space.forest.feature.size)
        self._size[space.forest.leaf_nodes] = space.leaf_counts
        super().__init__(space, random_state=random_state)

    def _restart(self) -> None:
        assert self.space.leaf_counts is not None
        self._theta = np.ones(self._size.size)
        self._theta[self.space.forest.leaf_nodes] = expected_path_length(self.space.leaf_counts)

    def _contribution(self) -> Floats:
        lengths = self.space.forest.sum_along_paths(np.maximum(self._theta, 0))
        return -lengths / self.space.n_members

    def _state(self) -> State:
        return {"theta": self._theta.copy()}

    def _restore(self, state: State) -> None:
        self._theta = state["theta"].copy()

    def _learn(self, version: int, told: Told) -> None:
        nodes = self.space.forest.nodes_above(self.space.leaves([told.row])[0])
        sign = 1.0 if told.wanted else -1.0
        gain = self._gain(nodes, told, sign)
        self._theta[nodes] -= self.learning_rate * sign * self._size[nodes] * gain

    def _gain(self, nodes: Integers, told: Told, sign: float) -> Floats | float:
        if self.loss == "linear":
            return 1.0
        if self.loss == "logistic":
            top = self._scores_of(self._ranked().extremes(told.n_rows))[1]
            return float(1 / (1 + np.exp(sign * (self.scores([told.row])[0] - top))))
        score = self.scores()[: told.n_rows]
        steepness = self.space.n_members if self.likelihood == "total" else 1
        likely = np.exp(steepness * (score - score.max()))
        mass = self.space.forest.sum_up(self.space.leaf_sums(likely / likely.sum()))
        return 1 - mass[nodes]
