"""Totals of the first ranks of many lists, without sorting the rows behind them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def top_totals(
    score: NDArray, gain: NDArray, order: NDArray, starts: NDArray, discount: NDArray
) -> NDArray[np.float64]:
    """Sum of gain x discount of each list, averaged over all orders of tied rows.

    Ranks beyond ``discount`` count nothing, so only that many rows are kept in order: O(rows) per call as
    long as few rows enter the top.
    """
    totals = np.zeros(starts.size - 1)
    top_score = np.empty(discount.size)
    top_gain = np.empty(discount.size)
    for number in range(totals.size):
        rows = order[starts[number] : starts[number + 1]]
        depth = _fill_top(score, gain, rows, top_score, top_gain)
        totals[number] = _total(score, gain, rows, top_score[:depth], top_gain[:depth], discount)
    return totals


@compiled
def _fill_top(score: NDArray, gain: NDArray, rows: NDArray, top_score: NDArray, top_gain: NDArray) -> int:
    """Keep the best rows in descending order of score; returns how many there are."""
    depth = 0
    for row in rows:
        value = score[row]
        if depth == top_score.size:
            if value <= top_score[depth - 1]:
                continue
        else:
            depth += 1
        place = depth - 1
        while place > 0 and top_score[place - 1] < value:
            top_score[place] = top_score[place - 1]
            top_gain[place] = top_gain[place - 1]
            place -= 1
        top_score[place] = value
        top_gain[place] = gain[row]
    return depth


@compiled
def _total(
    score: NDArray, gain: NDArray, rows: NDArray, top_score: NDArray, top_gain: NDArray, discount: NDArray
) -> float:
    """Tied rows share the mean discount of their ranks; only the last tie may reach below the top."""
    total = 0.0
    first = 0
    while first < top_score.size:
        last = first
        block_gain = 0.0
        block_discount = 0.0
        while last < top_score.size and top_score[last] == top_score[first]:
            block_gain += top_gain[last]
            block_discount += discount[last]
            last += 1
        size = last - first
        if last == top_score.size and last < rows.size:
            size, block_gain = _tied(score, gain, rows, top_score[first])
        total += block_gain * block_discount / size
        first = last
    return total


@compiled
def _tied(score: NDArray, gain: NDArray, rows: NDArray, value: float) -> tuple[int, float]:
    """How many rows have this score, and what they are worth together."""
    size = 0
    total = 0.0
    for row in rows:
        if score[row] == value:
            size += 1
            total += gain[row]
    return size, total
