"""Which labels a window is asked for: at once, or in rounds that depend on the answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.query_rules import (
    Scheme,
    closeness,
    draw_each,
    draw_exactly,
    nth_others,
    others,
    query_probabilities,
    top_positions,
)
from shortlist.stream.window import OpenWindow

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QueryPlan:
    """How many labels a window may cost and which rows beyond the top k they go to."""

    k: int
    scheme: Scheme
    extra_labels: int | None  # None: as many as there are unwanted rows in the top k
    explore: float  # share of the extra labels that is spread evenly over the window
    one_round: bool  # ask for all labels at once, before any is known
    decay: float
    cold_start: str

    def first_round(
        self, scores: Floats, limit: float, rng: np.random.Generator, *, explore_only: bool = False
    ) -> tuple[Rows, int]:
        """Positions to ask about at once, best first, and how many of them are the top k."""
        n_top = int(min(self.k, limit, scores.size))
        extra = int(min(self.extra_labels or 0, limit - n_top, scores.size - n_top)) if self.one_round else 0
        if extra == 0:
            return top_positions(scores, n_top, rng), n_top
        spread = extra if explore_only else round(extra * self.explore)
        in_order = self.scheme == "sequential"
        chosen = top_positions(scores, n_top + (extra - spread if in_order else 0), rng)
        if not in_order:
            rest = others(scores.size, chosen)
            weights = closeness(scores[rest], scores[chosen[-1]], self.scheme)
            drawn = rest[draw_exactly(query_probabilities(weights, extra - spread), rng)]
            chosen = np.concatenate([chosen, drawn[np.argsort(-scores[drawn], kind="stable")]])
        drawn = rng.choice(scores.size - chosen.size, spread, replace=False)
        return np.concatenate([chosen, np.sort(nth_others(chosen, drawn))]), n_top

    def may_go_on(self, window: OpenWindow, left: float) -> bool:
        """Whether a window whose labels are in may need more."""
        if self.one_round or left <= 0:
            return False
        if self.scheme == "sequential":
            return self._n_in_order(window, left) > 0
        return window.n_missing > 0 and not window.n_below

    def next_round(self, window: OpenWindow, left: float, rng: np.random.Generator) -> Rows:
        """Places to ask about next, given the labels so far; empty: the window has all it needs."""
        if self.scheme == "sequential" and not self.one_round:
            start, count = window.n_asked, self._n_in_order(window, left)
            window.sort_up_to(start + count)
            return np.arange(start, start + count)
        return self._draw_once(window, left, rng) if self.may_go_on(window, left) else np.arange(0)

    def _n_in_order(self, window: OpenWindow, left: float) -> int:
        # To find r more wanted rows takes at least r queries, so asking for r at a time never asks too much.
        missing = window.n_missing
        if missing <= 0:
            return 0
        asked = window.n_asked
        left_here = left if self.extra_labels is None else self.extra_labels - (asked - window.n_top)
        return int(max(0, min(missing, left_here, left, window.size - asked)))

    def _draw_once(self, window: OpenWindow, left: float, rng: np.random.Generator) -> Rows:
        window.place_all()
        scores = window.scores[window.n_top :]
        missed = window.false_positives.size
        expected = min(missed if self.extra_labels is None else self.extra_labels, scores.size)
        weights = closeness(scores, window.scores[window.n_top - 1], self.scheme)
        hard = self.extra_labels is not None or left < np.inf
        draw = draw_exactly if hard else draw_each
        return window.n_top + draw(query_probabilities(weights, min(expected, left)), rng)
