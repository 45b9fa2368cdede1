"""Trees as preorder arrays: a subtree is a contiguous slice, and a crossover a splice.

``split[i]`` is -1 for a leaf, else 2 x feature + (1 if missing values go left). ``rule[i]`` is the number of
the cut of a numeric feature (bins up to it go left) or, for a categorical one, the set of bins that go left,
one bit each.
"""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiled import compiled
from shortlist.kernels.target.random_bits import draw_below, draw_unit, mix

LEAF = -1
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@compiled
def subtree_end(split, node):
    """One past the last node of the subtree that starts at ``node``."""
    open_nodes = 1
    while open_nodes > 0:
        open_nodes += 1 if split[node] >= 0 else -1
        node += 1
    return node


@compiled
def draw_set(n_bins, state):
    """A random set of 1 to n_bins / 2 bins; small sets are as likely as large ones, and far easier to read."""
    size = np.int64((n_bins // 2) ** draw_unit(state))
    members = _ZERO
    while size > 0:
        bit = _ONE << np.uint64(draw_below(state, n_bins))
        if members & bit == _ZERO:
            members |= bit
            size -= 1
    return members


@compiled
def draw_rule(cuts, feature, state):
    """A random split of a feature: its code and its rule."""
    n_cuts, has_missing = cuts.n_cuts[feature], cuts.missing_at[feature] >= 0
    missing_left = has_missing and draw_unit(state) < 0.5
    if not cuts.categorical[feature]:
        rule = np.uint64(draw_below(state, n_cuts))
    elif n_cuts > 1 and not (has_missing and draw_below(state, n_cuts + 1) == 0):
        rule = draw_set(n_cuts, state)
    else:
        rule = ~_ZERO >> np.uint64(64 - n_cuts)
    return fit_code(cuts, feature, missing_left, rule), rule


@compiled
def fit_code(cuts, feature, missing_left, rule):
    """The code of a split. Where all known values go left, missing ones must go right."""
    n_cuts, has_missing = cuts.n_cuts[feature], cuts.missing_at[feature] >= 0
    if cuts.categorical[feature]:
        parts_missing = rule == ~_ZERO >> np.uint64(64 - n_cuts)
    else:  # the last cut of a feature with missing values is infinite
        parts_missing = has_missing and np.int64(rule) == n_cuts - 1
    return 2 * feature + (1 if missing_left and not parts_missing else 0)


@compiled
def nudge_rule(cuts, code, rule, state):
    """A split like the given one: its cut moved by up to an eighth of the cuts, or one bin changing sides."""
    feature = code >> 1
    n_cuts = cuts.n_cuts[feature]
    if cuts.categorical[feature]:
        nudged = rule ^ (_ONE << np.uint64(draw_below(state, n_cuts)))
        if nudged == _ZERO or nudged == ~_ZERO >> np.uint64(64 - n_cuts):
            return draw_rule(cuts, feature, state)
    else:
        step = 1 + draw_below(state, max(n_cuts // 8, 1))
        cut = np.int64(rule) + (step if draw_unit(state) < 0.5 else -step)
        nudged = np.uint64(min(max(cut, 0), n_cuts - 1))
    return fit_code(cuts, feature, (code & 1) == 1, nudged), nudged


@compiled
def draw_split(cuts, state):
    """A random split of a random feature."""
    feature = cuts.usable[draw_below(state, cuts.usable.size)]
    return draw_rule(cuts, feature, state)


@compiled
def draw_tree(cuts, p_split, state, split, rule):
    """Grow a random tree into the arrays, as large as they allow; returns its number of nodes."""
    size, open_nodes = 0, 1
    while open_nodes > 0:
        if draw_unit(state) < p_split and size + open_nodes + 2 <= split.size:
            split[size], rule[size] = draw_split(cuts, state)
            open_nodes += 1
        else:
            split[size], rule[size] = LEAF, _ZERO
            open_nodes -= 1
        size += 1
    return size


@compiled
def copy_nodes(nodes, first, last, to, at):
    """``to[at:] = nodes[first:last]``, which as slices would take the compiler seconds."""
    for node in range(last - first):
        to[at + node] = nodes[first + node]


@compiled
def copy_tree(split, rule, size, to_split, to_rule):
    """Copy the first ``size`` nodes."""
    copy_nodes(split, 0, size, to_split, 0)
    copy_nodes(rule, 0, size, to_rule, 0)
    return size


@compiled
def graft(split, rule, size, node, donor_split, donor_rule, donor_node, to_split, to_rule):
    """A tree with the subtree at ``node`` replaced by the donor's; returns its size, 0 if it has no room."""
    end, donor_end = subtree_end(split, node), subtree_end(donor_split, donor_node)
    middle = node + donor_end - donor_node
    grown = middle + size - end
    if grown > to_split.size:
        return 0
    copy_tree(split, rule, node, to_split, to_rule)
    copy_nodes(donor_split, donor_node, donor_end, to_split, node)
    copy_nodes(donor_rule, donor_node, donor_end, to_rule, node)
    copy_nodes(split, end, size, to_split, middle)
    copy_nodes(rule, end, size, to_rule, middle)
    return grown


@compiled
def pick_inner(split, size, state):
    """A random node that splits; the tree has (size - 1) / 2 of them."""
    skip = draw_below(state, (size - 1) // 2)
    node = 0
    while split[node] < 0 or skip > 0:
        if split[node] >= 0:
            skip -= 1
        node += 1
    return node


@compiled
def hash_tree(split, rule, size):
    """A 64-bit fingerprint of a tree, never 0."""
    word = np.uint64(size)
    for node in range(size):
        word = mix(word + np.uint64(split[node] + 2)) + rule[node]
    return mix(word) | _ONE
