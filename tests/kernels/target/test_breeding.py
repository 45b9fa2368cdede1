"""Operators keep trees valid, and the fitness they carry is the fitness they have."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.target.breeding import Plan, breed, draw_population, swap_two_nodes, swap_two_subtrees
from shortlist.kernels.target.genome import (
    draw_rule,
    draw_tree,
    graft,
    hash_tree,
    nudge_rule,
    pick_inner,
    subtree_end,
)
from shortlist.kernels.target.random_bits import draw_below, draw_unit, seed_stream
from shortlist.metrics import average_precision
from shortlist.objectives import AveragePrecision
from shortlist.rankers.target.binning import Bins
from shortlist.rankers.target.evolution import Arena, Genome
from shortlist.rankers.target.problem import Problem
from shortlist.rankers.target.tree import Tree

SEEDS = st.integers(0, 2**32)
SEED = np.uint64(7)
MIN_LEAF, ALPHA = 5.0, 0.001


@pytest.fixture(scope="module")
def table():
    """Numbers, a category with gaps, a flag and a constant."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=400),
            rng.integers(12, size=400),
            rng.integers(2, size=400),
            np.ones(400),
            rng.normal(size=400),
        ]
    )
    X[rng.random(400) < 0.1, 1] = np.nan
    X[rng.random(400) < 0.1, 4] = np.nan
    y = X[:, 0] + (X[:, 1] == 3) + rng.normal(size=400) > 1.3
    return X, y


@pytest.fixture(scope="module")
def arena(table):
    X, y = table
    categorical = np.array([False, True, False, False, False])
    bins = Bins.learn(X, categorical, None, 64, np.random.default_rng(0))
    problem = Problem(
        bins, *bins.numbers(X), y.astype(float), np.zeros(400, np.int64), None, AveragePrecision()
    )
    rows, position = problem.rows()
    return arena_of(problem, rows, problem.cuts(position, rows.everyone.size, 1e9), accept=2), bins


def arena_of(problem, rows, cuts, accept):
    plan = Plan(2, 12, 4, accept, 0.6, 0.5, np.array([0.25, 0.5, 0.75]), MIN_LEAF, ALPHA)
    return Arena(cuts, rows, plan, population=20, max_leaves=8, generations=5)


def state(seed):
    stream = np.zeros(1, dtype=np.uint64)
    seed_stream(stream, seed, 0, 0)
    return stream


def assert_valid(split, rule, size, cuts):
    assert subtree_end(split, 0) == size
    assert size % 2 == 1
    for code, number in zip(split[:size], rule[:size], strict=True):
        if code >= 0:
            feature = code >> 1
            assert feature in cuts.usable
            if cuts.categorical[feature]:
                assert 0 < int(number) < 2 ** int(cuts.n_cuts[feature])
            else:
                assert int(number) < cuts.n_cuts[feature]


@given(SEEDS)
@settings(max_examples=50)
def test_random_trees_are_valid(arena, seed):
    cuts, stream = arena[0].cuts, state(seed)
    split, rule = np.zeros(15, np.int32), np.zeros(15, np.uint64)
    assert_valid(split, rule, draw_tree(cuts, 0.8, stream, split, rule), cuts)


@given(SEEDS)
@settings(max_examples=100)
def test_rules_stay_in_range(arena, seed):
    cuts, stream = arena[0].cuts, state(seed)
    feature = int(cuts.usable[seed % cuts.usable.size])
    code, rule = draw_rule(cuts, feature, stream)
    for _ in range(10):
        assert_valid(np.array([code, -1, -1]), np.array([rule, 0, 0]), 3, cuts)
        code, rule = nudge_rule(cuts, code, np.uint64(rule), stream)
        assert code >> 1 == feature


@given(SEEDS)
@settings(max_examples=50)
def test_swaps_within_a_tree_keep_its_nodes(arena, seed):
    world, stream = arena[0], state(seed)
    room = world.new_room()
    seed_stream(room.state, seed, 1, 1)
    split, rule = np.zeros(15, np.int32), np.zeros(15, np.uint64)
    size = draw_tree(world.cuts, 0.8, stream, split, rule)
    before = Counter(zip(split[:size].tolist(), rule[:size].tolist(), strict=True))
    if size > 1:
        assert split[pick_inner(split, size, stream)] >= 0
        swap_two_nodes(split, rule, size, stream)
        swap_two_subtrees(split, rule, size, room)
    assert Counter(zip(split[:size].tolist(), rule[:size].tolist(), strict=True)) == before
    assert_valid(split, rule, size, world.cuts)


@given(SEEDS)
@settings(max_examples=50)
def test_a_graft_is_a_splice_or_refused(arena, seed):
    cuts, stream = arena[0].cuts, state(seed)
    a, b, out = (np.zeros(15, np.int32) for _ in range(3))
    a_rule, b_rule, out_rule = (np.zeros(15, np.uint64) for _ in range(3))
    a_size, b_size = draw_tree(cuts, 0.7, stream, a, a_rule), draw_tree(cuts, 0.7, stream, b, b_rule)
    at, bt = draw_below(stream, a_size), draw_below(stream, b_size)
    spliced = [*a[:at], *b[bt : subtree_end(b, bt)], *a[subtree_end(a, at) : a_size]]
    size = graft(a, a_rule, a_size, at, b, b_rule, bt, out, out_rule)
    if len(spliced) > 15:
        assert size == 0
    else:
        assert out[:size].tolist() == spliced
        assert_valid(out, out_rule, size, cuts)


def test_a_fingerprint_tells_trees_apart():
    split, rule = np.array([0, -1, -1], np.int32), np.zeros(3, np.uint64)
    other = rule.copy()
    other[0] = 1
    assert hash_tree(split, rule, 3) == hash_tree(split.copy(), rule.copy(), 3)
    assert hash_tree(split, rule, 3) != hash_tree(split, other, 3)


@pytest.mark.parametrize("accept", [0, 1, 2, 3])
@pytest.mark.parametrize("memory", [1e9, 0.0], ids=["row sets", "bit planes"])
def test_generations_stay_valid_and_carry_their_own_fitness(table, arena, accept, memory):
    X, y = table
    world, bins = arena
    problem = Problem(
        bins, *bins.numbers(X), y.astype(float), np.zeros(400, np.int64), None, AveragePrecision()
    )
    rows, position = problem.rows()
    world = arena_of(problem, rows, problem.cuts(position, rows.everyone.size, memory), accept)
    old, new, room = world.new_population(), world.new_population(), world.new_room()
    draw_population(0, 20, old, world.plan, SEED, world.cuts, rows, room)
    for generation in range(1, 9):
        new.fitness[: world.plan.n_elite] = -np.inf
        breed(
            0,
            world.n_jobs,
            old,
            new,
            np.cumsum(np.maximum(old.fitness, 0)),
            world.plan,
            SEED,
            generation,
            world.cuts,
            rows,
            room,
        )
        assert np.isfinite(new.fitness[world.plan.n_elite :]).all()
        old, new = new, old
    for place in range(world.plan.n_elite, 20):
        size = int(old.size[place])
        assert_valid(old.split[place], old.rule[place], size, world.cuts)
        tree = Tree.from_genome(Genome(old.split[place, :size], old.rule[place, :size], 0.0), world, bins)
        leaf = tree.leaf_of(X, bins)
        assert np.bincount(leaf)[tree.leaves].min() >= MIN_LEAF
        value = average_precision(y, tree.score[leaf])
        assert old.fitness[place] == pytest.approx(value - ALPHA * tree.leaves.size)


def test_streams_differ_by_seed_generation_and_job():
    starts = set()
    for seed in range(3):
        for generation in range(3):
            for job in range(3):
                stream = np.zeros(1, dtype=np.uint64)
                seed_stream(stream, seed, generation, job)
                starts.add(int(stream[0]))
    assert len(starts) == 27


def test_draws_are_uniform():
    stream = state(1)
    draws = np.array([draw_unit(stream) for _ in range(20_000)])
    counts = np.histogram(draws, bins=10, range=(0, 1))[0]
    assert abs(counts - 2_000).max() < 200
    assert draws.max() < 1
