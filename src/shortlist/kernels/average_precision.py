"""Average precision by merging two sorted arrays: no row needs its own rank, so no argsort is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def harmonic_difference(before: int, n: int) -> float:
    """1/(before + 1) + ... + 1/(before + n): summed, because a difference of logarithms loses digits."""
    total = 0.0
    for rank in range(before + n, before, -1):
        total += 1.0 / rank
    return total


@compiled
def tied_precisions(before: int, hits_before: int, n: int, hits: int) -> float:
    """Sum of the precisions at the wanted rows of one tied block, averaged over all its orders.

    A wanted row stands at each of the n places alike; at the j-th of them it has on average
    (j - 1)(hits - 1)/(n - 1) wanted rows of its block before it.
    """
    if n == 1:
        return (hits_before + 1) / (before + 1)
    inverse_ranks = harmonic_difference(before, n)
    others = (hits - 1) / (n - 1)
    return hits / n * ((hits_before + 1) * inverse_ranks + others * (n - (before + 1) * inverse_ranks))


@compiled
def average_precision(wanted: NDArray[np.float64], unwanted: NDArray[np.float64], worst: bool) -> float:
    """AP of wanted rows among unwanted ones; both are scores in rising order, ``wanted`` is not empty.

    ``worst`` ranks tied rows last in their block; else their orders are averaged over.
    """
    total = 0.0
    hits_before, misses_before = 0, 0
    while hits_before < wanted.size:
        score = wanted[wanted.size - 1 - hits_before]
        while misses_before < unwanted.size and unwanted[unwanted.size - 1 - misses_before] > score:
            misses_before += 1
        hits, misses = 0, 0
        while hits_before + hits < wanted.size and wanted[wanted.size - 1 - hits_before - hits] == score:
            hits += 1
        while (
            misses_before + misses < unwanted.size
            and unwanted[unwanted.size - 1 - misses_before - misses] == score
        ):
            misses += 1
        before, n = hits_before + misses_before, hits + misses
        if worst:
            total += hits * (hits_before + hits) / (before + n)
        else:
            total += tied_precisions(before, hits_before, n, hits)
        hits_before += hits
        misses_before += misses
    return total / wanted.size


@compiled
def average_precision_of_blocks(hits: NDArray, misses_above: NDArray, misses: NDArray) -> float:
    """The same from counts: of each block of wanted rows that tie, from the top, how many they are, how many unwanted
    rows rank above it and how many tie with it; orders of tied rows are averaged over.
    """
    total = 0.0
    hits_before = 0
    for block in range(hits.size):
        before = hits_before + int(misses_above[block])
        total += tied_precisions(before, hits_before, hits[block] + int(misses[block]), hits[block])
        hits_before += hits[block]
    return total / hits_before


def above_and_at(margin: NDArray, blocks: NDArray) -> NDArray[np.float64]:
    """How many margins lie above each of the rising values, and how many on it."""
    at_most = np.searchsorted(blocks, margin, side="right")  # how many values do not exceed the margin
    below = np.searchsorted(blocks, margin, side="left")
    reached = np.bincount(at_most, minlength=blocks.size + 1)[::-1].cumsum()[::-1][1:]
    above = np.bincount(below, minlength=blocks.size + 1)[::-1].cumsum()[::-1][1:]
    return np.stack([above, reached - above]).astype(np.float64)
