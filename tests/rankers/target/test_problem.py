"""The engine values rankings as the objectives do: one list or many, labels or impacts, weights or none."""

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Lists
from shortlist.objectives import AUC, NDCG, AveragePrecision, CostSaved, Objective, PrecisionAtK
from shortlist.rankers import TargetTree
from shortlist.rankers.target.problem import kind_of

OBJECTIVES = [
    AveragePrecision(),
    AUC(),
    PrecisionAtK(k=7),
    NDCG(k=10),
    NDCG(gain="linear"),
    CostSaved(k=10),
    CostSaved(k=8, act="log"),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    X[rng.random(300) < 0.1, 1] = np.nan
    signal = X[:, 0] - X[:, 2] + rng.normal(size=300)
    impact = np.where(signal > 1, np.round(np.exp(signal)), 0)
    return X, impact, np.repeat([f"list {number}" for number in range(10)], 30)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("in_lists", [False, True], ids=["one list", "ten lists"])
def test_fitness_is_the_objective_less_the_price_of_leaves(rows, objective, in_lists):
    X, impact, groups = rows
    groups = groups if in_lists else None
    y = impact if objective.takes_impact else impact > 0
    ranker = TargetTree(objective=objective, alpha=0.01, generations=15, n_restarts=1, random_state=0)
    ranker.fit(X, y, groups=groups)
    value = objective.value(y, ranker.decision_function(X), groups)
    leaves = ranker.views[0].tree.leaves.size
    assert leaves > 1
    assert ranker.history_["best"][-1] == pytest.approx(value - 0.01 * leaves)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_a_row_of_weight_w_counts_as_w_rows(rows, objective):
    X, impact, groups = rows
    weight = np.random.default_rng(0).integers(0, 4, size=300)
    y = impact if objective.takes_impact else impact > 0
    ranker = TargetTree(objective=objective, generations=10, n_restarts=1, random_state=0)
    weighted = ranker.fit(X, y, groups=groups, sample_weight=weight).decision_function(X)
    repeated = np.repeat(np.arange(300), weight)
    scores = ranker.fit(X[repeated], y[repeated], groups=groups[repeated]).decision_function(X)
    np.testing.assert_allclose(weighted, scores, rtol=1e-9)


def test_weights_that_sum_to_next_to_nothing_are_refused(rows):
    X, impact, _ = rows
    with pytest.raises(InvalidInputError, match=r"sums to 1,.*Multiply the weights"):
        TargetTree().fit(X, impact > 0, sample_weight=np.full(300, 1 / 300))


class Odd(Objective):
    """An objective that is neither a sum of gains and discounts nor one the engine knows."""

    gains = AveragePrecision.gains

    def total(self, ranked):
        return float(ranked[0])

    def expected_total(self, gains, score):
        return float(gains[np.argmax(score)])

    def swap_bounds(self, ranked):
        raise NotImplementedError


def test_an_unknown_objective_is_refused_with_what_is_known(rows):
    X, impact, _ = rows
    with pytest.raises(InvalidInputError, match=r"Use AveragePrecision, AUC.*discounts"):
        TargetTree(objective=Odd()).fit(X, impact > 0)


def test_an_objective_with_discounts_is_known():
    class FirstOnly(Odd):
        def discounts(self, n):
            return (np.arange(n) == 0).astype(float)

    assert kind_of(FirstOnly()) == kind_of(CostSaved(k=3))
    X = np.arange(40.0)[:, None]
    ranker = TargetTree(objective=FirstOnly(), generations=20, random_state=0).fit(X, X.ravel() >= 30)
    assert ranker.decision_function(X)[-1] == 1
    assert FirstOnly().gains(np.array([0, 1]), Lists.single(2)).tolist() == [0, 1]
