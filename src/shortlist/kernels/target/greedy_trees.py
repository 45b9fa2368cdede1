"""Trees grown greedily: each split is the purest of a few.

Evolution starts from random trees, of which few are any good; with many features or many wanted rows it ends before it
has found what a greedy tree finds at once. Some trees of the first generation are therefore grown this way.
"""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled
from shortlist.kernels.target.bitset import (
    copy_rows,
    count_common,
    drop_rows,
    keep_common,
    lowest_bit,
    rows_left,
)
from shortlist.kernels.target.genome import LEAF, draw_rule
from shortlist.kernels.target.random_bits import draw_below

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_CUTS = 8  # of a number that are compared


@compiled
def grow_tree(n_leaves, cuts, rows, min_leaf, room, split, rule):
    """Grow a tree of at most ``n_leaves`` into the arrays, always where it parts the rows best; returns its size.

    Leaf i holds the rows ``room.sets[i]`` and is node ``place[i]``; ``best[i]`` is what its best split would gain.
    """
    sets = room.sets
    place, code, cut = (
        np.zeros(n_leaves, np.int64),
        np.zeros(n_leaves, np.int32),
        np.zeros(n_leaves, np.uint64),
    )
    count, gain, best = np.zeros(n_leaves), np.zeros(n_leaves), np.zeros(n_leaves)
    copy_rows(rows.everyone, sets[0])
    count[0], gain[0] = rows.n_rows, rows.gain
    split[0], rule[0] = LEAF, _ZERO
    best[0], code[0], cut[0] = best_split(sets[0], count[0], gain[0], cuts, rows, min_leaf, room)
    leaves = 1
    while leaves < n_leaves:
        old, new = np.argmax(best[:leaves]), leaves
        if best[old] <= 0.0:
            break
        leaves += 1
        insert_split(split, rule, 2 * leaves - 1, place[old], code[old], cut[old])
        for other in range(new):  # a loop: what compiles ``place += np.where(...)`` takes seconds
            if place[other] > place[old]:
                place[other] += 2
        place[new], place[old] = place[old] + 1, place[old] + 2
        side = rows_left(cuts, code[old] >> 1, (code[old] & 1) == 1, cut[old], room.side)
        keep_common(sets[old], side, sets[new], 0, side.size)
        count[new], gain[new] = common_sums(sets[old], side, rows)
        drop_rows(sets[old], sets[new])
        count[old] -= count[new]
        gain[old] -= gain[new]
        for half in (old, new):
            best[half], code[half], cut[half] = best_split(
                sets[half], count[half], gain[half], cuts, rows, min_leaf, room
            )
    return 2 * leaves - 1


@compiled
def best_split(members, count, gain, cuts, rows, min_leaf, room):
    """The purest split by a third of the features, drawn at random: what it gains, its code and its rule."""
    best, best_code, best_rule = 0.0, np.int32(LEAF), _ZERO
    features = cuts.usable.copy()
    for turn in range((features.size + 2) // 3):
        other = turn + draw_below(room.state, features.size - turn)
        features[turn], features[other] = features[other], features[turn]
        if cuts.categorical[features[turn]]:
            found, code, rule = _best_set(members, count, gain, features[turn], cuts, rows, min_leaf, room)
        else:
            found, code, rule = _best_cut(members, count, gain, features[turn], cuts, rows, min_leaf, room)
        if found > best:
            best, best_code, best_rule = found, np.int32(code), rule
    return best, best_code, best_rule


@compiled(inline="always")
def _best_cut(members, count, gain, feature, cuts, rows, min_leaf, room):
    """The purest of a few random cuts of a number."""
    best, best_code, best_rule = 0.0, LEAF, _ZERO
    for _ in range(_CUTS):
        code, rule = draw_rule(cuts, feature, room.state)
        if cuts.ready[feature]:
            side = cuts.bits[cuts.start[feature] + np.int64(rule)]
        else:
            side = rows_left(cuts, feature, (code & 1) == 1, rule, room.side)
        left_count, left_gain = common_sums(members, side, rows)
        purer = _purer(left_count, left_gain, count, gain, min_leaf)
        if purer > best:
            best, best_code, best_rule = purer, code, rule
    return best, best_code, best_rule


@compiled(inline="always")
def _best_set(members, count, gain, feature, cuts, rows, min_leaf, room):
    """The purest set of one category, or of that one and another: larger sets fit chance too easily."""
    n_bins, best, best_bin, best_rule = cuts.n_cuts[feature], 0.0, -1, _ZERO
    bin_count, bin_gain = np.zeros(n_bins), np.zeros(n_bins)
    for number in range(n_bins):
        side = rows_left(cuts, feature, False, _ONE << np.uint64(number), room.side)
        bin_count[number], bin_gain[number] = common_sums(members, side, rows)
        purer = _purer(bin_count[number], bin_gain[number], count, gain, min_leaf)
        if purer > best:
            best, best_bin, best_rule = purer, number, _ONE << np.uint64(number)
    for number in range(n_bins if best_bin >= 0 else 0):
        if number != best_bin:
            pair_count, pair_gain = (
                bin_count[best_bin] + bin_count[number],
                bin_gain[best_bin] + bin_gain[number],
            )
            purer = _purer(pair_count, pair_gain, count, gain, min_leaf)
            if purer > best:
                best, best_rule = purer, (_ONE << np.uint64(best_bin)) | (_ONE << np.uint64(number))
    return best, 2 * feature, best_rule


@compiled
def _purer(left_count, left_gain, count, gain, min_leaf):
    """What a split takes from the squared error of the gains (for labels: the Gini index); 0 for too small a side."""
    right_count, right_gain = count - left_count, gain - left_gain
    if left_count < min_leaf or right_count < min_leaf:
        return 0.0
    less = left_gain**2 / left_count + right_gain**2 / right_count - gain**2 / count
    return less if less > 1e-9 * gain else 0.0


@compiled
def common_sums(members, side, rows):
    """Rows and gain of what two sets have in common."""
    if rows.counted:
        wanted = count_common(members, side, 0, rows.wanted_words)
        others = count_common(members, side, rows.wanted_words, side.size)
        return np.float64(wanted + others), np.float64(wanted)
    count = gain = 0.0
    for word in range(side.size):
        left = members[word] & side[word]
        while left != _ZERO:
            at = word * 64 + np.int64(lowest_bit(left))
            count += rows.row_weight[at]
            gain += rows.row_gain[at]
            left &= left - _ONE
    return count, gain


@compiled
def insert_split(split, rule, size, node, code, cut):
    """Make a leaf split into two; ``size`` is that of the larger tree."""
    for after in range(size - 1, node + 2, -1):
        split[after], rule[after] = split[after - 2], rule[after - 2]
    split[node], rule[node] = code, cut
    for child in (node + 1, node + 2):
        split[child], rule[child] = LEAF, _ZERO
