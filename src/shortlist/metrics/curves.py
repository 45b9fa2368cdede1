"""Curves along the ranking, each with a bootstrap interval.

With one list the rows are drawn anew, with several the lists are: lists are what the future brings more of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Groups, Lists
from shortlist.metrics.checks import check_labelled
from shortlist.metrics.cost import Act, Cost, act_probability, check_savable, row_costs
from shortlist.metrics.ties import Floats, share_ties, tie_starts
from shortlist.validation import check_budget, check_groups, check_impact, check_score, make_generator

Seed = int | np.random.Generator | np.random.RandomState | None

#: Numerator and denominator by rank of one list, given its gains and scores in ranked order.
_Ratio = Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Curve:
    """A measure along the ranking: ``value[i]`` at rank (or budget) ``rank[i]``, with its interval."""

    name: str
    rank: NDArray[np.int64]
    value: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True)
class _Bootstrap:
    """How the interval is made."""

    n_bootstrap: int
    level: float
    random_state: Seed

    def __post_init__(self) -> None:
        check_budget(self.n_bootstrap, name="n_bootstrap")
        if not 0 < self.level < 1:
            raise InvalidInputError(f"level must lie between 0 and 1, such as 0.95; got {self.level!r}.")


def hits_by_rank(
    y: ArrayLike,
    score: ArrayLike,
    *,
    max_rank: int | None = None,
    groups: Groups | None = None,
    n_bootstrap: int = 200,
    level: float = 0.95,
    random_state: Seed = 0,
) -> Curve:
    """Wanted rows among the first r, for r = 1 ... max_rank (None: 100 or all); with lists, their mean.

    >>> hits_by_rank([1, 0, 1, 0], [4, 3, 2, 1]).value
    array([1., 1., 2., 2.])
    """
    bootstrap = _Bootstrap(n_bootstrap, level, random_state)
    return _hit_curve("hits", y, score, max_rank, groups, bootstrap, lambda hits, looked_at: hits)


def precision_by_rank(
    y: ArrayLike,
    score: ArrayLike,
    *,
    max_rank: int | None = None,
    groups: Groups | None = None,
    n_bootstrap: int = 200,
    level: float = 0.95,
    random_state: Seed = 0,
) -> Curve:
    """``precision_at_k`` for k = 1 ... max_rank (None: 100 or all).

    >>> precision_by_rank([1, 0, 1, 0], [4, 3, 2, 1]).value
    array([1.        , 0.5       , 0.66666667, 0.5       ])
    """
    bootstrap = _Bootstrap(n_bootstrap, level, random_state)
    return _hit_curve("precision", y, score, max_rank, groups, bootstrap, np.divide)


def cost_saved_by_k(
    y: ArrayLike,
    score: ArrayLike,
    *,
    max_k: int | None = None,
    groups: Groups | None = None,
    cost: Cost = None,
    act: Act = "linear",
    n_bootstrap: int = 200,
    level: float = 0.95,
    random_state: Seed = 0,
) -> Curve:
    """``cost_saved_at_k`` for k = 1 ... max_k (None: 100 or all), pooled over lists by cost.

    >>> cost_saved_by_k([70, 50, 0], [1, 3, 2], act="top-k").value
    array([0.71428571, 0.41666667, 1.        ])
    """
    bootstrap = _Bootstrap(n_bootstrap, level, random_state)
    impact = check_impact(y)
    score = check_score(score, impact.size)
    lists, ranks = check_groups(groups, impact.size), _ranks(impact.size, max_k, groups, "max_k")
    acts = np.array([act_probability(ranks, k, act) for k in ranks])
    costs = row_costs(impact, cost)
    check_savable(costs)

    def ratio(gains: Floats, score: Floats) -> tuple[Floats, Floats]:
        best = _by_rank(-np.sort(-gains), np.arange(gains.size, dtype=np.float64), ranks.size)
        return acts @ _by_rank(gains, score, ranks.size), acts @ best

    return _curve("cost saved", ranks, costs, score, lists, ratio, bootstrap)


def _hit_curve(
    name: str,
    y: ArrayLike,
    score: ArrayLike,
    max_rank: int | None,
    groups: Groups | None,
    bootstrap: _Bootstrap,
    measure: Callable[[Floats, NDArray[np.int64]], Floats],
) -> Curve:
    """A measure of the wanted rows among the first r of a list, and of how many rows these are."""
    wanted, score = check_labelled(y, score)
    lists, ranks = check_groups(groups, wanted.size), _ranks(wanted.size, max_rank, groups)

    def ratio(gains: Floats, score: Floats) -> tuple[Floats, Floats]:
        hits = np.cumsum(_by_rank(gains, score, ranks.size))
        return measure(hits, np.minimum(ranks, gains.size)), np.ones(ranks.size)

    return _curve(name, ranks, wanted.astype(np.float64), score, lists, ratio, bootstrap)


def _ranks(n_rows: int, most: int | None, groups: Groups | None, name: str = "max_rank") -> NDArray[np.int64]:
    if most is None:
        most = min(n_rows, 100)
    return np.arange(1, check_budget(most, n_rows if groups is None else None, name=name) + 1)


def _by_rank(gains: Floats, score: Floats, n: int) -> Floats:
    """The expected gain at ranks 1 to n of a ranked list; 0 beyond its end."""
    expected = share_ties(gains, tie_starts(score), "average")[:n]
    return np.pad(expected, (0, n - expected.size))


def _curve(
    name: str,
    ranks: NDArray[np.int64],
    gains: Floats,
    score: Floats,
    lists: Lists,
    ratio: _Ratio,
    bootstrap: _Bootstrap,
) -> Curve:
    ranked = [rows[np.argsort(-score[rows], kind="stable")] for rows in lists]
    tops, bottoms = _stack([ratio(gains[rows], score[rows]) for rows in ranked])
    rng = make_generator(bootstrap.random_state)
    if len(ranked) > 1:
        draws = rng.multinomial(len(ranked), np.full(len(ranked), 1 / len(ranked)), bootstrap.n_bootstrap)
        redrawn = _divide(draws @ tops, draws @ bottoms)
    else:
        redrawn = _redraw_rows(gains[ranked[0]], score[ranked[0]], ratio, bootstrap.n_bootstrap, rng)
    tail = (1 - bootstrap.level) / 2
    low, high = np.nanquantile(redrawn, [tail, 1 - tail], axis=0)
    value = _divide(tops.sum(axis=0), bottoms.sum(axis=0))
    return Curve(name, ranks, value, low, high, bootstrap.level)


def _redraw_rows(gains: Floats, score: Floats, ratio: _Ratio, times: int, rng: np.random.Generator) -> Floats:
    """The curve of each redrawn table; sorted positions in a ranked table are a ranked table again."""
    draws = (np.sort(rng.integers(gains.size, size=gains.size)) for _ in range(times))
    return _divide(*_stack([ratio(gains[rows], score[rows]) for rows in draws]))


def _stack(ratios: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    tops, bottoms = zip(*ratios, strict=True)
    return np.array(tops), np.array(bottoms)


def _divide(top: Floats, bottom: Floats) -> Floats:
    """NaN where nothing was drawn that could be saved; such draws are left out of the interval."""
    return np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom > 0)
