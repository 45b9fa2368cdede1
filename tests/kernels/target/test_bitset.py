import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.target.bitset import (
    copy_rows,
    count_common,
    drop_rows,
    join_rows,
    keep_common,
    rows_left,
    weigh,
)
from shortlist.objectives import AveragePrecision
from shortlist.rankers.target.binning import Bins
from shortlist.rankers.target.problem import Problem

WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5).map(
    lambda ws: np.array(ws, dtype=np.uint64)
)


def members(bits):
    """Positions in a set, the slow way."""
    return {64 * word + bit for word, value in enumerate(bits) for bit in range(64) if int(value) >> bit & 1}


@given(WORDS, st.data())
@settings(max_examples=40)
def test_set_operations(a, data):
    b = np.array(
        data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=a.size, max_size=a.size)), dtype=np.uint64
    )
    both, out = members(a) & members(b), np.zeros_like(a)
    assert count_common(a, b, 0, a.size) == len(both)
    assert keep_common(a, b, out, 0, a.size) == len(both)
    assert members(out) == both
    weight = np.arange(64.0 * a.size)
    assert weigh(out, weight) == sum(both)
    copy_rows(a, out)
    join_rows(out, b)
    assert members(out) == members(a) | members(b)
    drop_rows(out, b)
    assert members(out) == members(a) - members(b)


@given(st.integers(0, 10_000), st.booleans(), st.integers(2, 64), st.sampled_from([0.0, 1e12]))
@settings(max_examples=40)
def test_rows_left_of_a_split(seed, categorical, n_bins, memory):
    """Row sets per cut (much memory) and bit planes (none) both give the rows that a split sends left."""
    rng = np.random.default_rng(seed)
    values = rng.integers(n_bins, size=(150, 1)).astype(float)
    values[0], values[1] = 0, n_bins - 1
    values[rng.random(150) < rng.choice([0, 0.2])] = np.nan
    bins = Bins.learn(values, np.array([categorical]), None, 256, rng)
    code, missing = bins.numbers(values)
    y = rng.random(150) < 0.3
    problem = Problem(bins, code, missing, y.astype(float), np.zeros(150, np.int64), None, AveragePrecision())
    rows, position = problem.rows()
    cuts = problem.cuts(position, rows.everyone.size, memory)
    missing_left = bool(rng.random() < 0.5)
    top = int(cuts.n_cuts[0])
    rule = np.uint64(
        rng.integers(1, 2**top, dtype=np.uint64, endpoint=False) if categorical else rng.integers(top)
    )
    left = (
        rows_left(cuts, 0, missing_left, rule, np.zeros(rows.everyone.size, dtype=np.uint64)) & rows.everyone
    )
    goes = (int(rule) >> code[0].astype(object)) & 1 == 1 if categorical else code[0] <= int(rule)
    goes = np.where(missing[0], missing_left, goes.astype(bool))
    assert members(left) == set(position[goes].tolist())


def test_wanted_rows_come_first():
    gain = np.array([0, 1, 0, 1.0])
    bins = Bins(np.array([False]), [np.array([0.5])], [np.zeros(0, np.uint8)])
    problem = Problem(
        bins,
        np.zeros((1, 4), np.uint8),
        np.zeros((1, 4), bool),
        gain,
        np.zeros(4, np.int64),
        None,
        AveragePrecision(),
    )
    rows, position = problem.rows()
    assert rows.wanted_words == 1
    assert position.tolist() == [64, 0, 65, 1]
    assert members(rows.everyone) == {0, 1, 64, 65}


@pytest.mark.parametrize("n", [1, 63, 64, 65])
def test_every_row_is_in_everyone(n):
    gain = np.r_[np.ones(n), np.zeros(n)]
    bins = Bins(np.array([False]), [np.array([0.5])], [np.zeros(0, np.uint8)])
    shape = (1, 2 * n)
    problem = Problem(
        bins,
        np.zeros(shape, np.uint8),
        np.zeros(shape, bool),
        gain,
        np.zeros(2 * n, np.int64),
        None,
        AveragePrecision(),
    )
    rows, position = problem.rows()
    assert members(rows.everyone) == set(position.tolist())
