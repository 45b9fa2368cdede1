"""The ranking of a stream before anything is known about which rows are wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest

from shortlist.stream.columns import StreamColumns


class ColdStart:
    """Scores rows without labels: the oddest first by an isolation forest of recent rows, or all alike.

    The forest follows from the recent rows and the seed, so that it need not be stored.
    """

    def __init__(self, method: str, seed: int) -> None:
        self.method = method
        self.seed = seed
        self._forest: IsolationForest | None = None
        self._rows_behind = -1

    def scores(self, X: NDArray, columns: StreamColumns) -> NDArray[np.float64]:
        """Scores of raw rows; zeros (ranked at random by who asks) for the method "random"."""
        if self.method == "random":
            return np.zeros(X.shape[0])
        if self._forest is None or self._rows_behind != columns.n_observed:
            forest = IsolationForest(random_state=self.seed)
            self._forest = forest.fit(columns.transform(columns.recent_rows))
            self._rows_behind = columns.n_observed
        return -self._forest.score_samples(columns.transform(X))
