"""What the next ten bring, and which rows are drawn at random."""

import numpy as np

from shortlist.review.desk.audit import AuditOrder, is_due
from shortlist.review.telling.estimate import expected_yield


def test_next_ten_needs_verdicts_and_stays_within_ten():
    assert expected_yield([0.1], [True], [0.2] * 10) is None
    for wanted in ([True] * 20, [False] * 20):
        estimate = expected_yield(list(np.linspace(0, 1, 20)), wanted, [0.9] * 10)
        assert 0 <= estimate.low <= estimate.high <= 10
    low = expected_yield([0.9, 0.1] * 20, [True, False] * 20, [0.1] * 10)
    high = expected_yield([0.9, 0.1] * 20, [True, False] * 20, [0.9] * 10)
    assert low.middle < 2
    assert high.middle > 8


def test_about_every_twentieth_row_is_a_random_check():
    assert sum(is_due(served, 0.05) for served in range(1000)) == 50
    assert not any(is_due(served, 0.0) for served in range(100))


def test_arrivals_take_their_places_in_the_random_order():
    order = AuditOrder(seed=1, n_rows=50)
    before = order._order.tolist()
    order.extend(80)
    assert [row for row in order._order.tolist() if row < 50] == before
    assert sorted(order._order.tolist()) == list(range(80))
