"""Sums that do not depend on the order of their parts.

Rows may lie in any order, in several threads and on several machines, and the model must be the same to the last bit.
So what is added up lies on a grid: multiples of a power of two, whose sums are exact as long as they take less than 53
bits. Where rows lie on several machines, an object with ``sum``, ``max`` and ``gather`` brings their parts together.
And rows are drawn by hashes of what names them, which are the same wherever they lie.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled
from shortlist.kernels.machines import ALONE, Sums
from shortlist.kernels.row_ranges import over_ranges

#: Steps of the grid of gradients in one unit: exact sums end at 2^33 = 8.6e9.
STEPS = 2.0**20
#: Steps for sums of shares that are small numbers, such as 1 / rank: exact to 2^13.
FINE_STEPS = 2.0**40
#: Rows that a thread takes at a time; they stay in its cache from one step to the next.
ROWS_AT_ONCE = 1 << 17

Floats = NDArray[np.float64]


def whole(values: NDArray, steps: float = FINE_STEPS) -> Floats:
    """The nearest values on the grid, in float64.

    >>> whole(np.array([0.1, 0.26]), steps=4)
    array([0.  , 0.25])
    """
    return np.rint(np.asarray(values, dtype=np.float64) * steps) / steps


@compiled(fastmath={"reassoc", "nsz", "contract"})
def add_powers(values):  # type: ignore[no-untyped-def]
    """Σ x and Σ x² of x = values on a grid of 2^-10: both are exact, so their order is free."""
    total = square = 0.0
    for i in range(values.size):
        x = np.float64(np.rint(values[i] * np.float32(1024)))
        total += x
        square += x * x
    return total / 1024, square / 1048576


@compiled(fastmath={"reassoc", "nsz", "contract"})
def add_whole(values, steps):  # type: ignore[no-untyped-def]
    """Σ values in steps, each rounded to whole ones."""
    total = 0.0
    for i in range(values.size):
        total += np.rint(np.float64(values[i]) * steps)
    return total


def spread(values: NDArray[np.float32], threads: int = 1, sums: Sums = ALONE) -> float:
    """Standard deviation, in one pass through memory."""
    parts = over_ranges(
        lambda first, last: add_powers(values[first:last]),
        0,
        values.size,
        size=ROWS_AT_ONCE,
        threads=threads,
    )
    total, square, n = sums.sum(np.append(np.sum(parts, axis=0), values.size))
    return float(np.sqrt(max(square / n - (total / n) ** 2, 0.0)))


@compiled(fastmath={"nsz"})
def settle_all(grad, hess):  # type: ignore[no-untyped-def]
    """Put gradients on the grid, in place."""
    steps = np.float32(STEPS)
    for i in range(grad.size):
        grad[i] = np.rint(grad[i] * steps) / steps
        hess[i] = np.rint(hess[i] * steps) / steps


@compiled(inline="always")
def hashed(key, row):  # type: ignore[no-untyped-def]
    """64 bits that look random, of a key and a row's number (SplitMix64)."""
    z = key + np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def settle_drawn(grad, hess, first, ids, key, below):  # type: ignore[no-untyped-def]
    """The same for the rows whose hash lies below a bound; the others get no gradient.

    It is the hash of the row's id, or of its number from ``first`` where ``ids`` is empty.
    """
    steps = np.float32(STEPS)
    for i in range(grad.size):
        row = ids[i] if ids.size else np.uint64(first + i)
        kept = np.float32(hashed(key, row) < below)
        grad[i] = kept * np.rint(grad[i] * steps) / steps
        hess[i] = kept * np.rint(hess[i] * steps) / steps


@compiled
def hash_rows(n_rows, ids, key):  # type: ignore[no-untyped-def]
    """The hash of each row."""
    out = np.empty(n_rows, dtype=np.uint64)
    for i in range(n_rows):
        out[i] = hashed(key, ids[i] if ids.size else np.uint64(i))
    return out


@compiled
def hash_texts(letters, sizes):  # type: ignore[no-untyped-def]
    """64 bits of each text (FNV-1a); ``letters`` are the bytes of all of them, one after the other."""
    out = np.empty(sizes.size, dtype=np.uint64)
    start = 0
    for i in range(sizes.size):
        number = np.uint64(0xCBF29CE484222325)
        for k in range(start, start + sizes[i]):
            number = (number ^ np.uint64(letters[k])) * np.uint64(0x100000001B3)
        out[i] = number
        start += sizes[i]
    return out
