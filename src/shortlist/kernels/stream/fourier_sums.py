"""Cosines of random projections, and weighted sums of them without keeping the cosines.

A score of a kernel model takes hundreds of cosines per row, and a cosine of the standard library costs more than
everything else that happens to the row. Here it is a polynomial in single precision (error below 10⁻⁶) that the
compiler turns into vector instructions. Angles are in turns, so that whole turns are dropped by rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled

Singles = NDArray[np.float32]

#: cos(2πt) = Σ_n C_n·t²ⁿ for |t| ≤ 1/2: the polynomial through the Chebyshev points, whose error is 10⁻⁸.
_C0 = np.float32(0.99999999)
_C1 = np.float32(-19.73920447)
_C2 = np.float32(64.93911593)
_C3 = np.float32(-85.45011343)
_C4 = np.float32(60.16742979)
_C5 = np.float32(-25.96688461)
_C6 = np.float32(6.52770596)
_HALF = np.float32(0.5)


@compiled(inline="always")
def _cosine(turns: np.float32) -> np.float32:
    turns = turns - np.floor(turns + _HALF)
    t = turns * turns
    return _C0 + t * (_C1 + t * (_C2 + t * (_C3 + t * (_C4 + t * (_C5 + t * _C6)))))


# Part of its callers: sums may be reordered, and in which order must not depend on which kernel was compiled first.
@compiled(inline="always")
def _project(Z: Singles, i: int, W: Singles, offset: Singles, turns: Singles) -> None:
    """``turns = offset + Z[i] @ W``; four columns at a time, so that the sums are read and written less."""
    for f in range(offset.size):
        turns[f] = offset[f]
    for j in range(0, Z.shape[1], 4):
        a, b, c, d = Z[i, j], Z[i, j + 1], Z[i, j + 2], Z[i, j + 3]
        for f in range(offset.size):
            turns[f] += a * W[j, f] + b * W[j + 1, f] + c * W[j + 2, f] + d * W[j + 3, f]


@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def fourier_sums(Z: Singles, W: Singles, offset: Singles, weights: Singles) -> NDArray[np.float64]:
    """Row by row Σ_f weights[f] · cos(2π(offset[f] + Σ_j Z[i, j]·W[j, f])).

    The number of columns must be a multiple of four: fill up with zeros.

    >>> one = np.ones((4, 1), dtype=np.float32)
    >>> fourier_sums(one.reshape(1, 4) / 8, one, np.zeros(1, np.float32), np.full(1, 3, np.float32)).round(5)
    array([-3.])
    """
    sums = np.empty(Z.shape[0])
    turns = np.empty(offset.size, dtype=np.float32)
    for i in range(Z.shape[0]):
        _project(Z, i, W, offset, turns)
        total = np.float32(0.0)
        for f in range(offset.size):
            total += weights[f] * _cosine(turns[f])
        sums[i] = total
    return sums


@compiled(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def fourier_columns(
    Z: Singles, W: Singles, offset: Singles, size: np.float32, out: Singles, start: int
) -> None:
    """Write size·cos(2π(offset + Z @ W)), the terms of ``fourier_sums``, to the columns of ``out`` from ``start`` on.

    >>> one, out = np.ones((4, 1), dtype=np.float32), np.zeros((1, 2), dtype=np.float32)
    >>> fourier_columns(one.reshape(1, 4) / 4, one, np.zeros(1, np.float32), np.float32(2), out, 1)
    >>> out.round(5)
    array([[0., 2.]], dtype=float32)
    """
    turns = np.empty(offset.size, dtype=np.float32)
    for i in range(Z.shape[0]):
        _project(Z, i, W, offset, turns)
        for f in range(offset.size):
            out[i, start + f] = size * _cosine(turns[f])
