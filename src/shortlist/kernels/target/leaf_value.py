"""The value of a ranking by leaves, from how many rows and how much gain each leaf holds.

All rows of a leaf share one score, so a tree's ranking is a short sequence of tied blocks, and tie-averaged
average precision, AUC and sums of gain x discount need no more than (gain, rows) of each block.
"""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiled import compiled

AVERAGE_PRECISION, PAIRS, DISCOUNTED = 0, 1, 2
_EULER = 0.5772156649015329


@compiled
def harmonic(x):
    """H(x) = 1 + 1/2 + ... + 1/x, continued to real x >= 0."""
    below = 0.0
    while x < 10.0:
        x += 1.0
        below += 1.0 / x
    inverse = 1.0 / (x * x)
    series = inverse * (
        1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse * (1.0 / 240 - inverse / 132)))
    )
    return math.log(x) + _EULER + 0.5 / x - series - below


@compiled
def discount_until(cumulated, rank):
    """Sum of the discounts of the first ``rank`` ranks; between whole ranks, in proportion."""
    last = cumulated.size - 1
    if rank >= last:
        return cumulated[last]
    whole = np.int64(rank)
    return cumulated[whole] + (rank - whole) * (cumulated[whole + 1] - cumulated[whole])


@compiled
def _until(kind, cumulated, rank):
    """What ranks 1 to ``rank`` add up to: of 1/rank for average precision, else of the discounts."""
    return harmonic(rank) if kind == AVERAGE_PRECISION else discount_until(cumulated, rank)


@compiled
def block_total(kind, gain, count, gain_before, count_before, spread, unwanted_after):
    """What one block of tied rows adds to the total of its list, averaged over the orders of the block.

    ``spread`` is the sum of 1/rank, or of the discounts, over the ranks of the block.
    """
    if kind == PAIRS:
        return gain * (unwanted_after + 0.5 * (count - gain))
    if kind == DISCOUNTED:
        return gain / count * spread
    total = (gain_before + 1.0) * spread
    if count > 1.0:
        total += (gain - 1.0) / (count - 1.0) * (count - (count_before + 1.0) * spread)
    return gain / count * total


@compiled
def sort_leaves(gain, count, n_leaves, score, order):
    """Score of each leaf (mean gain of its rows) and the leaves in order of score, best first."""
    for leaf in range(n_leaves):
        leaf_rows = leaf_gain = 0.0
        for number in range(count.shape[1]):
            leaf_rows += count[leaf, number]
            leaf_gain += gain[leaf, number]
        score[leaf] = leaf_gain / leaf_rows if leaf_rows > 0.0 else 0.0
        place = leaf
        while place > 0 and score[order[place - 1]] < score[leaf]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = leaf


@compiled
def list_total(kind, gain, count, n_leaves, number, score, order, cumulated):
    """The total of list ``number``; leaves of equal score are one block of tied rows."""
    unwanted_after = 0.0
    for leaf in range(n_leaves):
        unwanted_after += count[leaf, number] - gain[leaf, number]
    total = gain_before = count_before = before = 0.0
    place = 0
    while place < n_leaves:
        block_gain = block_count = 0.0
        shared = score[order[place]]
        while place < n_leaves and score[order[place]] == shared:
            block_gain += gain[order[place], number]
            block_count += count[order[place], number]
            place += 1
        if block_count > 0.0:
            until = _until(kind, cumulated, count_before + block_count)
            unwanted_after -= block_count - block_gain
            total += block_total(
                kind, block_gain, block_count, gain_before, count_before, until - before, unwanted_after
            )
            gain_before += block_gain
            count_before += block_count
            before = until
    return total


@compiled
def leaf_value(kind, gain, count, n_leaves, list_scale, cumulated, score, order):
    """The value of a ranking by leaves: the sum over lists of their total, each times its scale.

    ``gain`` and ``count`` are (leaves x lists); ``score`` and ``order`` are room for the leaves' scores
    and their order.
    """
    sort_leaves(gain, count, n_leaves, score, order)
    value = 0.0
    for number in range(list_scale.size):
        if list_scale[number] > 0.0:
            value += list_scale[number] * list_total(
                kind, gain, count, n_leaves, number, score, order, cumulated
            )
    return value
