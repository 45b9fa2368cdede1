"""Scores as sums over leaves, in whole numbers: any order of adding gives the same bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled
from shortlist.kernels.feedback.trees import BLOCK


@compiled
def add_up(ids: NDArray, first: int, last: int, table: NDArray, starts: NDArray, out: NDArray) -> None:
    """Set out[i] to the sum over members of table[leaf of row first + i], for rows first to last - 1."""
    row, n_members = first, starts.size - 1
    while row < last:
        block, offset = row // BLOCK, row % BLOCK
        size = min(BLOCK - offset, last - row)
        sums = out[row - first : row - first + size]
        sums[:] = 0
        leaves = ids[block, :, offset : offset + size]
        t = 0
        while t + 4 <= n_members:  # four members at a time: fewer trips to the sums
            a, b, c, d = leaves[t], leaves[t + 1], leaves[t + 2], leaves[t + 3]
            table_a, table_b = table[starts[t] :], table[starts[t + 1] :]
            table_c, table_d = table[starts[t + 2] :], table[starts[t + 3] :]
            for i in range(size):
                sums[i] += (table_a[a[i]] + table_b[b[i]]) + (table_c[c[i]] + table_d[d[i]])
            t += 4
        while t < n_members:
            a, table_a = leaves[t], table[starts[t] :]
            for i in range(size):
                sums[i] += table_a[a[i]]
            t += 1
        row += size


@compiled
def invert(ids: NDArray, n_rows: int, starts: NDArray, rows: NDArray, leaf_start: NDArray) -> None:
    """Rows by leaf: those of global leaf j are rows[leaf_start[j]:leaf_start[j + 1]]."""
    n_blocks = (n_rows + BLOCK - 1) // BLOCK
    position = 0
    for t in range(starts.size - 1):
        count = np.zeros(starts[t + 1] - starts[t], dtype=np.int64)
        for block in range(n_blocks):
            leaves = ids[block, t, : min(BLOCK, n_rows - block * BLOCK)]
            for i in range(leaves.size):
                count[leaves[i]] += 1
        for j in range(count.size):
            leaf_start[starts[t] + j] = position
            position += count[j]
            count[j] = position - count[j]
        for block in range(n_blocks):
            leaves = ids[block, t, : min(BLOCK, n_rows - block * BLOCK)]
            first = block * BLOCK
            for i in range(leaves.size):
                rows[count[leaves[i]]] = first + i
                count[leaves[i]] += 1
    leaf_start[leaf_start.size - 1] = position


@compiled
def add_changes(rows: NDArray, leaf_start: NDArray, leaves: NDArray, change: NDArray, out: NDArray) -> None:
    """Add the change of each leaf to the sums of its rows."""
    for k in range(leaves.size):
        j = leaves[k]
        for i in range(leaf_start[j], leaf_start[j + 1]):
            out[rows[i]] += change[k]


@compiled
def blend(sums: NDArray, unit: float, base: NDArray, slope: float, offset: float, out: NDArray) -> None:
    """Set out to sums * unit + base * slope + offset, in one pass."""
    for i in range(out.size):
        out[i] = sums[i] * unit + (base[i] * slope + offset)


@compiled
def mix(seed: int, row: int) -> Any:
    """A 64-bit hash of (seed, row): the order of rows whose scores are equal (splitmix64)."""
    z = np.uint64(seed) + np.uint64(row + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def mix_rows(seed: int, rows: NDArray, out: NDArray) -> None:
    """``mix`` of each row."""
    for i in range(rows.size):
        out[i] = mix(seed, rows[i])


@compiled
def best_row(keys: NDArray, closed: NDArray, seed: int, first: int = 0) -> int:
    """The open row with the largest key; of equals the one with the smallest hash; -1 if none is open.

    ``first`` is the number that the first row has in the whole table, by which it is hashed.
    """
    best = -1
    for row in range(keys.size):
        if closed[row]:
            continue
        if (
            best < 0
            or keys[row] > keys[best]
            or (keys[row] == keys[best] and mix(seed, first + row) < mix(seed, first + best))
        ):
            best = row
    return best


@compiled
def nth_largest(keys: NDArray, closed: NDArray, n: int) -> float:
    """The n-th largest key of the open rows, of which there are at least n: one pass with a heap of n keys."""
    heap = np.empty(n, dtype=keys.dtype)
    size = 0
    for row in range(keys.size):
        if closed[row]:
            continue
        key = keys[row]
        if size < n:
            at = size
            size += 1
            while at > 0 and heap[(at - 1) // 2] > key:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = key
        elif key > heap[0]:
            at = 0
            while 2 * at + 1 < n:
                child = 2 * at + 1
                if child + 1 < n and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= key:
                    break
                heap[at] = heap[child]
                at = child
            heap[at] = key
    return heap[0]
