"""The ranking of the ensemble, never changed."""

from __future__ import annotations

from shortlist.feedback.base import State, Told
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.strategies.leaf_weights import LeafWeightRanker


class Offline(LeafWeightRanker):
    """Keeps the ensemble's own order whatever the verdicts: what learning on the job is measured against.

    >>> import numpy as np
    >>> from shortlist.feedback import ScoreSpace
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> ranker = Offline(ScoreSpace.from_isolation_forest(X, random_state=0))
    >>> ranker.tell(ranker.ask(), False)
    >>> ranker.version
    1
    """

    def _restart(self) -> None:
        pass

    def _learn(self, version: int, told: Told) -> None:
        pass

    def _contribution(self) -> Floats:
        return self.space.values

    def _state(self) -> State:
        return {}

    def _restore(self, state: State) -> None:
        pass
