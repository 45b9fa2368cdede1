"""A window of the stream while its labels are awaited, and the rounds in which they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

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

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

NOT_ASKED, WAITING, UNWANTED, WANTED, UNSURE = -2, -1, 0, 1, 2


@dataclass(eq=False)
class OpenWindow:
    """Rows of a window that may be asked about, best first, and what is known of them.

    A row is named by its place here: the top k come first, and the first ``n_sorted`` places are best first.
    ``positions`` says where a row stood in the window, so that its number in the stream is ``first_row +
    position``, and ``X[index]`` are its features. Of a large window only the best rows have places until more
    are needed, which is rare; ``all_scores`` are then the scores of all rows by position.
    """

    number: int
    first_row: int
    X: NDArray
    index: Rows
    positions: Rows
    scores: Floats
    verdicts: NDArray[np.int8]
    n_top: int
    n_sorted: int
    log_decay: float
    all_scores: Floats | None = None

    @property
    def size(self) -> int:
        """How many rows may be asked about."""
        return self.positions.size if self.all_scores is None else self.all_scores.size

    def rows(self, places: Rows) -> Rows:
        """The numbers in the stream of the rows at these places."""
        return self.first_row + self.positions[places]

    def features(self, places: Rows) -> NDArray:
        """The features of the rows at these places."""
        return self.X[self.index[places]]

    @property
    def n_asked(self) -> int:
        """How many labels have been asked for."""
        return int(np.count_nonzero(self.verdicts != NOT_ASKED))

    @property
    def waiting(self) -> Rows:
        """Places whose label has been asked for and not been told."""
        return np.flatnonzero(self.verdicts == WAITING)

    def find_waiting(self, rows: NDArray) -> tuple[Rows, Rows]:
        """Which of these rows wait for a label here, and their places."""
        waiting = self.waiting
        numbers = self.rows(waiting)
        if numbers.size == rows.size and bool(np.all(numbers == rows)):
            return np.arange(rows.size), waiting  # told just as they were asked for
        if numbers.size == 0:
            return np.empty(0, dtype=np.int64), waiting
        order = np.argsort(numbers)
        nearest = order[np.minimum(np.searchsorted(numbers[order], rows), numbers.size - 1)]
        mine = np.flatnonzero(numbers[nearest] == rows)
        return mine, waiting[nearest[mine]]

    @property
    def false_positives(self) -> Rows:
        """Places in the top k that turned out unwanted."""
        return np.flatnonzero(self.verdicts[: self.n_top] == UNWANTED)

    @property
    def found_below(self) -> Rows:
        """Places below the top k that turned out wanted, best first."""
        found = self.n_top + np.flatnonzero(self.verdicts[self.n_top :] == WANTED)
        return found[np.argsort(-self.scores[found], kind="stable")]

    def sort_up_to(self, place: int) -> None:
        """Bring the places before this one into order; most windows never need more than the first ones."""
        if place > self.n_sorted:
            self.place_all()
            rest = slice(self.n_sorted, None)
            order = self.n_sorted + np.argsort(-self.scores[rest], kind="stable")
            for name in ("index", "positions", "scores"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values[: self.n_sorted], values[order]]))
            self.n_sorted = self.positions.size

    def place_all(self) -> None:
        """Give every row a place, after the best ones as they stand in the window."""
        if self.all_scores is None:
            return
        rest = others(self.all_scores.size, self.positions)
        self.positions = self.index = np.concatenate([self.positions, rest])
        self.scores = np.concatenate([self.scores, self.all_scores[rest]])
        self.verdicts = np.concatenate([self.verdicts, np.full(rest.size, NOT_ASKED, dtype=np.int8)])
        self.all_scores = None

    def answer_all(self, wanted: NDArray[np.bool_]) -> None:
        """Take the labels of the whole window, by position; of those below the top k as many as are needed."""
        self.verdicts = np.where(wanted[self.positions], WANTED, UNWANTED).astype(np.int8)
        if self.found_below.size < self.false_positives.size and self.n_sorted < self.size:
            self.sort_up_to(self.size)
            self.verdicts = np.where(wanted[self.positions], WANTED, UNWANTED).astype(np.int8)

    @property
    def n_below(self) -> int:
        """How many labels have been asked for below the top k."""
        return self.n_asked - self.n_top

    def top_hits(self) -> tuple[int, int]:
        """How many rows of the top k are known to be wanted, and how many are known at all."""
        known = self.verdicts[: self.n_top]
        hits = int(np.count_nonzero(known == WANTED))
        return hits, hits + int(np.count_nonzero(known == UNWANTED))

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later, as arrays and plain values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


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
        if self.one_round or window.false_positives.size == 0 or left <= 0:
            return False
        return (
            self._next_in_order(window, left).size > 0 if self.scheme == "sequential" else not window.n_below
        )

    def next_round(self, window: OpenWindow, left: float, rng: np.random.Generator) -> Rows:
        """Places to ask about next, given the labels so far; empty: the window has all it needs."""
        if not self.may_go_on(window, left):
            return np.empty(0, dtype=np.int64)
        if self.scheme == "sequential":
            return self._next_in_order(window, left)
        return self._draw_once(window, left, rng)

    def _next_in_order(self, window: OpenWindow, left: float) -> Rows:
        # To find r more wanted rows takes at least r queries, so asking for r at a time never asks too much.
        still_missing = window.false_positives.size - window.found_below.size
        left_here = np.inf if self.extra_labels is None else self.extra_labels - window.n_below
        start = window.n_top + window.n_below
        count = max(0, min(still_missing, left_here, left, window.size - start))
        window.sort_up_to(start + int(count))
        return np.arange(start, start + int(count))

    def _draw_once(self, window: OpenWindow, left: float, rng: np.random.Generator) -> Rows:
        window.place_all()
        scores = window.scores[window.n_top :]
        missed = window.false_positives.size
        expected = min(missed if self.extra_labels is None else self.extra_labels, scores.size)
        weights = closeness(scores, window.scores[window.n_top - 1], self.scheme)
        hard = self.extra_labels is not None or left < np.inf
        draw = draw_exactly if hard else draw_each
        return window.n_top + draw(query_probabilities(weights, min(expected, left)), rng)
