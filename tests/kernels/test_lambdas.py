import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.kernels.lambdas import pair_lambdas, sampled_lambdas, top_first
from shortlist.lists import Lists


def ranked_lists(seed, n_lists=3, longest=9):
    """Random lists by rank: score, gain, upper, lower, root_weight, starts, scale."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_lists)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = starts[-1]
    gain = rng.integers(0, 4, n) * 10.0
    upper, lower = rng.random(n), rng.random(n)
    scale = rng.random(n_lists) * (rng.random(n_lists) < 0.8)
    return rng.normal(size=n), gain, upper, lower, rng.random(n), starts, scale


def reference(score, gain, upper, lower, root_weight, starts, scale, depth):
    grad, hess = np.zeros(score.size), np.zeros(score.size)
    for start, stop, factor in zip(starts[:-1], starts[1:], scale, strict=True):
        for a in range(start, stop):
            for b in range(a + 1, stop):
                if a - start >= depth or gain[a] == gain[b]:
                    continue
                change = (
                    factor
                    * abs((gain[b] - gain[a]) * (upper[a] - lower[b]))
                    * root_weight[a]
                    * root_weight[b]
                )
                high, low = (a, b) if gain[a] > gain[b] else (b, a)
                rho = 1 / (1 + np.exp(score[high] - score[low]))
                grad[high] -= rho * change
                grad[low] += rho * change
                hess[[a, b]] += rho * (1 - rho) * change
    return grad, hess


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 10))
def test_pairs_equal_a_double_loop(seed, depth):
    lists = ranked_lists(seed)
    for ours, expected in zip(pair_lambdas(*lists, depth), reference(*lists, depth), strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_the_gradient_is_that_of_the_weighted_logistic_loss():
    score, *rest = ranked_lists(seed=1)
    gain, upper, lower, root_weight, starts, scale = rest

    def loss(s):
        total = 0.0
        for start, stop, factor in zip(starts[:-1], starts[1:], scale, strict=True):
            for a in range(start, stop):
                for b in range(a + 1, stop):
                    sign = np.sign(gain[a] - gain[b])
                    change = (
                        abs((gain[b] - gain[a]) * (upper[a] - lower[b])) * root_weight[a] * root_weight[b]
                    )
                    total += factor * change * np.log1p(np.exp(-sign * (s[a] - s[b])))
        return total

    grad, hess = pair_lambdas(score, *rest, 100)
    step = 1e-4
    for row in range(score.size):
        nudge = np.zeros(score.size)
        nudge[row] = step
        up, here, down = loss(score + nudge), loss(score), loss(score - nudge)
        assert grad[row] == pytest.approx((up - down) / (2 * step), abs=1e-6)
        assert hess[row] == pytest.approx((up - 2 * here + down) / step**2, abs=1e-4)


def test_far_apart_scores_do_not_overflow():
    grad, hess = pair_lambdas(
        np.array([1e6, -1e6]),
        np.array([0.0, 1.0]),
        np.ones(2),
        np.zeros(2),
        np.ones(2),
        np.array([0, 2]),
        np.ones(1),
        2,
    )
    np.testing.assert_array_equal(grad, [1.0, -1.0])
    np.testing.assert_array_equal(hess, [0.0, 0.0])


def test_sampled_pairs_estimate_all_pairs():
    rng = np.random.default_rng(0)
    n = 400
    gain = (rng.random(n) < 0.2).astype(float)
    score = -np.sort(rng.normal(size=n))
    ranks = np.arange(1, n + 1)
    lists = score, gain, 1 / ranks, 1 / ranks, np.ones(n), np.array([0, n]), np.ones(1)
    exact = pair_lambdas(*lists, n)
    draws = [sampled_lambdas(*lists, 8, rng.random(n)) for _ in range(400)]
    for ours, expected in zip(np.mean(draws, axis=0), exact, strict=True):
        assert np.abs(ours - expected).max() < 0.03 * np.abs(expected).max()
        assert np.corrcoef(ours, expected)[0, 1] > 0.999


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 8))
def test_top_first_orders_the_top_and_keeps_the_rest(seed, depth):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    score, key = rng.integers(0, 4, n).astype(float), rng.random(n)
    lists = Lists.from_groups(rng.integers(0, 3, n))
    ranked = top_first(score, key, lists.order, lists.starts, depth)
    for start, rows in zip(lists.starts, lists, strict=False):
        best = rows[np.lexsort((key[rows], -score[rows]))]
        np.testing.assert_array_equal(ranked[start : start + depth][: rows.size], best[:depth])
        assert set(ranked[start : start + rows.size]) == set(rows)
