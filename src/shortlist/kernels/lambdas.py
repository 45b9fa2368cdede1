"""Gradients of LambdaMART: what swapping two rows of a list would gain, summed over pairs.

Arrays called *ranked* hold one entry per rank, list after list: entry ``p`` belongs to row ``ranked[p]``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def top_first(score: NDArray, key: NDArray, order: NDArray, starts: NDArray, depth: int) -> NDArray[np.int64]:
    """Rows list by list, the first ``depth`` of each in descending order, the others behind in any order.

    Equal scores are ordered by ``key``. Costs O(rows x depth) at worst, O(rows) when few rows enter the top.
    """
    ranked = order.copy()
    for number in range(starts.size - 1):
        start, stop = starts[number], starts[number + 1]
        for position in range(start, stop):
            row = ranked[position]
            place = min(position, start + depth)
            if place < position:  # the top is full: the row must push its last one out
                if not _before(score, key, row, ranked[place - 1]):
                    continue
                ranked[position] = ranked[place - 1]
                place -= 1
            while place > start and _before(score, key, row, ranked[place - 1]):
                ranked[place] = ranked[place - 1]
                place -= 1
            ranked[place] = row
    return ranked


@compiled
def _before(score: NDArray, key: NDArray, row: int, other: int) -> bool:
    return score[row] > score[other] or (score[row] == score[other] and key[row] < key[other])


@compiled
def pair_lambdas(
    score: NDArray,
    gain: NDArray,
    upper: NDArray,
    lower: NDArray,
    root_weight: NDArray,
    starts: NDArray,
    scale: NDArray,
    depth: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradient and hessian by rank, over all pairs with a row among the first ``depth`` of its list.

    For a pair in which row w is worth more than row v, with rho = 1 / (1 + exp(s_w - s_v)) and D the change of
    the objective when they swap: w gets -rho D, v gets +rho D, both get the hessian rho (1 - rho) D.
    ``root_weight`` multiplies both rows of a pair, ``scale`` all pairs of a list.
    """
    grad = np.zeros(score.size)
    hess = np.zeros(score.size)
    for number in range(scale.size):
        if scale[number] == 0.0:
            continue
        start, stop = starts[number], starts[number + 1]
        for a in range(start, min(start + depth, stop)):
            step = scale[number] * root_weight[a]
            for b in range(a + 1, stop):
                if gain[a] == gain[b]:
                    continue
                change = (gain[b] - gain[a]) * (upper[a] - lower[b]) * step * root_weight[b]
                pull, bend = _logistic(score, gain, a, b, abs(change))
                grad[a] += pull
                grad[b] -= pull
                hess[a] += bend
                hess[b] += bend
    return grad, hess


@compiled
def _logistic(score: NDArray, gain: NDArray, a: int, b: int, size: float) -> tuple[float, float]:
    """Gradient of row a (row b has the opposite one) and hessian of both."""
    sign = 1.0 if gain[a] > gain[b] else -1.0
    rho = 1.0 / (1.0 + math.exp(min(sign * (score[a] - score[b]), 700.0)))
    return -sign * rho * size, rho * (1.0 - rho) * size


@compiled
def sampled_lambdas(
    score: NDArray,
    gain: NDArray,
    upper: NDArray,
    lower: NDArray,
    root_weight: NDArray,
    starts: NDArray,
    scale: NDArray,
    pairs_per_row: int,
    shift: NDArray,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unbiased estimate of ``pair_lambdas`` over all ranks from about 2 x ``pairs_per_row`` pairs per row.

    Two rows that are both worth the least of their list form no pair. So each row of least worth meets rows
    worth more, and those, being fewer, meet as many more rows of any kind. Half of a row's partners are drawn
    top-heavy, log-uniform in rank; the others lie at even distances round the list. ``shift`` (0 to 1 by rank)
    is all the chance there is.
    """
    grad = np.zeros(score.size)
    hess = np.zeros(score.size)
    width = np.log1p(1.0 / np.arange(1, score.size + 1))  # of each rank, in logarithms
    for number in range(scale.size):
        start, stop = starts[number], starts[number + 1]
        least = gain[start:stop].min()
        worth_more = start + np.flatnonzero(gain[start:stop] > least)
        if scale[number] == 0.0 or worth_more.size == 0:
            continue
        anybody = np.arange(start, stop)
        draws_up = pairs_per_row * max(1, (stop - start) // worth_more.size)
        for a in range(start, stop):
            partners = worth_more if gain[a] == least else anybody
            n = partners.size
            draws = min(pairs_per_row if gain[a] == least else draws_up, n)
            top_heavy = draws - draws // 2
            logs = math.log(n + 1.0)
            reach, growth = math.exp(shift[a] / top_heavy * logs), math.exp(logs / top_heavy)
            # The row's own place among its partners: neighbours meet neighbours, which memory likes.
            turn = (a - start) * n // (stop - start)
            for draw in range(draws):
                if draw < top_heavy:
                    place = min(int(reach), n) - 1
                    reach *= growth
                else:
                    place = (turn + int((draw - top_heavy + shift[start]) / (draws - top_heavy) * n)) % n
                b = partners[place]
                if gain[a] == gain[b]:
                    continue
                # How many of the draws hit this place on average, whichever way.
                expected = top_heavy * width[place] / logs + (draws - top_heavy) / n
                first, second = min(a, b), max(a, b)
                change = (gain[second] - gain[first]) * (upper[first] - lower[second])
                change *= scale[number] * root_weight[a] * root_weight[b] / expected
                pull, bend = _logistic(score, gain, a, b, abs(change))
                grad[a] += pull
                hess[a] += bend
    return grad, hess
