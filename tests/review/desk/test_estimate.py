"""What is still missed, and what the next ten bring: checked against brute force and against known truth."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from shortlist.feedback import LeafSimilarity, ScoreSpace
from shortlist.review.desk.audit import AuditOrder, is_due
from shortlist.review.desk.dealer import Dealer
from shortlist.review.desk.engine import Engine
from shortlist.review.desk.estimate import expected_yield, missed, wanted_in_all
from shortlist.review.log.events import Drawn, Event, Judged, Shown
from shortlist.review.log.settings import Settings
from shortlist.review.log.state import State
from shortlist.verdicts import Verdict


@pytest.mark.parametrize(("n", "m", "x"), [(30, 6, 0), (30, 6, 2), (30, 6, 6), (12, 12, 5), (40, 1, 1)])
def test_interval_is_every_total_that_the_sample_does_not_rule_out(n, m, x):
    def possible(k):
        law = hypergeom(n, k, m)
        low, at, high = law.cdf(x - 1), law.pmf(x), law.sf(x)
        return min(low, high) + at / 2 > 0.05 or (low + at / 2 > 0.05 and high + at / 2 > 0.05)

    inside = [
        k for k in range(x, n - m + x + 1)
        if hypergeom(n, k, m).sf(x) + hypergeom(n, k, m).pmf(x) / 2 > 0.05
        and hypergeom(n, k, m).cdf(x - 1) + hypergeom(n, k, m).pmf(x) / 2 > 0.05
    ]  # fmt: skip
    estimate = wanted_in_all(n, m, x)
    assert (estimate.low, estimate.high) == (inside[0], inside[-1])
    assert possible(inside[0])


def test_a_full_sample_knows_all_and_none_knows_nothing():
    assert (wanted_in_all(20, 20, 3).low, wanted_in_all(20, 20, 3).high) == (3, 3)
    assert (wanted_in_all(20, 0, 0).low, wanted_in_all(20, 0, 0).high) == (0, 20)
    with pytest.raises(ValueError, match="cannot be"):
        wanted_in_all(5, 6, 1)


def test_recall_is_found_of_all_wanted():
    seen = missed(n_unseen=900, n_sampled=100, n_wanted=2, n_found=42)
    assert seen.unseen.middle == 18
    assert seen.recall.middle == pytest.approx(42 / 60)
    assert seen.recall.low < seen.recall.middle < seen.recall.high


def test_few_checks_do_not_tell():
    few, many = missed(5000, 2, 0, n_found=11), missed(5000, 600, 1, n_found=40)
    assert (few.recall.middle, few.is_clear, many.is_clear) == (1.0, False, True)


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


def simulate(space, truth, seed, budget, audit):
    """A review of a queue whose truth is known: the dealer, the state and the engine as a server runs them."""
    settings = Settings(budget=None, audit=audit)
    state, engine = State(settings, truth.size), Engine(LeafSimilarity(space, random_state=seed))
    order = AuditOrder(seed, truth.size)
    for turn in range(budget):
        dealer = Dealer(state, engine, order, now=0.0)
        shown = dealer.deal(["ann"], {}).given["ann"]
        assert isinstance(shown, Shown)
        state.apply(Event(2 * turn + 1, 0.0, "ann", shown))
        answer = Verdict.WANTED if truth[shown.row] else Verdict.NOT_WANTED
        verdict = Event(
            2 * turn + 2, 0.0, "ann", Judged(shown.row, answer, 2 * turn + 1, not state.is_check(shown.row))
        )
        state.apply(verdict)
        engine.follow(verdict)
    return state


def test_the_interval_covers_the_truth_as_often_as_it_says():
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = 160
        x = rng.normal(size=(n, 2))
        truth = rng.random(n) < np.where(x[:, 0] > 1, 0.6, 0.12)  # some wanted rows look like all others
        space = ScoreSpace.from_isolation_forest(
            x, n_trees=10, sample_size=32, max_depth=4, random_state=seed
        )
        state = simulate(space, truth, seed, budget=60, audit=0.4)
        sample = [wanted for row, wanted in state.random_checks().items() if row not in state.passed]
        unseen = [row for row in range(n) if row not in state.verdict]
        found = sum(truth[row] for row in state.verdict)
        estimate = missed(len(unseen), len(sample), sum(sample), int(found)).unseen
        covered += estimate.low <= truth[unseen].sum() <= estimate.high
    assert 170 <= covered <= 190


def test_random_checks_the_ranking_has_reached_leave_the_sample():
    x = np.random.default_rng(0).normal(size=(60, 2))
    space = ScoreSpace.from_isolation_forest(x, n_trees=10, random_state=0)
    state = simulate(space, np.zeros(60, dtype=bool), 0, budget=60, audit=0.2)
    drawn = [event.body.drawn for event in state.shown.values()]
    assert drawn.count(Drawn.AUDIT) == 12
    assert len(state.passed) >= 10  # nearly all rows were served, so the ranking has reached nearly all
