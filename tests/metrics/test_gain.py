"""Discounted gain: known values, brute force over ties, huge impacts, lists without impact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from tests.metrics import reference
from tests.metrics.strategies import impacts

few = settings(max_examples=60)
STORMS = [1, 1, 1, 2, 2, 2]
IMPACT = [10_000, 100, 0, 100, 1, 0]
BY_CABLE = [3, 2, 1, 1, 2, 3]
BY_WIND = [1, 2, 3, 3, 2, 1]


def dcg(gains: np.ndarray, k: int) -> float:
    """Plain DCG of gains in ranked order."""
    return float(sum(gain / np.log2(rank + 2) for rank, gain in enumerate(gains[:k])))


@few
@given(impacts(), st.integers(1, 6), st.sampled_from(["exp2", "linear"]))
def test_ties_are_the_mean_over_all_orders(rows, k, gain):
    y, score = rows
    k = min(k, y.size)
    gains = 2**y - 1 if gain == "exp2" else y
    expected = reference.over_orders(lambda ranked: dcg(ranked, k), gains, score)
    assert metrics.dcg_at_k(y, score, k, gain=gain) == pytest.approx(expected)
    ideal = dcg(np.sort(gains)[::-1], k)
    assert metrics.ndcg_at_k(y, score, k, gain=gain) == pytest.approx(expected / ideal)


@few
@given(impacts())
def test_worst_ties_take_the_last_discount_of_their_block(rows):
    y, score = rows
    expected = np.sum(y / np.log2(reference.worst_ranks(score) + 1))
    assert metrics.dcg_at_k(y, score, gain="linear", ties="worst") == pytest.approx(expected)


@few
@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_agrees_with_scikit_learn(seed, k):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 4, 40), np.round(rng.normal(size=40), 1)
    expected = ndcg_score([2.0**y - 1], [score], k=k)
    assert metrics.ndcg_at_k(y, score, k) == pytest.approx(expected)


@pytest.mark.parametrize("score", [BY_CABLE, BY_WIND])
def test_the_storms_of_the_cost_paper_average_one_half(score):
    assert metrics.ndcg_at_k(IMPACT, score, 2, groups=STORMS) == pytest.approx(0.5, abs=1e-12)


def test_right_for_impacts_of_ten_thousand():
    swapped = metrics.ndcg_at_k([10_000, 9_999, 0], [1, 2, 0], 2)
    a, b = 1.0, 1 / np.log2(3)
    assert swapped == pytest.approx((0.5 * a + b) / (a + 0.5 * b), rel=1e-12)
    assert metrics.ndcg_at_k([10_000, 9_999, 0], [3, 2, 1], 2) == 1.0
    assert metrics.ndcg_at_k([1e-9, 2e-9], [2, 1], 1) == pytest.approx(0.5, rel=1e-8)


def test_exp2_of_ten_thousand_is_refused_where_it_is_no_ratio():
    with pytest.raises(InvalidInputError, match="ndcg_at_k"):
        metrics.dcg_at_k([10_000, 0], [1, 2])


@pytest.mark.parametrize(("no_gain", "expected"), [("exclude", 1.0), (0, 0.5), (1, 1.0)])
def test_lists_without_impact(no_gain, expected):
    value = metrics.ndcg_at_k([1, 0, 0, 0], [2, 1, 2, 1], 2, groups=[1, 1, 2, 2], no_gain=no_gain)
    assert value == pytest.approx(expected)


@few
@given(impacts(), impacts(), st.integers(1, 4))
def test_groups_average_over_lists_of_any_length(first, second, k):
    y, score = np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
    groups = np.repeat(["b", "a"], [first[0].size, second[0].size])
    each = [metrics.ndcg_at_k(*rows, min(k, rows[0].size)) for rows in (first, second)]
    assert metrics.ndcg_at_k(y, score, k, groups=groups) == pytest.approx(np.mean(each))


@few
@given(impacts(), st.randoms(use_true_random=False))
def test_only_the_order_of_scores_counts(rows, random):
    y, score = rows
    shuffle = random.sample(range(y.size), y.size)
    value = metrics.ndcg_at_k(y, score)
    assert 0 <= value <= 1 + 1e-12
    assert metrics.ndcg_at_k(y[shuffle], score[shuffle] ** 3 / 7) == pytest.approx(value)


def test_bad_input():
    with pytest.raises(InvalidInputError, match="gain must be"):
        metrics.ndcg_at_k([1, 0], [1, 2], gain="log")
    with pytest.raises(InvalidInputError, match="no_gain"):
        metrics.ndcg_at_k([1, 0], [1, 2], no_gain=2)
    with pytest.raises(InvalidInputError, match="only 2 rows"):
        metrics.ndcg_at_k([1, 0], [1, 2], 3)
    with pytest.raises(InvalidInputError, match="negative"):
        metrics.ndcg_at_k([1, -1], [1, 2])
    with pytest.raises(NoWantedRowsError, match="above 0"):
        metrics.ndcg_at_k([0, 0], [1, 2])
    with pytest.raises(InvalidInputError, match="score has 1 values that are NaN"):
        metrics.dcg_at_k([0, 1], [1, np.nan])
