"""Walk rows down trees: the leaf of each member that a row falls into."""

import numpy as np
from numba import njit

#: Rows are kept in blocks of this many: a block's sums stay in the first cache while members stream past.
BLOCK = 4096


@njit(cache=True, nogil=True)
def place(X, first, n_rows, roots, feature, threshold, child, missing_left, category_set, sets, leaf, ids):
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
                row = first + i
                ids[row // BLOCK, t, row % BLOCK] = leaf[node]


@njit(cache=True, nogil=True)
def _in_set(words, x):
    code = np.int64(x)
    if code < 0 or code >= 64 * words.size:
        return 0
    return np.int64((words[code // 64] >> np.uint64(code % 64)) & np.uint64(1))


@njit(cache=True, nogil=True)
def leaf_sums(ids, n_rows, weight, starts, out):
    """Sum of ``weight`` over the rows of each leaf, added to ``out``; rows in order, so sums repeat exactly."""
    for row_start in range(0, n_rows, BLOCK):
        block = row_start // BLOCK
        size = min(BLOCK, n_rows - row_start)
        for t in range(starts.size - 1):
            first = starts[t]
            for i in range(size):
                out[first + ids[block, t, i]] += weight[row_start + i]
