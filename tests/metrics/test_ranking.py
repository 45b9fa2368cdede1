"""Measures of wanted rows: known values, brute force over ties, properties, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from tests.metrics import reference
from tests.metrics.strategies import labelled

few = settings(max_examples=60)
RANK_MEASURES = [metrics.average_precision, metrics.roc_auc, metrics.precision_at_p, metrics.pos_at_top]
AT_K = [metrics.precision_at_k, metrics.recall_at_k, metrics.f1_at_k]


def ranking(n: int, *hits: int) -> tuple[np.ndarray, np.ndarray]:
    """Wanted rows at these ranks (from 1) of n."""
    y = np.zeros(n, dtype=int)
    y[np.array(hits) - 1] = 1
    return y, -np.arange(n, dtype=float)


@pytest.mark.parametrize(("hits", "expected"), [((1, 2, 4), 0.9167), ((1, 4, 5), 0.70), ((1, 2, 3), 1.0)])
def test_average_precision_of_target_table_2(hits, expected):
    assert metrics.average_precision(*ranking(5, *hits)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("hits", "ap", "auc"), [((4, 5), 0.325, 0.625), ((2, 8), 0.375, 0.5625)])
def test_sgbap_figure_1_where_the_measures_disagree(hits, ap, auc):
    assert metrics.average_precision(*ranking(10, *hits)) == pytest.approx(ap)
    assert metrics.roc_auc(*ranking(10, *hits)) == pytest.approx(auc)


def test_sgbap_table_1():
    x = np.arange(-6, 8)
    y = np.isin(x, [-3, -2, 6])
    assert metrics.average_precision(y, x) == pytest.approx(0.3242, abs=5e-5)
    assert metrics.roc_auc(y, x) == pytest.approx(0.485, abs=5e-4)
    assert metrics.average_precision(y, -x) == pytest.approx(0.2936, abs=5e-5)
    assert metrics.roc_auc(y, -x) == pytest.approx(0.515, abs=5e-4)
    assert metrics.average_precision(y, np.zeros(14), ties="worst") == pytest.approx(3 / 14)
    assert metrics.average_precision(y, np.zeros(14)) == pytest.approx(0.3504, abs=5e-5)


@few
@given(labelled(both=True), st.integers(1, 6))
def test_average_ties_are_the_mean_over_all_orders(rows, k):
    y, score = rows
    k = min(k, y.size)
    mean = lambda measure: pytest.approx(reference.over_orders(measure, y, score))  # noqa: E731
    assert metrics.average_precision(y, score) == mean(reference.average_precision)
    assert metrics.roc_auc(y, score) == mean(reference.auc)
    assert metrics.pos_at_top(y, score) == mean(reference.pos_at_top)
    assert metrics.precision_at_k(y, score, k) == mean(lambda hits: hits[:k].mean())
    assert metrics.recall_at_k(y, score, k) == mean(lambda hits: hits[:k].sum() / y.sum())
    assert metrics.f1_at_k(y, score, k) == mean(lambda hits: 2 * hits[:k].sum() / (k + y.sum()))
    assert metrics.precision_at_p(y, score) == mean(lambda hits: hits[: y.sum()].mean())


@few
@given(labelled(both=True), st.integers(1, 6))
def test_worst_ties_rank_at_the_end_of_their_block(rows, k):
    y, score = rows
    k = min(k, y.size)
    ranks, wanted = reference.worst_ranks(score), y == 1
    precisions = [np.sum(ranks[wanted] <= rank) / rank for rank in ranks[wanted]]
    assert metrics.average_precision(y, score, ties="worst") == pytest.approx(np.mean(precisions))
    assert metrics.average_precision(y, score, ties="worst") == pytest.approx(
        average_precision_score(y, score)
    )
    assert metrics.precision_at_k(y, score, k, ties="worst") == pytest.approx(np.sum(ranks[wanted] <= k) / k)
    pairs = score[wanted][:, None] > score[~wanted]
    assert metrics.roc_auc(y, score, ties="worst") == pytest.approx(pairs.mean())
    assert metrics.pos_at_top(y, score, ties="worst") == pytest.approx(pairs.all(axis=1).mean())


@few
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.02, 0.5]))
def test_agrees_with_scikit_learn_on_larger_sets(seed, rounded, share):
    rng = np.random.default_rng(seed)
    y, score = rng.random(300) < share, rng.normal(size=300)
    y[:2] = True, False
    score = np.round(score, 1) if rounded else score
    assert metrics.roc_auc(y, score) == pytest.approx(roc_auc_score(y, score))
    assert metrics.average_precision(y, score, ties="worst") == pytest.approx(
        average_precision_score(y, score)
    )


@few
@given(labelled(both=True), st.randoms(use_true_random=False))
def test_only_the_order_of_scores_counts(rows, random):
    y, score = rows
    shuffle = random.sample(range(y.size), y.size)
    for measure in RANK_MEASURES:
        value = measure(y, score)
        assert 0 <= value <= 1
        assert measure(y, np.exp(score) * 1e6 - 5) == pytest.approx(value)
        assert measure(y[shuffle], score[shuffle]) == pytest.approx(value)


def test_worst_ties_can_flatter_average_precision():
    """Tied wanted rows all count each other, so below an unwanted row the "worst" is above the mean."""
    y, score = [0, 1, 1], [1, 0, 0]
    assert metrics.average_precision(y, score, ties="worst") == pytest.approx(2 / 3)
    assert metrics.average_precision(y, score) == pytest.approx(7 / 12)


def test_tied_block_far_down_a_long_list_keeps_its_digits():
    n = 200_000
    y, score = np.zeros(n, dtype=bool), -np.arange(n, dtype=float)
    y[[0, n - 1]] = True
    score[-1] = score[-2]
    expected = (1 + (2 / n + 2 / (n - 1)) / 2) / 2
    assert metrics.average_precision(y, score) == pytest.approx(expected, rel=1e-14)


@few
@given(labelled(both=True), st.data())
def test_weights_agree_with_scikit_learn_at_worst_and_with_no_weights_when_alike(rows, data):
    y, score = rows
    weight = np.array(data.draw(st.lists(st.floats(0.1, 5), min_size=y.size, max_size=y.size)))
    worst = metrics.average_precision(y, score, sample_weight=weight, ties="worst")
    assert worst == pytest.approx(average_precision_score(y, score, sample_weight=weight))
    alike = metrics.average_precision(y, score, sample_weight=np.full(y.size, weight[0]))
    assert alike == pytest.approx(metrics.average_precision(y, score))
    untied = np.arange(y.size)
    assert metrics.average_precision(y, untied, sample_weight=weight) == pytest.approx(
        average_precision_score(y, untied, sample_weight=weight)
    )


@few
@given(st.lists(st.floats(0.1, 5), min_size=4, max_size=4), st.booleans())
def test_weighted_pairs_of_tied_rows_are_exact(weight, first):
    weight = np.array(weight)
    y, score = np.array([1, 0, first, 1]), np.array([2.0, 2.0, 1.0, 1.0])

    def weighted(order):
        hits, w = y[order], weight[order]
        return np.sum(hits * w * np.cumsum(hits * w) / np.cumsum(w)) / np.sum(hits * w)

    expected = np.mean([weighted(order) for order in reference.orders(score)])
    assert metrics.average_precision(y, score, sample_weight=weight) == pytest.approx(expected)


def test_rows_of_weight_zero_do_not_exist():
    y, score = np.array([1, 0, 1, 0]), np.array([1.0, 1.0, 1.0, 0.5])
    weight = np.array([1.0, 0.0, 2.0, 1.0])
    with_zero = metrics.average_precision(y, score, sample_weight=weight)
    assert with_zero == metrics.average_precision(
        y[[0, 2, 3]], score[[0, 2, 3]], sample_weight=weight[[0, 2, 3]]
    )
    with pytest.raises(NoWantedRowsError, match="every wanted row"):
        metrics.average_precision(y, score, sample_weight=[0, 1, 0, 1])


def test_weights_of_very_different_size_stay_finite():
    y, score = np.array([1, 0, 1, 0]), np.zeros(4)
    assert 0 <= metrics.average_precision(y, score, sample_weight=[1, 1e-25, 1e-30, 1e-20]) <= 1 + 1e-12


def test_a_share_of_rows_is_rounded_up():
    y, score = ranking(100, *range(1, 8))
    assert metrics.precision_at_k(y, score, 0.07) == 1.0
    assert metrics.recall_at_k(y, score, 0.065) == 1.0
    assert metrics.recall_at_k(y, score, 0.0001) == pytest.approx(1 / 7)


def test_groups_give_the_mean_over_lists_that_can_tell():
    y = [1, 0, 0, 1, 0, 0]
    score = [2, 1, 2, 1, 2, 1]
    groups = ["a", "a", "b", "b", "c", "c"]
    assert metrics.average_precision(y, score, groups=groups) == pytest.approx((1 + 1 / 2) / 2)
    assert metrics.roc_auc(y, score, groups=groups) == pytest.approx(1 / 2)
    assert metrics.pos_at_top(y, score, groups=groups) == pytest.approx(1 / 2)
    assert metrics.precision_at_p(y, score, groups=groups) == pytest.approx(1 / 2)
    assert metrics.precision_at_k(y, score, 1, groups=groups) == pytest.approx(1 / 3)
    assert metrics.recall_at_k(y, score, 0.5, groups=groups) == pytest.approx(1 / 2)
    assert metrics.precision_at_k(y, score, 10, groups=groups) == pytest.approx(1 / 3)


def test_all_rows_wanted():
    assert metrics.average_precision([1, 1], [1, 2]) == 1.0
    assert metrics.pos_at_top([1, 1], [1, 1]) == 1.0
    with pytest.raises(NoUnwantedRowsError, match="both kinds"):
        metrics.roc_auc([1, 1], [1, 2])


@pytest.mark.parametrize("measure", RANK_MEASURES)
def test_no_wanted_row_is_an_error_that_says_what_to_do(measure):
    with pytest.raises(NoWantedRowsError, match="stratify"):
        measure([0, 0], [1, 2])


@pytest.mark.parametrize("measure", RANK_MEASURES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers(measure, bad):
    with pytest.raises(InvalidInputError, match="row 1"):
        measure([0, 1], [1, bad])


@pytest.mark.parametrize("measure", AT_K)
@pytest.mark.parametrize("k", [0, -1, 3, True, 1.5, 1.0, "2", float("nan")])
def test_k_out_of_range(measure, k):
    with pytest.raises(InvalidInputError, match="k "):
        measure([0, 1], [1, 2], k)


@pytest.mark.parametrize("k", [0, 1.5])
def test_k_out_of_range_with_lists(k):
    with pytest.raises(InvalidInputError, match="k must be"):
        metrics.precision_at_k([0, 1], [1, 2], k, groups=[1, 2])


@pytest.mark.parametrize("measure", RANK_MEASURES)
def test_other_bad_input(measure):
    with pytest.raises(InvalidInputError, match="ties must be"):
        measure([0, 1], [1, 2], ties="best")
    with pytest.raises(InvalidInputError, match="3 values for 2 rows"):
        measure([0, 1], [1, 2, 3])
    with pytest.raises(InvalidInputError, match="found 2"):
        measure([0, 2], [1, 2])
    with pytest.raises(InvalidInputError, match="groups is missing"):
        measure([0, 1], [1, 2], groups=[1, None])


def test_groups_and_weights_together_are_refused():
    with pytest.raises(InvalidInputError, match="not both"):
        metrics.average_precision([0, 1], [1, 2], groups=[1, 1], sample_weight=[1, 1])
