"""Fitness of one tree: rows are sent down as bitsets, small nodes are pruned, the leaves' sums are valued."""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled
from shortlist.kernels.target.bitset import (
    copy_rows,
    count_common,
    drop_rows,
    keep_common,
    keep_rest,
    lowest_bit,
    rows_left,
    weigh,
)
from shortlist.kernels.target.genome import LEAF, copy_tree, hash_tree, subtree_end
from shortlist.kernels.target.leaf_value import leaf_value

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class Rows(NamedTuple):
    """The rows to rank, by bit position, and how a ranking of them is valued.

    ``counted``: one list of wanted and unwanted rows that all count alike. Then the wanted rows fill the
    first ``wanted_words`` words and popcounts are all that is needed; the arrays by row are empty.
    """

    everyone: NDArray[np.uint64]
    n_rows: float  # sum of the weights
    gain: float  # sum of the gains
    counted: bool
    wanted_words: int
    weighted: bool
    row_weight: NDArray[np.float64]
    row_gain: NDArray[np.float64]  # times the weight
    row_list: NDArray[np.int32]
    list_scale: NDArray[np.float64]
    kind: int
    discounts: NDArray[np.float64]  # cumulated by rank, from 0


class Room(NamedTuple):
    """Working memory of one thread, with the trees it has valued before."""

    sets: NDArray[np.uint64]  # row sets along the path, one row each
    side: NDArray[np.uint64]
    pending: NDArray[np.int64]  # right children still to visit: node, row of ``sets``
    pending_sums: NDArray[np.float64]  # their rows and gain
    leaf_count: NDArray[np.float64]  # leaves x lists
    leaf_gain: NDArray[np.float64]
    score: NDArray[np.float64]
    order: NDArray[np.int64]
    state: NDArray[np.uint64]  # of the random stream
    split: NDArray[np.int32]  # two children in the making
    rule: NDArray[np.uint64]
    known_key: NDArray[np.uint64]
    known_split: NDArray[np.int32]
    known_rule: NDArray[np.uint64]
    known_size: NDArray[np.int64]
    known_fitness: NDArray[np.float64]


@compiled
def tree_fitness(split, rule, size, cuts, rows, min_leaf, alpha, room):
    """Prune a tree in place and give (size, value - alpha x leaves); trees seen before are looked up."""
    key = hash_tree(split, rule, size)
    place = np.int64(key & np.uint64(room.known_key.size - 1))
    if room.known_key[place] == key:
        known = room.known_size[place]
        copy_tree(room.known_split[place], room.known_rule[place], known, split, rule)
        return known, room.known_fitness[place]
    size = send_down(split, rule, cuts, rows, min_leaf, room)
    leaves = (size + 1) // 2
    value = leaf_value(
        rows.kind,
        room.leaf_gain,
        room.leaf_count,
        leaves,
        rows.list_scale,
        rows.discounts,
        room.score,
        room.order,
    )
    room.known_key[place] = key
    room.known_size[place] = copy_tree(split, rule, size, room.known_split[place], room.known_rule[place])
    room.known_fitness[place] = value - alpha * leaves
    return size, value - alpha * leaves


@compiled
def send_down(split, rule, cuts, rows, min_leaf, room):
    """Send all rows down a tree; where a side gets fewer than ``min_leaf``, its sibling takes the node's place.

    The pruned tree replaces the given one (it is never longer than what has been read), the sums of its
    leaves are left in ``room``, and its size is returned.
    """
    # Handing the named tuples to a function costs more than splitting a few thousand rows: take them apart once.
    bits, start, ready = cuts.bits, cuts.start, cuts.ready
    sets, buffer, pending, pending_sums = room.sets, room.side, room.pending, room.pending_sums
    leaf_count, leaf_gain = room.leaf_count, room.leaf_gain
    counted, wanted_words, weighted = rows.counted, rows.wanted_words, rows.weighted
    row_weight, row_gain, row_list = rows.row_weight, rows.row_gain, rows.row_list
    copy_rows(rows.everyone, sets[0])
    node = size = leaf = depth = waiting = 0
    count, gain = rows.n_rows, rows.gain
    while True:
        if split[node] < 0:
            leaf_count[leaf, 0], leaf_gain[leaf, 0] = count, gain
            if not counted:
                _sum_by_list(sets[depth], row_weight, row_gain, row_list, leaf_count[leaf], leaf_gain[leaf])
            split[size], rule[size] = LEAF, _ZERO
            size, leaf = size + 1, leaf + 1
            if waiting == 0:
                return size
            waiting -= 1
            node, depth = pending[waiting, 0], pending[waiting, 1]
            count, gain = pending_sums[waiting, 0], pending_sums[waiting, 1]
            continue
        right, feature = subtree_end(split, node + 1), split[node] >> 1
        if ready[feature]:
            side = bits[start[feature] + np.int64(rule[node])]
        else:
            side = rows_left(cuts, feature, (split[node] & 1) == 1, rule[node], buffer)
        # Of a leaf whose rows count alike, the sums are all that is needed.
        keep_left, keep_right = not counted or split[node + 1] >= 0, not counted or split[right] >= 0
        if keep_left:
            wanted = keep_common(sets[depth], side, sets[depth + 1], 0, wanted_words)
            others = keep_common(sets[depth], side, sets[depth + 1], wanted_words, side.size)
        elif keep_right:
            wanted = keep_rest(sets[depth], side, sets[depth + 1], 0, wanted_words)
            others = keep_rest(sets[depth], side, sets[depth + 1], wanted_words, side.size)
        else:
            wanted = count_common(sets[depth], side, 0, wanted_words)
            others = count_common(sets[depth], side, wanted_words, side.size)
        left_count, left_gain = np.float64(wanted + others), np.float64(wanted)
        if weighted:
            left_count = weigh(sets[depth + 1], row_weight)
        if left_count < min_leaf or count - left_count < min_leaf:
            node = right if left_count < min_leaf else node + 1
            continue
        if keep_left and keep_right:
            drop_rows(sets[depth], sets[depth + 1])
        pending[waiting, 0], pending[waiting, 1] = right, depth if keep_left else depth + 1
        pending_sums[waiting, 0], pending_sums[waiting, 1] = count - left_count, gain - left_gain
        split[size], rule[size] = split[node], rule[node]
        size, waiting = size + 1, waiting + 1
        node, depth, count, gain = node + 1, depth + 1, left_count, left_gain


@compiled
def _sum_by_list(members, row_weight, row_gain, row_list, count, gain):
    """Rows and gain of a leaf in each list."""
    count[:] = 0.0
    gain[:] = 0.0
    for word in range(members.size):
        left = members[word]
        while left != _ZERO:
            at = word * 64 + np.int64(lowest_bit(left))
            count[row_list[at]] += row_weight[at]
            gain[row_list[at]] += row_gain[at]
            left &= left - _ONE
