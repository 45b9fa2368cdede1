"""Greedy trees are valid, split where brute force says, and hold the rows they count."""

import numpy as np
import pytest

from shortlist.kernels.target.greedy_trees import best_split, common_sums, grow_tree, insert_split
from shortlist.kernels.target.random_bits import seed_stream
from shortlist.kernels.target.tree_fitness import send_down
from tests.kernels.target.test_breeding import arena, assert_valid, table  # noqa: F401


def new_room(place, seed):
    room = place.new_room()
    seed_stream(room.state, np.uint64(seed), 0, 0)
    return room


@pytest.mark.parametrize("seed", range(8))
def test_greedy_trees_are_valid_and_need_no_pruning(arena, seed):  # noqa: F811
    arena, _ = arena
    room = new_room(arena, seed)
    split, rule = np.full(15, -1, np.int32), np.zeros(15, np.uint64)
    size = grow_tree(2 + seed % 7, arena.cuts, arena.rows, 5.0, room, split, rule)
    assert 3 <= size <= 2 * (2 + seed % 7) - 1
    assert_valid(split, rule, size, arena.cuts)
    before = split.copy()
    assert send_down(split, rule, arena.cuts, arena.rows, 5.0, room) == size
    np.testing.assert_array_equal(split, before)


def test_a_split_gains_what_it_takes_from_the_gini_index(arena, table):  # noqa: F811
    (arena, _), (_, y) = arena, table
    room = new_room(arena, 3)
    everyone = arena.rows.everyone
    found, code, rule = best_split(everyone, 400.0, float(y.sum()), arena.cuts, arena.rows, 5.0, room)
    split, rules = np.array([code, -1, -1], np.int32), np.array([rule, 0, 0], np.uint64)
    send_down(split, rules, arena.cuts, arena.rows, 5.0, room)
    count, wanted = room.leaf_count[:2, 0], room.leaf_gain[:2, 0]
    gini = (wanted * (1 - wanted / count)).sum()
    assert found == pytest.approx(y.sum() * (1 - y.mean()) - gini)
    assert found > 0


def test_rows_are_summed_one_by_one_where_they_do_not_count_alike(arena):  # noqa: F811
    arena, _ = arena
    bits = 64 * arena.rows.everyone.size
    weight = np.arange(bits, dtype=float)
    rows = arena.rows._replace(counted=False, row_weight=weight, row_gain=2 * weight)
    side = arena.cuts.bits[0]
    members = np.flatnonzero(np.unpackbits((rows.everyone & side).view(np.uint8), bitorder="little"))
    assert common_sums(rows.everyone, side, rows) == (members.sum(), 2 * members.sum())


def test_a_leaf_in_the_middle_makes_room_for_two():
    split, rule = np.array([4, -1, -1, 9, 9], np.int32), np.zeros(5, np.uint64)
    insert_split(split, rule, 5, 1, 6, np.uint64(3))
    assert split.tolist() == [4, 6, -1, -1, -1]
    assert rule.tolist() == [0, 3, 0, 0, 0]
