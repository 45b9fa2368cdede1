"""Curves agree with the measures at each k, and their intervals hold what they should."""

from __future__ import annotations

import numpy as np
import pytest

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, NoWantedRowsError


@pytest.fixture(params=[False, True], ids=["one list", "lists"])
def rows(request):
    rng = np.random.default_rng(1)
    y, score = rng.random(60) < 0.3, np.round(rng.normal(size=60), 1)
    groups = np.concatenate([rng.integers(4, size=57), [9, 9, 9]]) if request.param else None
    return {"y": y, "score": score + y, "groups": groups}


def test_each_point_is_the_measure_at_k(rows):
    precision = metrics.precision_by_rank(**rows, max_rank=20, n_bootstrap=5)
    cost = metrics.cost_saved_by_k(**rows, max_k=20, n_bootstrap=5, act="log")
    for k in (1, 2, 7, 20):
        assert precision.value[k - 1] == pytest.approx(metrics.precision_at_k(**rows, k=k))
        assert cost.value[k - 1] == pytest.approx(metrics.cost_saved_at_k(**rows, k=k, act="log"))


def test_hits_are_precision_times_rank(rows):
    rows["groups"] = None
    hits = metrics.hits_by_rank(**rows, max_rank=30, n_bootstrap=5)
    precision = metrics.precision_by_rank(**rows, max_rank=30, n_bootstrap=5)
    assert hits.value == pytest.approx(precision.value * hits.rank)
    assert metrics.hits_by_rank(**rows).value[-1] == rows["y"].sum()


@pytest.mark.parametrize("curve", [metrics.hits_by_rank, metrics.precision_by_rank, metrics.cost_saved_by_k])
def test_same_seed_same_interval(curve, rows):
    first, again, other = (curve(**rows, n_bootstrap=20, random_state=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.low, again.low)
    assert not np.array_equal(first.low, other.low)
    assert np.all(first.low <= first.high)


def test_interval_holds_the_value_and_narrows_with_its_level(rows):
    wide = metrics.precision_by_rank(**rows, max_rank=20)
    narrow = metrics.precision_by_rank(**rows, max_rank=20, level=0.5)
    assert np.all((wide.low <= wide.value) & (wide.value <= wide.high))
    assert np.sum(narrow.high - narrow.low) < np.sum(wide.high - wide.low)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        score = rng.random(200)
        y = rng.random(200) < score
        y[0] = True
        curve = metrics.precision_by_rank(y, score, max_rank=100, level=0.9, n_bootstrap=100)
        covered += curve.low[-1] <= 0.75 <= curve.high[-1]
    assert 80 <= covered <= 98


def test_a_redrawn_table_without_cost_is_left_out():
    curve = metrics.cost_saved_by_k([5, 0, 0], [3, 2, 1], n_bootstrap=50)
    assert np.isfinite(curve.low).all()
    assert curve.high.max() <= 1


def test_bad_input():
    with pytest.raises(NoWantedRowsError):
        metrics.hits_by_rank([0, 0], [1, 2])
    with pytest.raises(NoWantedRowsError):
        metrics.cost_saved_by_k([0, 0], [1, 2])
    with pytest.raises(InvalidInputError, match="max_rank"):
        metrics.precision_by_rank([0, 1], [1, 2], max_rank=3)
    with pytest.raises(InvalidInputError, match="max_k is 3"):
        metrics.cost_saved_by_k([0, 1], [1, 2], max_k=3)
    with pytest.raises(InvalidInputError, match="level"):
        metrics.precision_by_rank([0, 1], [1, 2], level=95)
    with pytest.raises(InvalidInputError, match="n_bootstrap"):
        metrics.precision_by_rank([0, 1], [1, 2], n_bootstrap=0)
