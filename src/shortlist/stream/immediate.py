"""Decisions row by row: whether to look at a row now, without seeing the rest of its window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.stream.active_ranker import ActiveRanker
from shortlist.stream.saving import StateFileError, read_state, write_state
from shortlist.validation import check_budget, check_matrix, make_generator

_ROWS = ("_picks", "_filling", "_reservoir", "_scores")


class ImmediateAsker:
    """Picks at most k of every ``window_rows`` rows, each at the moment it arrives.

    With r picks left for the n rows that are still to come, a row is picked if its score reaches the
    (1 − r/n)-quantile of the scores of a reservoir: a uniform sample of the rows of the window before. The
    threshold follows what is left, so that k rows are picked, never more, and fewer where the ranker's
    ``window_labels`` or ``total_labels`` say so. In the first window, which has no reservoir yet, rows are picked at
    random.

    When a window is complete, ``asked`` has the numbers of its picks in the order they were made: tell the
    ranker their labels by them. ``save`` and ``load`` keep the asker and its ranker, also amid a window.

    >>> X = np.random.default_rng(0).normal(size=(3_000, 2))
    >>> ranker = ActiveRanker(50, kernel=None, random_state=0).partial_fit(X[:500], X[:500, 0] > 1.5)
    >>> asker = ImmediateAsker(ranker, window_rows=1_000, random_state=0)
    >>> picked = np.array([asker.offer(row) for row in X])
    >>> picked.reshape(3, 1_000).sum(axis=1)
    array([50, 50, 50])
    >>> bool(X[2_000:][picked[2_000:], 0].mean() > 1.5)
    True
    """

    def __init__(
        self, ranker: ActiveRanker, *, window_rows: int, reservoir_rows: int = 2_000, random_state: Any = None
    ) -> None:
        self.ranker = ranker
        self.window_rows = check_budget(window_rows, name="window_rows")
        self.reservoir_rows = check_budget(reservoir_rows, name="reservoir_rows")
        if ranker.k > window_rows:
            raise InvalidInputError(
                f"k is {ranker.k}, more than the {window_rows} rows of a window; use larger windows."
            )
        self.asked = np.empty(0, dtype=np.int64)
        self._rng = make_generator(random_state)
        self._seen = 0
        self._picks: list[NDArray] = []
        self._filling: list[NDArray] = []
        self._reservoir: NDArray | None = None
        self._scores: NDArray[np.float64] | None = None

    def offer(self, row: Any) -> bool:
        """Whether to look at this row now."""
        X = self.ranker._check_window(check_matrix(np.asarray(row).reshape(1, -1)).astype(np.float64))
        most = min(self.ranker.k, self.ranker.labels_left_)
        picks_left, rows_left = most - len(self._picks), self.window_rows - self._seen
        picked = picks_left > 0 and self._is_high(X, picks_left / rows_left)
        if picked:
            self._picks.append(X[0])
        self._keep(X[0])
        self._seen += 1
        if self._seen >= self.window_rows:
            self._end_window()
        return picked

    def save(self, path: str | Path) -> None:
        """Keep the asker and its ranker in one file; ``load`` goes on as if nothing had happened."""
        state = {name: getattr(self, name) for name in _ROWS} | {"seen": self._seen, "asked": self.asked}
        state |= {"window_rows": self.window_rows, "reservoir_rows": self.reservoir_rows}
        state |= {"rng": self._rng.bit_generator.state, "ranker": self.ranker.to_state()}
        write_state(Path(path), {"asker": state})

    @classmethod
    def load(cls, path: str | Path) -> ImmediateAsker:
        """Go on from a file written by ``save``, with its ``ranker``; nothing in it is executed."""
        state = read_state(Path(path)).get("asker")
        if state is None:
            raise StateFileError(
                f"{path} holds no asker; ActiveRanker.load reads the state of a ranker alone."
            )
        ranker = ActiveRanker.from_state(state["ranker"])
        asker = cls(ranker, window_rows=state["window_rows"], reservoir_rows=state["reservoir_rows"])
        for name in _ROWS:
            setattr(asker, name, state[name])
        asker._seen, asker.asked = state["seen"], state["asked"]
        asker._rng.bit_generator.state = state["rng"]
        return asker

    def _is_high(self, X: NDArray, share: float) -> bool:
        if share >= 1.0 or self._reservoir is None:
            return bool(self._rng.random() < share)
        if self._scores is None:
            self._scores = np.sort(self.ranker.decision_function(self._reservoir))
        place = min(int((1.0 - share) * self._scores.size), self._scores.size - 1)
        return bool(self.ranker.decision_function(X)[0] >= self._scores[place])

    def _keep(self, row: NDArray) -> None:
        """Reservoir sampling: each row of the window so far is in the reservoir with the same chance."""
        if len(self._filling) < self.reservoir_rows:
            self._filling.append(row)
            return
        place = int(self._rng.integers(self._seen + 1))
        if place < self.reservoir_rows:
            self._filling[place] = row

    def _end_window(self) -> None:
        self._reservoir, self._filling, self._scores = np.array(self._filling), [], None
        picks, self._seen, self._picks = self._picks, 0, []  # a window that is refused is over, too
        self.asked = np.empty(0, dtype=np.int64)
        if picks:
            self.asked = self.ranker.ask_about(np.array(picks), self._reservoir)
