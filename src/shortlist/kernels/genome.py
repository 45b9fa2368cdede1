"""Trees as preorder arrays: a subtree is a contiguous slice, and a crossover a splice.

``split[i]`` is -1 for a leaf, else 2 x feature + (1 if missing values go left). ``rule[i]`` is the number of
the cut of a numeric feature (bins up to it go left) or, for a categorical one, the set of bins that go left,
one bit each.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shortlist.kernels.random_bits import draw_below, draw_unit, draw_word, mix

LEAF = -1
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@njit(cache=True, nogil=True)
def subtree_end(split, node):
    """One past the last node of the subtree that starts at ``node``."""
    open_nodes = 1
    while open_nodes > 0:
        open_nodes += 1 if split[node] >= 0 else -1
        node += 1
    return node


@njit(cache=True, nogil=True)
def draw_rule(cuts, feature, state):
    """A random split of a feature: its code and its rule."""
    n_cuts, has_missing = cuts.n_cuts[feature], cuts.missing_at[feature] >= 0
    missing_left = has_missing and draw_unit(state) < 0.5
    if cuts.categorical[feature]:
        everything = ~_ZERO >> np.uint64(64 - n_cuts)
        rule = draw_word(state) & everything
        while n_cuts > 1 and (rule == _ZERO or rule == everything) and not has_missing:
            rule = draw_word(state) & everything
        if rule == _ZERO or rule == everything:  # known against missing
            rule, missing_left = everything, False
    else:
        rule = np.uint64(draw_below(state, n_cuts))
        # The last cut of a feature with missing values is infinite: known against missing.
        if has_missing and np.int64(rule) == n_cuts - 1:
            missing_left = False
    return 2 * feature + (1 if missing_left else 0), rule


@njit(cache=True, nogil=True)
def draw_split(cuts, state):
    """A random split of a random feature."""
    feature = cuts.usable[draw_below(state, cuts.usable.size)]
    return draw_rule(cuts, feature, state)


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def copy_tree(split, rule, size, to_split, to_rule):
    """Copy the first ``size`` nodes."""
    to_split[:size] = split[:size]
    to_rule[:size] = rule[:size]
    return size


@njit(cache=True, nogil=True)
def graft(split, rule, size, node, donor_split, donor_rule, donor_node, to_split, to_rule):
    """A tree with the subtree at ``node`` replaced by the donor's; returns its size, 0 if it has no room."""
    end, donor_end = subtree_end(split, node), subtree_end(donor_split, donor_node)
    middle = node + donor_end - donor_node
    grown = middle + size - end
    if grown > to_split.size:
        return 0
    to_split[:node], to_rule[:node] = split[:node], rule[:node]
    to_split[node:middle] = donor_split[donor_node:donor_end]
    to_rule[node:middle] = donor_rule[donor_node:donor_end]
    to_split[middle:grown], to_rule[middle:grown] = split[end:size], rule[end:size]
    return grown


@njit(cache=True, nogil=True)
def pick_inner(split, size, state):
    """A random node that splits; the tree has (size - 1) / 2 of them."""
    skip = draw_below(state, (size - 1) // 2)
    node = 0
    while split[node] < 0 or skip > 0:
        if split[node] >= 0:
            skip -= 1
        node += 1
    return node


@njit(cache=True, nogil=True)
def hash_tree(split, rule, size):
    """A 64-bit fingerprint of a tree, never 0."""
    word = np.uint64(size)
    for node in range(size):
        word = mix(word + np.uint64(split[node] + 2)) + rule[node]
    return mix(word) | _ONE
