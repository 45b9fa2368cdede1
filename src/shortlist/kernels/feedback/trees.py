"""Walk rows down trees: the leaf of each member that a row falls into."""

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled

#: Rows are kept in blocks of this many: a block's sums stay in the first cache while members stream past.
BLOCK = 4096


@compiled
def place(
    X: NDArray,
    first: int,
    n_rows: int,
    roots: NDArray,
    feature: NDArray,
    threshold: NDArray,
    child: NDArray,
    missing_left: NDArray,
    category_set: NDArray,
    sets: NDArray,
    leaf: NDArray,
    ids: NDArray,
) -> None:
    """Write the local leaf numbers of rows X[:n_rows] into block storage, from row ``first`` on.

    ``child[2 * node]`` is taken when the value is at most the threshold (or not in the category set),
    ``child[2 * node + 1]`` otherwise; a missing value goes where ``missing_left`` says.
    """
    n_trees = roots.size - 1
    for start in range(0, n_rows, 256):
        stop = min(start + 256, n_rows)
        for t in range(n_trees):
            for i in range(start, stop):
                node = roots[t]
                f = feature[node]
                while f >= 0:
                    x = X[i, f]
                    if np.isnan(x):
                        right = 0 if missing_left[node] else 1
                    elif category_set[node] < 0:
                        right = 1 if x > threshold[node] else 0
                    else:
                        right = _in_set(sets[category_set[node]], x)
                    node = child[2 * node + right]
                    f = feature[node]
                _write(ids, first + i, t, leaf[node])


@compiled
def place_by_level(
    X: NDArray,
    first: int,
    n_rows: int,
    roots: NDArray,
    feature: NDArray,
    threshold: NDArray,
    child: NDArray,
    leaf: NDArray,
    depth: int,
    ids: NDArray,
) -> None:
    """As ``place``, for trees without categories and rows without gaps.

    Leaves lead to themselves here, so that every row takes ``depth`` steps: without a branch to guess, and with four
    rows under way at a time, the processor does not wait for memory.
    """
    last = n_rows - 1
    for start in range(0, n_rows, 256):
        stop = min(start + 256, n_rows)
        for t in range(roots.size - 1):
            root = roots[t]
            for i in range(start, stop, 4):
                i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
                n0, n1, n2, n3 = root, root, root, root
                for _ in range(depth):
                    n0 = child[2 * n0 + (X[i, feature[n0]] > threshold[n0])]
                    n1 = child[2 * n1 + (X[i1, feature[n1]] > threshold[n1])]
                    n2 = child[2 * n2 + (X[i2, feature[n2]] > threshold[n2])]
                    n3 = child[2 * n3 + (X[i3, feature[n3]] > threshold[n3])]
                _write(ids, first + i, t, leaf[n0])
                _write(ids, first + i1, t, leaf[n1])
                _write(ids, first + i2, t, leaf[n2])
                _write(ids, first + i3, t, leaf[n3])


@compiled
def _write(ids: NDArray, row: int, t: int, leaf: int) -> None:
    ids[row // BLOCK, t, row % BLOCK] = leaf


@compiled
def _in_set(words: NDArray, x: float) -> int:
    code = np.int64(x)
    if code < 0 or code >= 64 * words.size:
        return 0
    return 1 if (words[code // 64] >> np.uint64(code % 64)) & np.uint64(1) else 0


@compiled
def leaf_sums(ids: NDArray, n_rows: int, weight: NDArray, starts: NDArray, out: NDArray) -> None:
    """Sum of ``weight`` over the rows of each leaf, added to ``out``; rows in order, so sums repeat exactly."""
    for row_start in range(0, n_rows, BLOCK):
        block = row_start // BLOCK
        size = min(BLOCK, n_rows - row_start)
        for t in range(starts.size - 1):
            first = starts[t]
            for i in range(size):
                out[first + ids[block, t, i]] += weight[row_start + i]
