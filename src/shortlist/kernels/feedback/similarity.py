"""Kernel regression on reviewed rows: the factor that grows by one row, and the sums over columns."""

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def add_to_factor(factor: NDArray, n: int, kernel: NDArray, own: float) -> None:
    """Extend the Cholesky factor of n rows (in place) by a row with ``kernel`` against them and ``own`` with itself.

    The factor is kept twice, F below the diagonal and its transpose above, so that both ways of solving go along lines.
    """
    x = kernel.copy()
    _forward(factor, n, x)
    total = own
    for i in range(n):
        factor[n, i] = x[i]
        factor[i, n] = x[i]
        total -= x[i] * x[i]
    # Rounding can take all of a row that equals earlier ones; the ridge keeps it positive in exact arithmetic.
    factor[n, n] = np.sqrt(max(total, 1e-12))


@compiled
def solve(factor: NDArray, n: int, right: NDArray) -> NDArray:
    """Solve F Fᵀ x = right for the factor F of n rows; plain loops, so that every machine adds in one order."""
    x = right.copy()
    _forward(factor, n, x)
    for i in range(n - 1, -1, -1):
        x[i] /= factor[i, i]
        known, line = x[i], factor[i]
        for j in range(i):
            x[j] -= line[j] * known
    return x


@compiled
def _forward(factor: NDArray, n: int, x: NDArray) -> None:
    """Solve F y = x in place; what is known is taken from all later rows, a loop that processors do in parallel."""
    for j in range(n):
        x[j] /= factor[j, j]
        known, line = x[j], factor[j]
        for i in range(j + 1, n):
            x[i] -= line[i] * known


@compiled
def spread_down(parent: NDArray, own: NDArray, on_path: NDArray, out: NDArray) -> None:
    """Per node: the number of its lowest ancestor that is on the path (itself included); parents come first."""
    for node in range(parent.size):
        out[node] = own[node] if on_path[node] or parent[node] < 0 else out[parent[node]]


@compiled
def combine(columns: NDArray, weight: NDArray, out: NDArray) -> None:
    """Add weight[i] * columns[i] to out, one i after the other, in blocks of rows that stay in the cache."""
    fours = weight.size - weight.size % 4
    for start in range(0, out.size, 2048):
        stop = min(start + 2048, out.size)
        sums = out[start:stop]
        # Four columns at a time: fewer trips to the sums, added in the same order.
        for i in range(0, fours, 4):
            a, b = columns[i, start:stop], columns[i + 1, start:stop]
            c, d = columns[i + 2, start:stop], columns[i + 3, start:stop]
            p, q, r, s = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
            for row in range(sums.size):
                sums[row] = (((sums[row] + p * a[row]) + q * b[row]) + r * c[row]) + s * d[row]
        for i in range(fours, weight.size):
            a, p = columns[i, start:stop], weight[i]
            for row in range(sums.size):
                sums[row] += p * a[row]
