"""Which labels a window is asked for: at once, or in rounds that depend on the answers; and how rows are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.sorting import kth_largest
from shortlist.stream.window import OpenWindow, others

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Scheme = Literal["sequential", "exponential", "inverse", "uniform"]

SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

#: Keeps the closeness of the row right at the margin finite under the inverse scheme.
_INVERSE_OFFSET = 0.01
#: Rows further off than this share of the closest one's weight are alike: nothing may underflow to "never".
_SMALLEST_CLOSENESS = 1e-200
#: Every so manieth score tells where the top of a large window begins.
_SAMPLE_STEP = 16


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
    #: Whether misses of the cold start make it count for less; streams of before go on as they began.
    doubts: bool = False

    def first_round(
        self,
        scores: Floats,
        limit: float,
        rng: np.random.Generator,
        *,
        explore_only: bool = False,
        spread_top: bool = False,
    ) -> tuple[Rows, int]:
        """Positions to ask about at once, best first, and how many of them are the top k.

        ``explore_only``: all extra labels are spread over the window; ``spread_top``: so is half of the top k.
        """
        n_top = int(min(self.k, limit, scores.size))
        extra = int(min(self.extra_labels or 0, limit - n_top, scores.size - n_top)) if self.one_round else 0
        n_led = n_top - n_top // 2 if spread_top else n_top
        if extra + n_top - n_led == 0:
            return top_positions(scores, n_top, rng), n_top
        near = 0 if explore_only else extra - round(extra * self.explore)
        in_order = self.scheme == "sequential"
        chosen = top_positions(scores, n_led + (near if in_order else 0), rng)
        if not in_order:
            rest = others(scores.size, chosen)
            weights = closeness(scores[rest], scores[chosen[-1]], self.scheme)
            drawn = rest[draw_exactly(query_probabilities(weights, near), rng)]
            chosen = np.concatenate([chosen, drawn[np.argsort(-scores[drawn], kind="stable")]])
        drawn = rng.choice(scores.size - chosen.size, n_top + extra - chosen.size, replace=False)
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


def check_scheme(scheme: str) -> Scheme:
    """Refuse a scheme that does not exist."""
    for known in SCHEMES:
        if scheme == known:
            return known
    raise InvalidInputError(f"scheme {scheme!r} does not exist; choose one of {', '.join(SCHEMES)}.")


def closeness(scores: Floats, margin: float, scheme: Scheme) -> Floats:
    """How much a row deserves a query, by its distance below the margin: the score of the row ranked k.

    With m = margin − score and τ = sd(score): ``exponential`` exp(−m/τ), ``inverse`` 1/(m/τ + 0.01), and
    ``uniform`` 1. Dividing by τ is not in the paper; without it the schemes depend on the scale of w.

    >>> closeness(np.array([2.0, 0.0]), 2.0, "exponential").round(3)
    array([1.   , 0.135])
    """
    if scheme == "uniform":
        return np.ones(scores.size)
    spread = scores.std() if scores.size else 0.0
    distance = np.maximum(margin - scores, 0.0) / (spread if spread > 0 else 1.0)
    return np.exp(-distance) if scheme == "exponential" else 1.0 / (distance + _INVERSE_OFFSET)


def query_probabilities(weights: Floats, expected: float) -> Floats:
    """P = min(1, c·weights) with the constant c for which Σ p is the expected number of queries.

    With the weights sorted from the largest, the j largest have p = 1 where j is the first for which
    c = (expected − j) / (sum of the others) keeps the next one below 1.

    >>> query_probabilities(np.array([8.0, 1.0, 1.0]), expected=2)
    array([1. , 0.5, 0.5])
    """
    if expected <= 0 or weights.size == 0:
        return np.zeros(weights.size)
    if expected >= weights.size:
        return np.ones(weights.size)
    weights = np.maximum(weights, weights.max() * _SMALLEST_CLOSENESS)
    split = weights.size - int(np.ceil(expected))
    parted = np.partition(weights, split)
    largest = np.sort(parted[split:])[::-1]
    # Added up from the smallest, so that nothing cancels.
    sum_of_others = parted[:split].sum() + np.cumsum(largest[::-1])[::-1]
    factor = (expected - np.arange(largest.size)) / sum_of_others
    below_one = factor * largest <= 1.0
    certain = int(np.argmax(below_one)) if below_one.any() else largest.size - 1
    return np.minimum(1.0, factor[certain] * weights)


def draw_each(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Query each row independently with its probability, as in the paper; Σ p queries on average."""
    return np.flatnonzero(rng.random(probabilities.size) < probabilities)


def draw_exactly(probabilities: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Query each row with its probability, yet always Σ p rows (a whole number): for hard budgets.

    Systematic sampling over a random order of the rows: a comb of unit steps with a random start picks the
    rows in whose share of the cumulated probabilities a tooth falls.

    >>> draw_exactly(np.full(10, 0.3), np.random.default_rng(0)).size
    3
    """
    count = round(float(probabilities.sum()))
    order = rng.permutation(probabilities.size)
    ends = np.cumsum(probabilities[order])
    teeth = rng.random() + np.arange(count)
    places = np.searchsorted(ends, teeth, side="right")
    # The cumulated sum may end a rounding error short of the last tooth.
    return np.sort(order[np.unique(np.minimum(places, probabilities.size - 1))])


def top_positions(scores: Floats, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Positions of the highest scores, highest first; equal scores in random order.

    Partial selection: a full sort of a large window would cost more than scoring it.

    >>> top_positions(np.array([0.2, 0.9, 0.5]), 2, np.random.default_rng(0))
    array([1, 2])
    """
    count = min(count, scores.size)
    if count == 0:
        return np.empty(0, dtype=np.int64)
    near = _likely_top(scores, count)
    values = scores if near is None else scores[near]
    threshold = kth_largest(values, count)
    chosen = (values >= threshold).nonzero()[0]
    chosen = chosen if near is None else near[chosen]
    if chosen.size > count:
        tied = scores[chosen] == threshold
        above = chosen[~tied]
        chosen = np.concatenate([above, rng.permutation(chosen[tied])[: count - above.size]])
    return chosen[ranked_positions(scores[chosen], rng)]


def _likely_top(scores: Floats, count: int) -> NDArray[np.int64] | None:
    """Positions that hold the highest scores: those above a quantile of every sixteenth one; None: all may."""
    sample = scores[::_SAMPLE_STEP]
    low = int(1.25 * count / _SAMPLE_STEP) + 10
    if low < sample.size // 4:
        near = (scores >= kth_largest(sample, low)).nonzero()[0]
        if near.size >= count:
            return near
    return None


def ranked_positions(scores: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """All positions, highest score first; equal scores in random order."""
    order = (-scores).argsort()
    in_order = scores[order]
    if (in_order[1:] == in_order[:-1]).any():
        return np.lexsort((rng.random(scores.size), -scores))
    return order


def nth_others(chosen: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """``others(size, chosen)[numbers]``, without going through all positions.

    >>> nth_others(np.array([2, 0]), np.array([0, 1, 2]))
    array([1, 3, 4])
    """
    in_order = np.sort(chosen)
    # Before the j-th chosen position lie so many that are not chosen.
    free_before = in_order - np.arange(in_order.size)
    return numbers + np.searchsorted(free_before, numbers, side="right")
