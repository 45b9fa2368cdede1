import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.datasets import make_outages
from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.metrics import average_precision, cost_saved_at_k
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, PrecisionAtK
from shortlist.rankers import LambdaMART
from shortlist.rankers.boosting.pair_gradient import PairGradient

OBJECTIVES = [
    CostSaved(k=5),
    CostSaved(k=5, cost=np.sqrt, act="log"),
    CostSaved(k=5, act=lambda ranks: 1 / ranks),
    NDCG(k=5),
    NDCG(gain="linear"),
    AveragePrecision(),
    AUC(),
    PrecisionAtK(k=5),
]


@pytest.fixture(scope="module")
def storms():
    outages = make_outages(24, random_state=0)
    X = outages.drop("storm", "network", "customers_out").to_numpy()
    return X, outages["customers_out"].to_numpy().astype(float), outages["storm"].to_numpy()


def quick(**parameters):
    return LambdaMART(**{"n_estimators": 20, "random_state": 0, **parameters})


def gradient_of(objective, y, groups, *, seed=0, weight=None, pairs_per_row=10):
    return PairGradient(objective.bind(y, groups), weight, pairs_per_row=pairs_per_row, seed=seed)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: type(objective).__name__)
def test_every_objective_is_learned(objective, storms):
    X, impact, groups = storms
    y = impact if objective.takes_impact else (impact > 0).astype(int)
    score = quick(objective=objective).fit(X, y, groups=groups).decision_function(X)
    by_chance = objective.value(y, np.zeros(y.size), groups)
    assert objective.value(y, score, groups) > by_chance + 0.15 * (1 - by_chance)


def test_cost_sensitive_training_saves_more_than_ndcg_where_storms_differ_in_size():
    """One big storm follows cable, nineteen small ones follow wind; a stump cannot follow both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    groups = np.repeat(np.arange(20), 20)
    impact = np.where(groups == 0, 10_000 * np.exp(X[:, 0]), np.exp(X[:, 1]))
    stump = {"n_estimators": 1, "max_leaves": 2, "subsample": 1, "colsample_bytree": 1}
    cost = quick(objective=CostSaved(k=3), **stump).fit(X, impact, groups=groups)
    plain = quick(objective=NDCG(k=3, gain="linear"), **stump).fit(X, impact, groups=groups)
    reweighted = quick(objective=NDCG(k=3, gain="linear"), list_weight=CostSaved(k=3), **stump)
    assert cost.feature_importances_.argmax() == 0
    assert plain.feature_importances_.argmax() == 1
    assert reweighted.fit(X, impact, groups=groups).feature_importances_.argmax() == 0


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_impacts_does_not_change_the_ranking(storms, factor):
    X, impact, groups = storms
    scores = [quick().fit(X, impact * f, groups=groups).decision_function(X) for f in (1, factor)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-3, atol=1e-4)


@settings(max_examples=40)
@given(st.lists(st.sampled_from([0.0, 0.0, 1.0, 5.0, 1e4]), min_size=2, max_size=30), st.integers(0, 1000))
def test_odd_lists_give_finite_gradients(y, seed):
    """Lists of one row, lists of zeros, lists shorter than k, ties everywhere."""
    rng = np.random.default_rng(seed)
    y = np.array([*y, 3.0, 0.0])
    groups = rng.integers(0, 6, y.size)
    for objective in (CostSaved(k=10), NDCG(k=10), NDCG(gain="linear")):
        grad, hess = gradient_of(objective, y, groups, seed=seed)(np.zeros(y.size, dtype=np.float32))
        assert np.isfinite(grad).all()
        assert (hess > 0).all()


def test_tied_scores_are_ordered_at_random_so_that_the_first_round_has_a_gradient():
    y, groups = np.array([5.0, 0, 0, 0] * 3), np.repeat([0, 1, 2], 4)
    gradient = gradient_of(CostSaved(k=2), y, groups)
    means = np.mean([gradient(np.zeros(12, dtype=np.float32))[0] for _ in range(200)], axis=0)
    assert (means[y > 0] < 0).all()
    assert (means[y == 0] > 0).all()


def test_one_number_scales_all_lists_so_that_weights_survive():
    y = np.array([100.0, 0, 1.0, 0])
    groups = np.array([0, 0, 1, 1])
    grad, _ = gradient_of(CostSaved(k=1), y, groups)(np.array([0, 1, 0, 1], dtype=np.float32))
    assert grad[0] == pytest.approx(100 * grad[2], rel=1e-5)


def test_item_weights_multiply_pairs_by_their_geometric_mean():
    y, groups = np.array([10.0, 0, 10.0, 0]), np.array([0, 0, 1, 1])
    weight = np.array([4.0, 1.0, 1.0, 1.0])
    grad, _ = gradient_of(CostSaved(k=1), y, groups, weight=weight)(np.array([0, 1, 0, 1], dtype=np.float32))
    assert grad[0] == pytest.approx(2 * grad[2], rel=1e-5)


def test_rows_of_weight_zero_teach_nothing(storms):
    X, impact, groups = storms
    lies = np.random.default_rng(0).permutation(200) * 1e6  # a list that would outweigh all others
    model = quick(objective=CostSaved(k=5)).fit(
        np.vstack([X, X[:200]]),
        np.concatenate([impact, lies]),
        groups=np.concatenate([groups, np.full(200, "lies")]),
        sample_weight=np.concatenate([np.ones(impact.size), np.zeros(200)]),
    )
    assert cost_saved_at_k(impact, model.decision_function(X), 5, groups=groups) > 0.4


def test_list_weight_takes_an_objective_numbers_or_a_function(storms):
    X, impact, groups = storms
    ideals = CostSaved(k=5).bind(impact, groups).ideals
    ways = [CostSaved(k=5), ideals, lambda y: CostSaved(k=5).bind(y).ideals[0]]
    scores = [
        quick(objective=NDCG(k=5), list_weight=way).fit(X, impact, groups=groups).decision_function(X)
        for way in ways
    ]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-4)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-4)


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.ones(3), "3 values for 24 lists"), (-np.ones(24), "negative"), (np.zeros(24), "at least one list")],
)
def test_bad_list_weights_are_refused(storms, weights, message):
    X, impact, groups = storms
    with pytest.raises(InvalidInputError, match=message):
        quick(list_weight=weights).fit(X, impact, groups=groups)


def test_early_stopping_keeps_the_round_that_held_out_lists_liked_best(storms):
    X, impact, groups = storms
    late = groups >= "storm-0016"
    model = quick(n_estimators=60, early_stopping_rounds=5, objective=CostSaved(k=5))
    model.fit(X[~late], impact[~late], groups=groups[~late], eval_set=(X[late], impact[late], groups[late]))
    best = int(np.argmax(model.eval_values_))
    assert model.booster_.num_boosted_rounds() == best + 1
    assert model.eval_values_.size in (60, best + 6)
    value = CostSaved(k=5).value(impact[late], model.decision_function(X[late]), groups[late])
    assert value == pytest.approx(model.eval_values_[best])


def test_a_share_of_the_lists_can_be_held_out(storms):
    X, impact, groups = storms
    model = quick(n_estimators=40, eval_groups=0.25, early_stopping_rounds=5).fit(X, impact, groups=groups)
    assert 1 <= model.booster_.num_boosted_rounds() <= 40
    assert model.eval_values_.size >= model.booster_.num_boosted_rounds()


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({"eval_groups": 0.2}, {}, "at least two lists"),
        ({"eval_groups": 1.5}, {"groups": np.arange(12) % 3}, "above 0 and below 1"),
        ({"eval_groups": "x"}, {"groups": np.arange(12) % 3}, "above 0 and below 1"),
        ({}, {"eval_set": [1, 2]}, "eval_set must be a tuple"),
    ],
)
def test_bad_hold_outs_are_refused(parameters, arguments, message):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12.0)
    with pytest.raises(InvalidInputError, match=message):
        quick(**parameters).fit(X, y, **arguments)


@pytest.mark.parametrize("objective", [AveragePrecision(), AUC()])
def test_too_many_pairs_are_sampled_and_learned_from(objective, monkeypatch):
    monkeypatch.setattr("shortlist.rankers.boosting.pair_gradient.FEW_PAIRS", 1_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 4))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=3_000) > 1.8
    assert gradient_of(objective, y, None).samples
    model = quick(objective=objective, n_estimators=60).fit(X[:2000], y[:2000])
    sampled = average_precision(y[2000:], model.decision_function(X[2000:]))
    monkeypatch.undo()
    exact = quick(objective=objective, n_estimators=60).fit(X[:2000], y[:2000])
    assert sampled > average_precision(y[2000:], exact.decision_function(X[2000:])) - 0.05


def test_contributions_sum_to_the_score(storms):
    X, impact, groups = storms
    model = quick().fit(X, impact, groups=groups)
    np.testing.assert_allclose(model.contributions(X).sum(axis=1), model.decision_function(X), atol=1e-4)


def test_costs_of_zero_say_what_to_do():
    with pytest.raises(NoWantedRowsError, match="at least one row with an impact above 0"):
        quick(objective=CostSaved(k=2, cost=np.zeros_like)).fit(np.ones((4, 1)), np.arange(4.0))


def test_labels_are_required_where_the_objective_counts_wanted_rows():
    with pytest.raises(InvalidInputError, match="two, 1 = wanted"):
        quick(objective=AveragePrecision()).fit(np.ones((4, 1)), [0, 1, 2, 3])
