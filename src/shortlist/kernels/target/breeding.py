"""One generation of trees: elitism, crossover, mutation, transplant.

A generation is cut into jobs (one crossover, one mutation or one new tree each). Every job has its own
random stream and its own place in the next generation, so that threads can share the jobs in any way.

Steps that are called from one or two places are inlined: every function that is compiled by itself takes another
second or two of whoever fits a tree for the first time.
"""

# Numba infers the types of these kernels from the arrays of the named tuples they work on.
# mypy: allow-untyped-defs

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled
from shortlist.kernels.target.genome import (
    copy_nodes,
    copy_tree,
    draw_rule,
    draw_split,
    draw_tree,
    graft,
    nudge_rule,
    pick_inner,
    subtree_end,
)
from shortlist.kernels.target.greedy_trees import grow_tree
from shortlist.kernels.target.random_bits import draw_below, draw_unit, seed_stream
from shortlist.kernels.target.tree_fitness import tree_fitness

BOTH_CHILDREN, BETTER_CHILD, BEST_OF_FOUR, BEST_TWO_OF_FOUR = 0, 1, 2, 3
_TRIES = 8


class Population(NamedTuple):
    """Trees in preorder, one row each."""

    split: NDArray[np.int32]
    rule: NDArray[np.uint64]
    size: NDArray[np.int64]
    fitness: NDArray[np.float64]


class Plan(NamedTuple):
    """How a generation is made; the first ``n_elite`` trees of the next one are copies of the best."""

    n_elite: int
    n_crossover: int
    n_mutation: int
    accept: int
    p_split: float
    p_node_swap: float
    mutations: NDArray[np.float64]  # cumulated: split set, split rule, node swap; the rest: subtree swap
    min_leaf: float
    alpha: float
    n_grown: int = 0  # trees of the first generation that are grown greedily
    most_grown: int = 2  # and the most leaves of these
    p_nudge: float = 0.5  # mutations of a split set that only nudge it


@compiled
def draw_population(first, last, trees, plan, seed, cuts, rows, room):
    """The first trees for the places from ``first`` to ``last``: some grown greedily, the others random."""
    for place in range(first, last):
        seed_stream(room.state, seed, 0, place)
        if place < plan.n_grown:
            _grow(place, trees, plan, cuts, rows, room)
        else:
            _transplant(place, trees, plan, cuts, rows, room)


@compiled
def keep_elite(old, new, n_elite, wheel):
    """Copy the fittest trees into the first places of the next generation; cumulate the fitness of all."""
    total = 0.0
    for tree in range(wheel.size):
        total += max(old.fitness[tree], 0.0)
        wheel[tree] = total
    taken = np.zeros(wheel.size, dtype=np.bool_)
    for place in range(n_elite):
        best = -1
        for tree in range(wheel.size):
            if not taken[tree] and (best < 0 or old.fitness[tree] > old.fitness[best]):
                best = tree
        taken[best] = True
        _adopt(place, new, old.split[best], old.rule[best], old.size[best], old.fitness[best])


@compiled
def summarise(trees):
    """Place and fitness of the best tree, mean fitness, mean number of nodes."""
    best = np.argmax(trees.fitness)
    return best, trees.fitness[best], trees.fitness.mean(), trees.size.mean()


@compiled
def breed(first, last, old, new, wheel, plan, seed, generation, cuts, rows, room):
    """Do the jobs from ``first`` to ``last`` of a generation; ``wheel`` cumulates the parents' fitness."""
    pair = plan.accept in (BOTH_CHILDREN, BEST_TWO_OF_FOUR)
    n_crossings = (plan.n_crossover + 1) // 2 if pair else plan.n_crossover
    mutants, fresh = plan.n_elite + plan.n_crossover, plan.n_elite + plan.n_crossover + plan.n_mutation
    for job in range(first, last):
        seed_stream(room.state, seed, generation, job)
        if job < n_crossings:
            place = plan.n_elite + (2 * job if pair else job)
            _cross(place, min(place + (2 if pair else 1), mutants), old, new, wheel, plan, cuts, rows, room)
        elif job < n_crossings + plan.n_mutation:
            _mutate(mutants + job - n_crossings, old, new, wheel, plan, cuts, rows, room)
        else:
            _transplant(fresh + job - n_crossings - plan.n_mutation, new, plan, cuts, rows, room)


@compiled
def _pick_parent(wheel, state):
    """A tree, with probability proportional to its fitness."""
    if wheel[-1] <= 0.0:
        return draw_below(state, wheel.size)
    return min(np.searchsorted(wheel, draw_unit(state) * wheel[-1], side="right"), wheel.size - 1)


@compiled(inline="always")
def _settle(place, trees, size, plan, cuts, rows, room):
    """Prune and value the tree at a place."""
    trees.size[place], trees.fitness[place] = tree_fitness(
        trees.split[place], trees.rule[place], size, cuts, rows, plan.min_leaf, plan.alpha, room
    )


@compiled
def _adopt(place, trees, split, rule, size, fitness):
    copy_tree(split, rule, size, trees.split[place], trees.rule[place])
    trees.size[place], trees.fitness[place] = size, fitness


@compiled(inline="always")
def _transplant(place, trees, plan, cuts, rows, room):
    size = draw_tree(cuts, plan.p_split, room.state, trees.split[place], trees.rule[place])
    _settle(place, trees, size, plan, cuts, rows, room)


@compiled(inline="always")
def _grow(place, trees, plan, cuts, rows, room):
    """A greedy tree; of its possible numbers of leaves, small ones are as likely as large ones."""
    leaves = np.int64(2.0 * (0.5 * plan.most_grown + 0.5) ** draw_unit(room.state))
    split, rule = trees.split[place], trees.rule[place]
    size = grow_tree(leaves, cuts, rows, plan.min_leaf, room, split, rule)
    _settle(place, trees, size, plan, cuts, rows, room)


@compiled(inline="always")
def _cross(place, stop, old, new, wheel, plan, cuts, rows, room):
    """Cross two parents and fill the places before ``stop`` by the acceptance rule."""
    a, b = _pick_parent(wheel, room.state), _pick_parent(wheel, room.state)
    if draw_unit(room.state) < plan.p_node_swap:
        sizes = _swap_nodes(a, b, old, room)
    else:
        sizes = _swap_subtrees(a, b, old, room)
    family = np.full(4, -np.inf)  # two children, two parents
    for child in range(2):
        if sizes[child] > 0:
            size, family[child] = tree_fitness(
                room.split[child], room.rule[child], sizes[child], cuts, rows, plan.min_leaf, plan.alpha, room
            )
            sizes[child] = size
    if sizes[0] + sizes[1] == 0 or plan.accept >= BEST_OF_FOUR:
        family[2], family[3] = old.fitness[a], old.fitness[b]
    for taken in range(place, stop):
        best = np.argmax(family)
        if best < 2:
            _adopt(taken, new, room.split[best], room.rule[best], sizes[best], family[best])
        else:
            parent = a if best == 2 else b
            _adopt(taken, new, old.split[parent], old.rule[parent], old.size[parent], old.fitness[parent])
        if family.max() > -np.inf and np.sum(family > -np.inf) > 1:
            family[best] = -np.inf


@compiled
def _swap_nodes(a, b, old, room):
    """Two children that have exchanged the split of one node; sizes 0 when there is nothing to swap."""
    sizes = np.zeros(2, dtype=np.int64)
    if old.size[a] == 1 or old.size[b] == 1:
        return sizes
    for _ in range(_TRIES):
        at, bt = (
            pick_inner(old.split[a], old.size[a], room.state),
            pick_inner(old.split[b], old.size[b], room.state),
        )
        if at + bt > 0:  # not both roots
            sizes[0] = copy_tree(old.split[a], old.rule[a], old.size[a], room.split[0], room.rule[0])
            sizes[1] = copy_tree(old.split[b], old.rule[b], old.size[b], room.split[1], room.rule[1])
            room.split[0, at], room.rule[0, at] = old.split[b, bt], old.rule[b, bt]
            room.split[1, bt], room.rule[1, bt] = old.split[a, at], old.rule[a, at]
            return sizes
    return sizes


@compiled
def _swap_subtrees(a, b, old, room):
    """Two children that have exchanged a subtree; a child without room has size 0."""
    sizes = np.zeros(2, dtype=np.int64)
    for _ in range(_TRIES):
        at, bt = draw_below(room.state, old.size[a]), draw_below(room.state, old.size[b])
        both_leaves = old.split[a, at] < 0 and old.split[b, bt] < 0
        if at + bt > 0 and not both_leaves:
            sizes[0] = graft(
                old.split[a],
                old.rule[a],
                old.size[a],
                at,
                old.split[b],
                old.rule[b],
                bt,
                room.split[0],
                room.rule[0],
            )
            sizes[1] = graft(
                old.split[b],
                old.rule[b],
                old.size[b],
                bt,
                old.split[a],
                old.rule[a],
                at,
                room.split[1],
                room.rule[1],
            )
            return sizes
    return sizes


@compiled(inline="always")
def _mutate(place, old, new, wheel, plan, cuts, rows, room):
    """Change one tree: its split set, its split rule, two of its nodes or two of its subtrees."""
    parent = _pick_parent(wheel, room.state)
    split, rule, size = new.split[place], new.rule[place], old.size[parent]
    copy_tree(old.split[parent], old.rule[parent], size, split, rule)
    kind = np.searchsorted(plan.mutations, draw_unit(room.state), side="right")
    if size > 1:
        if kind < 2:
            node = pick_inner(split, size, room.state)
            if kind == 0 and draw_unit(room.state) < plan.p_nudge:
                split[node], rule[node] = nudge_rule(cuts, split[node], rule[node], room.state)
            elif kind == 0:
                split[node], rule[node] = draw_rule(cuts, split[node] >> 1, room.state)
            else:
                split[node], rule[node] = draw_split(cuts, room.state)
        elif kind == 2:
            swap_two_nodes(split, rule, size, room.state)
        else:
            swap_two_subtrees(split, rule, size, room)
    _settle(place, new, size, plan, cuts, rows, room)


@compiled
def swap_two_nodes(split, rule, size, state):
    """Exchange the splits of two nodes of a tree."""
    a, b = pick_inner(split, size, state), pick_inner(split, size, state)
    split[a], split[b] = split[b], split[a]
    rule[a], rule[b] = rule[b], rule[a]


@compiled
def swap_two_subtrees(split, rule, size, room):
    """Exchange two subtrees of a tree, neither of which holds the other."""
    for _ in range(_TRIES):
        a, b = draw_below(room.state, size), draw_below(room.state, size)
        a, b = min(a, b), max(a, b)
        a_end = subtree_end(split, a)
        if a_end <= b and (split[a] >= 0 or split[b] >= 0):
            b_end = subtree_end(split, b)
            _rotate(split, room.split[0], a, a_end, b, b_end)
            _rotate(rule, room.rule[0], a, a_end, b, b_end)
            return


@compiled
def _rotate(nodes, spare, a, a_end, b, b_end):
    """Put nodes[b:b_end] before and nodes[a:a_end] after what lies between them."""
    copy_nodes(nodes, a, b_end, spare, a)
    copy_nodes(spare, b, b_end, nodes, a)
    copy_nodes(spare, a_end, b, nodes, a + b_end - b)
    copy_nodes(spare, a, a_end, nodes, a + b_end - a_end)
