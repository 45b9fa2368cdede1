"""Chances of a logistic model, with what its first and second derivatives are sums of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled

Floats = NDArray[np.float64]

#: Rows whose chances are worked out together: few enough to stay in the fastest memory.
_BLOCK = 256
#: A chance this many log-odds from even is as good as certain.
_CERTAIN = 40.0


@compiled(inline="always")
def _exponential(x: float) -> float:
    """exp(x) = exp(x/1024)^1024 for |x| ≤ 40, to 10 digits; only products, so that several are made at once."""
    x *= 1.0 / 1024.0
    y = 1.0 + x * (1.0 + x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x / 720)))))
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


# Part of its callers: compiled on its own, the last bits of ``slope`` would depend on which of the two came first.
@compiled(error_model="numpy", inline="always")
def residuals(margin: Floats, wanted: NDArray[np.bool_], weights: Floats, curvature: Floats) -> Floats:
    """Weighted errors of the chances p = 1 / (1 + exp(−margin)); weights·p(1 − p) is written to ``curvature``.

    >>> curvature = np.empty(2)
    >>> residuals(np.zeros(2), np.array([True, False]), np.array([1.0, 2.0]), curvature), curvature
    (array([-0.5,  1. ]), array([0.25, 0.5 ]))
    """
    errors = np.empty(margin.size)
    for i in range(margin.size):
        odds = min(max(margin[i], -_CERTAIN), _CERTAIN)
        chance = 1.0 / (1.0 + _exponential(-odds))
        errors[i] = weights[i] * (chance - (1.0 if wanted[i] else 0.0))
        curvature[i] = weights[i] * chance * (1.0 - chance)
    return errors


# Sums may be reordered, so that several columns are added at once.
@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def slope(Z: NDArray, beta: Floats, wanted: NDArray[np.bool_], weights: Floats, curvature: Floats) -> Floats:
    """The gradient of the weighted log loss of margins Z·β + β₀, the intercept β₀ last: Σ errors·z, in one pass.

    ``curvature`` gets weights·p(1 − p), by which rows count in the Hessian. For few columns: a product of
    matrices is faster for many.

    >>> curvature = np.empty(2)
    >>> slope(np.array([[3.0], [1.0]]), np.zeros(2), np.array([True, False]), np.ones(2), curvature)
    array([-1.,  0.])
    """
    rows, columns = Z.shape
    gradient = np.zeros(columns + 1)
    margin = np.empty(min(_BLOCK, rows))
    for start in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - start)
        for i in range(size):
            total = beta[columns]
            for j in range(columns):
                total += Z[start + i, j] * beta[j]
            margin[i] = total
        here = slice(start, start + size)
        errors = residuals(margin[:size], wanted[here], weights[here], curvature[here])
        for i in range(size):
            gradient[columns] += errors[i]
            for j in range(columns):
                gradient[j] += errors[i] * Z[start + i, j]
    return gradient


@compiled
def weighted_rows(Z: NDArray, weights: Floats) -> NDArray:
    """``Z * weights[:, None]``; where rows are short, NumPy takes three times as long.

    >>> weighted_rows(np.ones((2, 2)), np.array([1.0, 2.0]))
    array([[1., 1.],
           [2., 2.]])
    """
    rows, columns = Z.shape
    weighted = np.empty(Z.shape, dtype=Z.dtype)
    for i in range(rows):
        for j in range(columns):
            weighted[i, j] = Z[i, j] * weights[i]
    return weighted
