import importlib.util
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.metrics import net_value_curve, paying_budget

small = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 9), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 1), min_size=n, max_size=n),
    )
)


def plain(worth, score, cost):
    """The mean over all orders of equal scores, row by row."""
    n, curves = len(worth), []
    for order in permutations(range(n)):
        if all(score[order[i]] >= score[order[i + 1]] for i in range(n - 1)):
            curves.append(np.cumsum([worth[row] - cost for row in order]))
    return np.mean(curves, axis=0)


@given(rows=small, cost=st.floats(0, 10))
def test_ties_count_as_the_mean_of_their_orders(rows, cost):
    worth, score, _ = rows
    np.testing.assert_allclose(net_value_curve(worth, score, cost=cost), plain(worth, score, cost), atol=1e-9)


@given(rows=small, cost=st.floats(0, 10))
def test_lists_add_up(rows, cost):
    worth, score, groups = (np.array(each) for each in rows)
    whole = np.zeros(max(np.bincount(groups)))
    for group in np.unique(groups):
        part = net_value_curve(worth[groups == group], score[groups == group], cost=cost)
        steps = np.diff(part, prepend=0)
        whole[: steps.size] += steps
    np.testing.assert_allclose(net_value_curve(worth, score, cost=cost, groups=groups), np.cumsum(whole))


@given(rows=small, cost=st.floats(0, 10))
def test_no_budget_brings_more_than_the_paying_one(rows, cost):
    worth, score, _ = rows
    net = np.append(0.0, plain(worth, score, cost))
    budget = paying_budget(worth, score, cost=cost)
    assert net[budget] >= net.max() - 1e-6
    assert (net[:budget] < net[budget]).all()  # and no smaller one as much


def test_what_a_review_costs_is_no_debt():
    with pytest.raises(InvalidInputError, match="at least 0"):
        paying_budget([1, 0], [2, 1], cost=-1)


@pytest.mark.skipif(importlib.util.find_spec("empulse") is None, reason="empulse is in the extra 'studies'")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(3))
def test_the_maximum_profit_of_others_where_it_means_the_same(seed):
    """Every wanted row worth 100, a look 35: a hit brings 65, a miss costs 35."""
    from empulse.metrics import max_profit_score

    rng = np.random.default_rng(seed)
    y = rng.random(400) < 0.2
    score = y + rng.normal(size=400)
    net = net_value_curve(100.0 * y, score, cost=35)
    budget = paying_budget(100.0 * y, score, cost=35)
    probability = (score - score.min()) / np.ptp(score)
    costs = {"tp_cost": -65, "fp_cost": 35}
    assert net[budget - 1] / y.size == pytest.approx(max_profit_score(y.astype(int), probability, **costs))
    rate = max_profit_score.optimal_rate(y.astype(int), probability, **costs)
    assert budget == pytest.approx(rate * y.size, abs=1e-6)


def test_no_rows_bring_nothing():
    assert net_value_curve([], [], cost=1).size == 0
    assert paying_budget([], [], cost=1) == 0
