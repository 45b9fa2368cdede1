import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shortlist.exceptions import InvalidInputError
from shortlist.stream.queries import (
    QueryPlan,
    check_scheme,
    closeness,
    draw_each,
    draw_exactly,
    nth_others,
    others,
    query_probabilities,
    ranked_positions,
    top_positions,
)

SCHEMES = ("exponential", "inverse", "uniform")
weights = arrays(np.float64, st.integers(1, 40), elements=st.floats(1e-6, 1e6))
scores = arrays(np.float64, st.integers(1, 30), elements=st.integers(-3, 3).map(float))


@settings(max_examples=60)
@given(weights, st.integers(0, 45))
def test_probabilities_sum_to_the_expected_number(g, expected):
    p = query_probabilities(g, expected)
    assert p.sum() == pytest.approx(min(expected, g.size), rel=1e-9)
    assert np.all((p >= 0) & (p <= 1))


@settings(max_examples=60)
@given(weights, st.integers(1, 20))
def test_probabilities_are_proportional_to_closeness_where_they_are_below_one(g, expected):
    p = query_probabilities(g, expected)
    open_rows = (p > 0) & (p < 1 - 1e-12)
    ratio = p[open_rows] / g[open_rows]
    np.testing.assert_allclose(ratio, ratio[0] if ratio.size else 0.0, rtol=1e-9)
    if ratio.size and np.any(~open_rows):
        assert np.all(g[~open_rows] * ratio[0] >= 1 - 1e-9)


def test_probabilities_survive_underflow():
    far = np.exp(-np.array([0.0, 800.0, 900.0]))
    np.testing.assert_allclose(query_probabilities(far, 2), [1.0, 0.5, 0.5])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("draw", [draw_each, draw_exactly])
def test_each_row_is_drawn_with_its_probability(scheme, draw):
    rng = np.random.default_rng(1)
    below = np.sort(rng.normal(size=60))[::-1]
    p = query_probabilities(closeness(below, below[0] + 0.1, scheme), 12)
    times = 4_000
    counts, sizes = np.zeros(60), []
    for _ in range(times):
        drawn = draw(p, rng)
        counts[drawn] += 1
        sizes.append(drawn.size)
    # The mean number of queries is the budget, and no row's count is 5 standard errors off.
    assert np.mean(sizes) == pytest.approx(12, abs=5 * np.sqrt((p * (1 - p)).sum() / times) + 1e-12)
    assert np.all(np.abs(counts - times * p) <= 5 * np.sqrt(times * p * (1 - p)) + 1e-9)
    if draw is draw_exactly:
        assert set(sizes) == {12}


@pytest.mark.parametrize("scheme", ["exponential", "inverse"])
def test_rows_near_the_margin_are_closer(scheme):
    g = closeness(np.array([1.0, 0.5, -2.0]), 1.0, scheme)
    assert g[0] > g[1] > g[2] > 0


def test_known_closeness():
    s = np.array([1.0, -1.0])  # standard deviation 1
    np.testing.assert_allclose(closeness(s, 1.0, "exponential"), [1.0, np.exp(-2)])
    np.testing.assert_allclose(closeness(s, 1.0, "inverse"), [100.0, 1 / 2.01])


@settings(max_examples=60)
@given(scores, st.integers(0, 30), st.integers(0, 99))
def test_top_positions_are_the_highest_scores(s, count, seed):
    top = top_positions(s, count, np.random.default_rng(seed))
    assert np.unique(top).size == top.size == min(count, s.size)
    np.testing.assert_array_equal(s[top], np.sort(s)[::-1][: top.size])
    everything = ranked_positions(s, np.random.default_rng(seed))
    np.testing.assert_array_equal(s[everything], np.sort(s)[::-1])


@pytest.mark.parametrize("make", ["random", "sorted", "steps", "equal", "sixteenths"])
@pytest.mark.parametrize("count", [1, 60, 600, 9_000])
def test_the_top_of_a_large_window_is_exact(make, count):
    rng = np.random.default_rng(count)
    s = rng.normal(size=20_000)
    s = {
        "random": s,
        "sorted": np.sort(s),
        "steps": np.round(s),
        "equal": np.zeros(20_000),
        "sixteenths": np.where(
            np.arange(20_000) % 16 == 0, s + 100, s
        ),  # the sample is all there is at the top
    }[make]
    top = top_positions(s, count, rng)
    assert np.unique(top).size == count
    np.testing.assert_array_equal(s[top], np.sort(s)[::-1][:count])


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(0, 99))
def test_others_by_number(size, seed):
    rng = np.random.default_rng(seed)
    chosen = rng.choice(size, int(rng.integers(0, size)), replace=False)
    rest = others(size, chosen)
    numbers = rng.permutation(rest.size)
    np.testing.assert_array_equal(nth_others(chosen, numbers), rest[numbers])


def test_ties_are_broken_at_random():
    rng = np.random.default_rng(0)
    chosen = np.concatenate([top_positions(np.zeros(10), 3, rng) for _ in range(2_000)])
    assert np.bincount(chosen).min() > 500
    first = [ranked_positions(np.zeros(5), rng)[0] for _ in range(1_000)]
    assert np.bincount(first).min() > 130


def test_unknown_scheme():
    with pytest.raises(InvalidInputError, match="choose one of sequential, exponential"):
        check_scheme("greedy")


@settings(max_examples=60)
@given(
    st.sampled_from(("sequential", *SCHEMES)),
    st.integers(1, 30),
    st.integers(0, 20),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
)
def test_the_first_round_keeps_to_its_limits(scheme, k, extra, limit, explore_only, spread_top):
    plan = QueryPlan(k, scheme, extra, 0.5, True, 0.95, "isolation_forest")
    values, rng = np.random.default_rng(0).normal(size=40), np.random.default_rng(1)
    rows, n_top = plan.first_round(values, limit, rng, explore_only=explore_only, spread_top=spread_top)
    assert n_top == min(k, limit, 40)
    assert rows.size == np.unique(rows).size == min(n_top + extra, limit, 40)
    led = n_top - n_top // 2 if spread_top else n_top
    assert rows[:led].tolist() == np.argsort(-values, kind="stable")[:led].tolist()
