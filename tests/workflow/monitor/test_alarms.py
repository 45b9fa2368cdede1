"""Alarms come as seldom and as soon as they say."""

import numpy as np
import pytest

from shortlist.workflow.monitor.alarms import FALL, alarms_in, make_plan, path, spread_of, steps


@pytest.mark.parametrize(("reviewed", "promised"), [(50, 0.4), (20, 0.15)])
def test_false_alarms_and_delay_are_as_stated(reviewed, promised):
    plan = make_plan(reviewed, promised, 365, false_years=0.05)
    rng = np.random.default_rng(11)
    years = (
        path(steps(rng.binomial(reviewed, 0.9 * promised, (1_500, 365)), reviewed, promised)).max(axis=1)
        > plan.level
    )
    assert years.mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_500)
    fallen = rng.binomial(reviewed, (1 - FALL) * promised, (600, 365))
    noticed = (path(steps(fallen, reviewed, promised)) > plan.level)[:, : plan.delay].any(axis=1)
    assert noticed.mean() > 0.9 - 3 * np.sqrt(0.09 / 600)


def test_too_few_rows_say_that_a_year_may_pass():
    plan = make_plan(1, 0.02, 12)
    assert plan.delay is None
    assert "may not be noticed within a year" in plan.says()


def test_the_sum_is_that_of_a_plain_loop():
    added = np.random.default_rng(0).normal(size=50)
    total, sums = 0.0, []
    for step in added:
        total = min(max(0.0, total + step), 2.0)
        sums.append(total)
    assert path(added, 2.0) == pytest.approx(sums)


def test_an_alarm_rings_until_the_sum_is_gone():
    assert alarms_in(np.array([0.0, 2.0, 1.5, 0.5, 0.0, 0.0, 1.2]), 1.0) == [(1, 4), (6, None)]


def test_runs_that_differ_more_than_chance_weigh_less():
    rng = np.random.default_rng(0)
    reviewed = np.full(60, 50)
    even = rng.binomial(50, 0.4, 60)
    uneven = rng.binomial(50, rng.beta(4, 6, 60))
    assert 1 <= spread_of(even, reviewed) < 1.7
    assert spread_of(uneven, reviewed) > 3
    assert spread_of(even[:5], reviewed[:5]) == 1
