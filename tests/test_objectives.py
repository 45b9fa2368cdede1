"""Objectives against brute force: totals, ideals, ties, swaps, list weights."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from shortlist.lists import Lists
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, PrecisionAtK
from tests.metrics import reference
from tests.metrics.strategies import impacts, labelled
from tests.metrics.test_gain import BY_CABLE, BY_WIND, IMPACT, STORMS

few = settings(max_examples=40)
OF_LABELS = [AveragePrecision(), AUC(), PrecisionAtK(k=1), PrecisionAtK(k=3)]
OF_IMPACTS = [
    NDCG(),
    NDCG(k=2),
    NDCG(k=3, gain="linear"),
    CostSaved(k=2),
    CostSaved(k=3, act="log"),
    CostSaved(k=2, act="top-k", cost=np.sqrt),
    CostSaved(k=4, act=lambda ranks: 1 / ranks),
]


def named(objectives):
    return pytest.mark.parametrize("objective", objectives, ids=lambda objective: repr(objective)[:40])


def check_against_brute_force(objective, y, score):
    gains = objective.gains(y, Lists.single(y.size))
    totals = [objective.total(gains[list(order)]) for order in permutations(range(y.size))]
    assert objective.ideal(gains) == pytest.approx(max(totals))
    expected = reference.over_orders(objective.total, gains, score)
    assert objective.expected_total(gains, score) == pytest.approx(expected)
    assert objective.value(y, score) == pytest.approx(expected / max(totals))
    check_swaps(objective, gains)


def check_swaps(objective, ranked):
    a, b = np.indices((ranked.size, ranked.size))
    changes = objective.swap_changes(ranked, a, b)
    for i, j in np.ndindex(changes.shape):
        swapped = ranked.copy()
        swapped[[i, j]] = ranked[[j, i]]
        assert changes[i, j] == pytest.approx(objective.total(swapped) - objective.total(ranked), abs=1e-12)


@named(OF_LABELS)
@few
@given(rows=labelled(both=True, max_rows=5))
def test_objectives_of_labels(objective, rows):
    check_against_brute_force(objective, *rows)


@named(OF_IMPACTS)
@few
@given(rows=impacts(max_rows=5))
def test_objectives_of_impacts(objective, rows):
    check_against_brute_force(objective, *rows)


@named(OF_LABELS + OF_IMPACTS)
@few
@given(hits=st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_swaps_in_longer_lists(objective, hits):
    check_swaps(objective, np.array(hits, dtype=float))


@named(OF_LABELS + OF_IMPACTS)
def test_ranks_beyond_the_cutoff_cannot_change_the_total(objective):
    ranked = np.linspace(0, 1, 8)
    if objective.cutoff is not None:
        beyond = np.arange(objective.cutoff, ranked.size)
        assert not objective.swap_changes(ranked, beyond[:, None], beyond).any()
        assert objective.swap_changes(ranked, objective.cutoff - 1, 7) != 0


def test_values_are_those_of_the_measures():
    rng = np.random.default_rng(0)
    y, score = rng.random(50) < 0.3, np.round(rng.normal(size=50), 1)
    impact, groups = y * rng.exponential(9, 50), rng.integers(5, size=50)
    assert AveragePrecision().value(y, score) == pytest.approx(metrics.average_precision(y, score))
    assert AUC().value(y, score) == pytest.approx(metrics.roc_auc(y, score))
    assert NDCG(k=3).value(impact, score, groups) == pytest.approx(
        metrics.ndcg_at_k(impact, score, 3, groups=groups)
    )
    assert CostSaved(k=3).value(impact, score, groups) == pytest.approx(
        metrics.cost_saved_at_k(impact, score, 3, groups=groups)
    )


@pytest.mark.parametrize(("score", "pooled"), [(BY_CABLE, 0.9901), (BY_WIND, 0.0148)])
def test_storms_of_the_cost_paper(score, pooled):
    assert CostSaved(k=2).value(IMPACT, score, STORMS) == pytest.approx(pooled, abs=5e-5)
    assert NDCG(k=2).value(IMPACT, score, STORMS) == pytest.approx(0.5)


def test_list_weights():
    goal = CostSaved(k=2).bind(IMPACT, STORMS)
    assert goal.ideals == pytest.approx([10050, 100.5])
    assert goal.weights == pytest.approx([10050 / 10150.5, 100.5 / 10150.5])
    assert NDCG(k=2).bind(IMPACT, STORMS).weights == pytest.approx([0.5, 0.5])


def test_lists_that_no_ranking_can_improve_count_nothing():
    goal = AveragePrecision().bind([1, 0, 0, 0], ["a", "a", "b", "b"])
    assert goal.weights.tolist() == [1, 0]
    assert goal.list_values(np.array([1.0, 2, 1, 2])).tolist() == [0.5, 0]
    assert goal.value(np.array([1.0, 2, 1, 2])) == 0.5
    assert NDCG().bind([0, 0]).weights.tolist() == [0]


def test_cost_of_each_row_as_an_array():
    assert CostSaved(k=1, cost=[10, 4, 0]).value([4, 1, 0], [1, 3, 2]) == pytest.approx(0.4)


@few
@given(impacts(), st.floats(0.5, 1e6))
def test_scale_of_impacts_does_not_count(rows, scale):
    y, score = rows
    for objective in (CostSaved(k=2), NDCG(k=2, gain="linear")):
        assert objective.value(y * scale, score) == pytest.approx(objective.value(y, score))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PrecisionAtK(k=0),
        lambda: NDCG(k=-1),
        lambda: NDCG(gain="cubic"),
        lambda: CostSaved(k=1.5),
        lambda: CostSaved(k=2, act="never"),
        lambda: CostSaved(k=2, cost=[-1, 2]).bind([1, 2]),
        lambda: NDCG().bind([1, -2]),
        lambda: AveragePrecision().bind([0, 1, 2]),
    ],
)
def test_bad_input_is_refused_at_once(make):
    with pytest.raises(InvalidInputError):
        make()


@named(OF_LABELS)
def test_labels_of_one_kind(objective):
    with pytest.raises(NoWantedRowsError, match="shortlist review"):
        objective.bind([0, 0])
    with pytest.raises(NoUnwantedRowsError, match="dismissed"):
        objective.bind([1, 1])


@named(OF_LABELS + OF_IMPACTS)
@pytest.mark.parametrize("score", [[9.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
def test_as_many_scores_as_rows(objective, score):
    with pytest.raises(InvalidInputError, match=r"score has [24] values for 3 rows"):
        objective.value([1, 0, 1], score)


def test_one_number_is_no_list():
    with pytest.raises(InvalidInputError, match="one value per row"):
        NDCG().value(3, [1])
