"""What the next ten bring, and which rows are drawn at random."""

import numpy as np
import pytest
from scipy.special import expit

from shortlist.rankers.chances.calibration import chance_curve, expected_found, read_chance
from shortlist.review.desk.audit import AuditOrder, is_due
from shortlist.review.telling.estimate import Estimate, expected_yield
from shortlist.review.telling.foreseen import Foreseen


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


def known_to_a_model(rng, n=400):
    """The curve that a model has from rows whose log-odds are their score less 1."""
    score = rng.normal(0, 1.5, n)
    return chance_curve(score, rng.random(n) < expit(score - 1))


@pytest.mark.parametrize("n_verdicts", [0, 5, 30])
def test_nine_of_ten_times_the_next_ten_bring_what_is_said(n_verdicts):
    """Rows come by score, as on the page, and the model knew them from rows like them."""
    rng, times = np.random.default_rng(n_verdicts), 100
    off, within = [], []
    for _ in range(times):
        curve, score = known_to_a_model(rng), np.sort(rng.normal(0, 1.5, 300))[::-1]
        wanted = rng.random(300) < expit(score - 1)
        seen, ten = slice(n_verdicts), slice(n_verdicts, n_verdicts + 10)
        said = expected_yield(
            score[seen].tolist(),
            wanted[seen].tolist(),
            score[ten].tolist(),
            Foreseen(read_chance(curve.points, score[ten]), curve),
        )
        off.append(wanted[ten].sum() - said.middle)
        within.append(said.low <= wanted[ten].sum() <= said.high)
    assert abs(np.mean(off)) < 0.5
    assert 0.84 < np.mean(within) < 0.99


def test_before_any_verdict_the_model_speaks_and_then_verdicts_take_over():
    curve, scores = known_to_a_model(np.random.default_rng(0)), [1.0] * 10
    foreseen = Foreseen(read_chance(curve.points, scores), curve)
    model = expected_found(curve, foreseen.chance)
    assert expected_yield([], [], scores, foreseen) == Estimate(*model)
    said = [expected_yield([1.0] * n, [False] * n, scores, foreseen).middle for n in (0, 1, 5, 20, 300)]
    assert said == sorted(said, reverse=True)
    alone = expected_yield([1.0] * 300, [False] * 300, scores)
    assert said[0] > 4
    assert said[-1] < 0.3 + alone.middle < 0.5
    assert expected_yield([1.0], [True], scores, foreseen).middle > said[0]
    assert expected_yield([], [], [], foreseen) is None
