"""Coordinate ascent and AdaRank: linear rankers that maximise an objective itself."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.datasets import make_outages
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, PrecisionAtK
from shortlist.rankers import AdaRank, CoordinateAscent

STORMS = np.array([1, 1, 1, 2, 2, 2])
IMPACT = np.array([10_000.0, 100, 0, 100, 1, 0])
CABLE_AND_WIND = np.array([[5.0, 14], [4, 15], [3, 16], [3, 13], [4, 12], [5, 10]])
OBJECTIVES = [CostSaved(k=5), NDCG(k=5), NDCG(gain="linear"), AveragePrecision(), AUC(), PrecisionAtK(k=5)]


def rankers(**parameters):
    return [CoordinateAscent(n_restarts=2, random_state=0, **parameters), AdaRank(**parameters)]


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    return X, np.exp(X @ [2.0, 0, -1, 0] + 0.3 * rng.normal(size=300)), np.repeat(np.arange(15), 20)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("which", [0, 1], ids=["CoordinateAscent", "AdaRank"])
def test_every_objective_is_learned_and_its_value_told(lists, objective, which):
    X, impact, groups = lists
    y = impact if objective.takes_impact else (impact > 3).astype(int)
    model = rankers(objective=objective)[which].fit(X, y, groups=groups)
    assert model.value_ == pytest.approx(objective.value(y, model.decision_function(X), groups))
    assert model.value_ > 1.5 * objective.value(y, np.zeros(y.size), groups)
    assert np.argmax(np.abs(model.coef_)) == 0


def test_coordinate_ascent_finds_what_one_column_cannot(lists):
    X, impact, groups = lists
    model = CoordinateAscent(objective=CostSaved(k=5), random_state=0).fit(X, impact, groups=groups)
    assert model.value_ > AdaRank(objective=CostSaved(k=5)).fit(X, impact, groups=groups).value_
    assert np.abs(model.coef_).sum() == pytest.approx(1)
    assert model.coef_[2] < 0


@pytest.mark.parametrize("model", rankers(objective=CostSaved(k=2)), ids=repr)
def test_cost_sensitive_rankers_follow_the_big_storm_of_the_paper(model):
    """Cable length ranks the storm of 10,000 customers rightly, wind the one of 100 (Figure 2, Example 4)."""
    model.fit(CABLE_AND_WIND, IMPACT, groups=STORMS)
    assert list(np.argsort(-model.decision_function(CABLE_AND_WIND[:3]))) == [0, 1, 2]


def test_adarank_starts_from_the_weights_of_the_lists():
    """With the paper's printed objective both columns would tie; with weights cable gets all the attention."""
    model = AdaRank(objective=CostSaved(k=2), n_estimators=1).fit(CABLE_AND_WIND, IMPACT, groups=STORMS)
    assert model.coef_[0] > 0
    assert model.coef_[1] == 0
    assert model.value_ == pytest.approx((10_050 + 0.5) / 10_150.5)


def test_adarank_stays_finite_when_a_column_is_perfect():
    X = np.arange(12.0)[:, None]
    model = AdaRank(objective=CostSaved(k=3)).fit(X, np.arange(12.0), groups=np.repeat([0, 1, 2], 4))
    assert np.isfinite(model.coef_).all()
    assert model.value_ == pytest.approx(1)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_coordinate_ascent_never_loses_to_its_start_or_to_removal(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(30, 3)).astype(float), rng.gamma(0.3, 10, 30)
    groups = rng.integers(0, 8, 30)
    goal = CostSaved(k=4).bind(y, groups)
    model = CoordinateAscent(objective=CostSaved(k=4), n_restarts=1, random_state=seed).fit(
        X, y, groups=groups
    )
    prepared = model.preparation_.transform(X)
    start = (prepared @ np.full(3, 1 / 3)).round(
        9
    )  # rows that are worth the same are tied, however their sums round
    assert model.value_ >= goal.value(start) - 1e-12
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("model", rankers(), ids=repr)
def test_item_weights_multiply_what_a_row_is_worth(model, lists):
    X, impact, groups = lists
    weight = np.random.default_rng(0).integers(1, 4, impact.size).astype(float)
    weighed = model.fit(X, impact, groups=groups, sample_weight=weight).coef_.copy()
    np.testing.assert_allclose(model.fit(X, impact * weight, groups=groups).coef_, weighed)


@pytest.mark.parametrize(
    ("objective", "value"), [(AveragePrecision(), (1 + 3 * 4 / 5) / 4), (AUC(), (2 + 3 * 1) / (4 * 2))]
)
def test_a_wanted_row_of_weight_three_counts_three_times(objective, value):
    goal = objective.bind([1, 0, 1, 0], sample_weight=np.array([1.0, 1, 3, 1]))
    assert goal.value(np.array([4.0, 3, 2, 1])) == pytest.approx(value)


@pytest.mark.parametrize("model", rankers(), ids=repr)
def test_contributions_go_back_to_the_columns_of_a_frame(model):
    frame = make_outages(6, random_state=0).select("wind", "storm", "customers", "customers_out")
    storm = frame["storm"]
    frame = frame.with_columns(terrain=pl.Series(["hill", "plain", "city"] * frame.height)[: frame.height])
    X = frame.select("terrain", "wind", "customers")
    model.fit(X, frame["customers_out"].to_numpy(), groups=storm.to_numpy())
    parts = model.contributions(X)
    assert parts.shape == (frame.height, 4)
    np.testing.assert_allclose(parts.sum(axis=1), model.decision_function(X), atol=1e-9)
    same_terrain = parts[(X["terrain"] == "hill").to_numpy(), 0]
    np.testing.assert_allclose(same_terrain, same_terrain[0])
    assert {"wind", "customers"} <= set(model.weights_)
    assert list(model.weights_.values()) == sorted(model.weights_.values(), key=abs, reverse=True)
