"""Kernel regression on reviewed rows: the factor that grows by one row, and the sums over columns."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def add_to_factor(factor: NDArray, n: int, kernel: NDArray, own: float) -> None:
    """Extend the Cholesky factor of n rows (in place) by a row with ``kernel`` against them and ``own`` with itself."""
    total = own
    for i in range(n):
        x = kernel[i]
        for j in range(i):
            x -= factor[i, j] * factor[n, j]
        x /= factor[i, i]
        factor[n, i] = x
        total -= x * x
    # Rounding can take all of a row that equals earlier ones; the ridge keeps it positive in exact arithmetic.
    factor[n, n] = np.sqrt(max(total, 1e-12))


@njit(cache=True, nogil=True)
def solve(factor: NDArray, n: int, right: NDArray) -> NDArray:
    """Solve F Fᵀ x = right for the factor F of n rows; plain loops, so that every machine adds in one order."""
    x = right.copy()
    for i in range(n):
        for j in range(i):
            x[i] -= factor[i, j] * x[j]
        x[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]
    return x


@njit(cache=True, nogil=True)
def spread_down(parent: NDArray, own: NDArray, on_path: NDArray, out: NDArray) -> None:
    """Per node: the number of its lowest ancestor that is on the path (itself included); parents come first."""
    for node in range(parent.size):
        out[node] = own[node] if on_path[node] or parent[node] < 0 else out[parent[node]]


@njit(cache=True, nogil=True)
def combine(columns: NDArray, weight: NDArray, out: NDArray) -> None:
    """Set out to the sum of weight[i] * columns[i], in blocks of rows that stay in the cache."""
    for start in range(0, out.size, 2048):
        stop = min(start + 2048, out.size)
        out[start:stop] = 0
        for i in range(weight.size):
            for row in range(start, stop):
                out[row] += weight[i] * columns[i, row]
