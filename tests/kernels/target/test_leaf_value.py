from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from shortlist.kernels.target.leaf_value import (
    AVERAGE_PRECISION,
    DISCOUNTED,
    PAIRS,
    discount_until,
    harmonic,
    leaf_value,
)
from shortlist.metrics import average_precision, roc_auc
from shortlist.objectives import NDCG

LEAVES = st.lists(
    st.integers(1, 4).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=6
).filter(lambda leaves: 0 < sum(p for p, _ in leaves) < sum(n for _, n in leaves))


def rows_of(leaves):
    """Labels and scores of the rows in the leaves."""
    y = np.concatenate([np.repeat([1, 0], [p, n - p]) for p, n in leaves])
    score = np.concatenate([np.full(n, p / n) for p, n in leaves])
    return y, score


def value(kind, leaves, ideal, discounts=(0.0, 0.0)):
    gain, count = (np.array(column, dtype=float)[:, None] for column in zip(*leaves, strict=True))
    room = np.zeros(len(leaves)), np.zeros(len(leaves), dtype=np.int64)
    return leaf_value(kind, gain, count, len(leaves), np.array([1 / ideal]), np.array(discounts), *room)


@given(LEAVES.filter(lambda leaves: sum(n for _, n in leaves) <= 6))
@settings(max_examples=30)
def test_average_precision_is_the_mean_over_all_orders_of_tied_rows(leaves):
    y, score = rows_of(leaves)
    orders = [order for order in permutations(range(y.size)) if np.all(np.diff(score[list(order)]) <= 0)]
    hits = y[np.array(orders)]
    precision = np.cumsum(hits, axis=1) / np.arange(1, y.size + 1)
    expected = np.mean((precision * hits).sum(axis=1) / y.sum())
    assert value(AVERAGE_PRECISION, leaves, y.sum()) == pytest.approx(expected)


@given(LEAVES)
@settings(max_examples=60)
def test_leaf_counts_give_what_the_metrics_give(leaves):
    y, score = rows_of(leaves)
    assert value(AVERAGE_PRECISION, leaves, y.sum()) == pytest.approx(average_precision(y, score))
    assert value(PAIRS, leaves, y.sum() * (y.size - y.sum())) == pytest.approx(roc_auc(y, score))
    goal = NDCG(k=5, gain="linear")
    discounts = np.concatenate([[0], np.cumsum(goal.discounts(5))])
    ideal = goal.ideal(y.astype(float))
    assert value(DISCOUNTED, leaves, ideal, discounts) == pytest.approx(goal.value(y, score))


@given(st.floats(0, 1e9))
@settings(max_examples=100)
def test_harmonic_numbers(x):
    assert harmonic(x) == pytest.approx(digamma(x + 1) + np.euler_gamma, abs=1e-13)


def test_discounts_between_ranks_and_beyond_the_last():
    cumulated = np.array([0.0, 1.0, 1.5])
    assert [discount_until(cumulated, rank) for rank in (0.0, 0.5, 1.0, 1.5, 2.0, 7.0)] == [
        0,
        0.5,
        1,
        1.25,
        1.5,
        1.5,
    ]
