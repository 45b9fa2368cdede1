"""Decisions row by row: whether to look at a row now, without seeing the rest of its window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.stream.active_ranker import ActiveRanker
from shortlist.validation import check_budget


class ImmediateAsker:
    """Picks at most k of every ``window_rows`` rows, each at the moment it arrives.

    With r picks left for the n rows that are still to come, a row is picked if its score reaches the
    (1 − r/n)-quantile of the scores of a reservoir: a uniform sample of the rows of the window before. The
    threshold follows what is left, so that close to k rows are picked, never more. The first window fills the
    reservoir: its rows are picked at random, k on average of what remains.

    Picked rows are asked about: tell their labels to the ranker, by the number that ``offer`` gave. At the end
    of a window the ranker sees its reservoir, for scales of columns and as rows without a label.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3_000, 2))
    >>> ranker = ActiveRanker(50, kernel=None, random_state=0).partial_fit(X[:500], X[:500, 0] > 1.5)
    >>> asker = ImmediateAsker(ranker, window_rows=1_000, random_state=0)
    >>> picked = [asker.offer(row) is not None for row in X]
    >>> [int(sum(picked[i : i + 1_000])) for i in (0, 1_000, 2_000)]
    [50, 50, 50]
    """

    def __init__(
        self, ranker: ActiveRanker, *, window_rows: int, reservoir_rows: int = 2_000, random_state: Any = None
    ) -> None:
        self.ranker = ranker
        self.window_rows = check_budget(window_rows, name="window_rows")
        if ranker.k > window_rows:
            raise InvalidInputError(
                f"k is {ranker.k}, more than the {window_rows} rows of a window; use larger windows."
            )
        self.reservoir_rows = check_budget(reservoir_rows, name="reservoir_rows")
        self._rng = np.random.default_rng(random_state)
        self._seen = self._picked = 0
        self._filling: list[NDArray] = []
        self._scores: NDArray[np.float64] | None = None
        self._labels_behind = -1
        self._reservoir: NDArray | None = None

    def offer(self, row: Any) -> int | None:
        """The number under which a picked row's label is to be told; None: let the row pass."""
        X = self.ranker._check_window(np.asarray(row, dtype=np.float64).reshape(1, -1))
        picks_left, rows_left = self.ranker.k - self._picked, self.window_rows - self._seen
        chosen = picks_left > 0 and self._is_high(X, picks_left / rows_left)
        self._keep(X[0])
        self._seen += 1
        self._picked += chosen
        number = self.ranker.ask_about(X) if chosen else None
        if self._seen == self.window_rows:
            self._next_window()
        return number

    def _is_high(self, X: NDArray, share: float) -> bool:
        if share >= 1.0:
            return True
        if self._reservoir is None:
            return bool(self._rng.random() < share)
        if self._scores is None or self._labels_behind != self.ranker.labels_told_:
            self._scores = np.sort(self.ranker.decision_function(self._reservoir))
            self._labels_behind = self.ranker.labels_told_
        threshold = np.quantile(self._scores, 1.0 - share)
        return bool(self.ranker.decision_function(X)[0] >= threshold)

    def _keep(self, row: NDArray) -> None:
        """Reservoir sampling: each row of the window so far is in the reservoir with the same chance."""
        if len(self._filling) < self.reservoir_rows:
            self._filling.append(row)
            return
        place = int(self._rng.integers(self._seen + 1))
        if place < self.reservoir_rows:
            self._filling[place] = row

    def _next_window(self) -> None:
        self._reservoir, self._filling = np.array(self._filling), []
        self._scores = None
        self._seen = self._picked = 0
