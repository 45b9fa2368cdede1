"""Grow one isolation tree on a small sample."""

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def grow(
    X: NDArray,
    categorical: NDArray,
    max_depth: int,
    uniforms: NDArray,
    feature: NDArray,
    threshold: NDArray,
    category: NDArray,
    missing_left: NDArray,
    child: NDArray,
    depth: NDArray,
    count: NDArray,
) -> int:
    """Fill the node arrays of one tree grown on all rows of X; returns the number of nodes.

    Each inner node takes three of the ``uniforms``: which of the features that vary here, where to cut it, and
    where missing values go. Numbers are cut uniformly between their smallest and largest value; of a
    categorical column one category present here is set apart. A column that has one value and gaps is cut
    between the two.
    """
    n_rows, n_features = X.shape
    rows = np.arange(n_rows)
    start = np.zeros(2 * n_rows, dtype=np.int64)
    stop = np.zeros(2 * n_rows, dtype=np.int64)
    varying = np.empty(n_features, dtype=np.int64)
    stop[0] = n_rows
    n_nodes, used, node = 1, 0, 0
    depth[0] = 0
    while node < n_nodes:
        here = rows[start[node] : stop[node]]
        count[node] = here.size
        feature[node] = -1
        n_varying = _varying(X, here, varying) if here.size > 1 and depth[node] < max_depth else 0
        if n_varying > 0:
            f = varying[int(uniforms[used] * n_varying)]
            low, high = _range(X, here, f)
            feature[node] = f
            missing_left[node] = uniforms[used + 2] < 0.5
            category[node] = -1
            if low == high:  # only gaps set these rows apart
                threshold[node], missing_left[node] = np.inf, False
            elif categorical[f]:
                category[node] = int(_pick_category(X, here, f, uniforms[used + 1]))
            else:
                # Rounding may give the upper end, which would leave the right side empty.
                threshold[node] = min(low + uniforms[used + 1] * (high - low), np.nextafter(high, low))
            used += 3
            middle = start[node] + _partition(X, here, f, threshold[node], category[node], missing_left[node])
            for side in range(2):
                child[2 * node + side] = n_nodes
                depth[n_nodes] = depth[node] + 1
                start[n_nodes] = start[node] if side == 0 else middle
                stop[n_nodes] = middle if side == 0 else stop[node]
                n_nodes += 1
        node += 1
    return n_nodes


@compiled
def _varying(X: NDArray, rows: NDArray, out: NDArray) -> int:
    n = 0
    for f in range(X.shape[1]):
        first = X[rows[0], f]
        for i in range(1, rows.size):
            x = X[rows[i], f]
            if x != first and not (np.isnan(x) and np.isnan(first)):
                out[n] = f
                n += 1
                break
    return n


@compiled
def _range(X: NDArray, rows: NDArray, f: int) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for i in range(rows.size):
        x = X[rows[i], f]
        if not np.isnan(x):
            low, high = min(low, x), max(high, x)
    return low, high


@compiled
def _pick_category(X: NDArray, rows: NDArray, f: int, uniform: float) -> float:
    values = X[rows, f]
    # NaN comes last. Neither np.sort nor np.unique: kernels/sorting.py says why.
    values = values[np.argsort(values)]
    n = 0
    for i in range(values.size):
        if not np.isnan(values[i]) and (n == 0 or values[i] != values[n - 1]):
            values[n] = values[i]
            n += 1
    return values[int(uniform * n)]


@compiled
def _partition(X: NDArray, rows: NDArray, f: int, threshold: float, category: int, missing_left: bool) -> int:
    """Put the rows that go left first, each side in its order; returns how many they are."""
    right = np.empty(rows.size, dtype=rows.dtype)
    n_left, n_right = 0, 0
    for i in range(rows.size):
        x = X[rows[i], f]
        if np.isnan(x):
            left = missing_left
        elif category >= 0:
            left = x != category
        else:
            left = x <= threshold
        if left:
            rows[n_left] = rows[i]
            n_left += 1
        else:
            right[n_right] = rows[i]
            n_right += 1
    rows[n_left:] = right[:n_right]
    return n_left
