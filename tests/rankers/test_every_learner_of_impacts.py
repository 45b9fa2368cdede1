"""What every ranker of impacts must take in its stride, in each form that the cost-sensitive paper has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from shortlist.datasets import make_outages
from shortlist.exceptions import InvalidInputError
from shortlist.objectives import NDCG, CostSaved
from shortlist.rankers import AdaRank, CoordinateAscent, LambdaMART, ListNet, RankNet

COST, GAIN = CostSaved(k=10), NDCG(k=10, gain="linear")
FORMS = {
    "CS-MART": LambdaMART(objective=COST, n_estimators=20, random_state=0),
    "CR-MART": LambdaMART(objective=GAIN, list_weight=COST, n_estimators=20, random_state=0),
    "CS-C. Ascent": CoordinateAscent(objective=COST, n_restarts=1, max_passes=2, random_state=0),
    "CR-C. Ascent": CoordinateAscent(
        objective=GAIN, list_weight=COST, n_restarts=1, max_passes=2, random_state=0
    ),
    "CS-AdaRank": AdaRank(objective=COST, n_estimators=20),
    "CR-RankNet": RankNet(list_weight=COST, n_epochs=20, random_state=0),
    "CR-ListNet": ListNet(list_weight=COST, n_epochs=20, random_state=0),
}


@pytest.fixture(scope="module")
def storms():
    outages = make_outages(10, random_state=0)
    X = outages.drop("storm", "network", "customers_out").to_numpy()
    return X, outages["customers_out"].to_numpy().astype(float), outages["storm"].to_numpy()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_impacts_changes_no_ranking(form, factor, storms):
    X, impact, groups = storms
    plain = clone(FORMS[form]).fit(X, impact, groups=groups).decision_function(X)
    scaled = clone(FORMS[form]).fit(X, impact * factor, groups=groups).decision_function(X)
    np.testing.assert_array_equal(np.argsort(-scaled, kind="stable"), np.argsort(-plain, kind="stable"))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000))
def test_odd_lists_give_finite_scores(form, seed):
    """A list of one row, a list of zeros, lists shorter than k, ties in every column and in y."""
    rng = np.random.default_rng(seed)
    sizes = [1, 1, 4, 7, 12]
    groups = np.repeat(np.arange(5), sizes)
    X = rng.integers(0, 2, size=(25, 3)).astype(float)
    X[:, 2] = 1.0
    y = rng.integers(0, 3, 25) * 10.0 ** rng.integers(0, 5, 25)
    y[groups == 2] = 0.0
    y[-1] = 5.0
    score = clone(FORMS[form]).fit(X, y, groups=groups).decision_function(X)
    assert np.isfinite(score).all()


@pytest.mark.parametrize("form", FORMS)
def test_equal_impacts_leave_nothing_to_learn_and_break_nothing(form):
    X = np.random.default_rng(0).normal(size=(20, 2))
    score = clone(FORMS[form]).fit(X, np.full(20, 7.0), groups=np.repeat([0, 1], 10)).decision_function(X)
    assert np.isfinite(score).all()


@pytest.mark.parametrize("form", FORMS)
def test_costs_of_certain_rows_are_for_measures_alone(form, storms):
    X, impact, groups = storms
    of_rows, ranker = CostSaved(k=10, cost=impact), FORMS[form]
    name = "list_weight" if ranker.list_weight is COST else "objective"
    with pytest.raises(InvalidInputError, match=f"{name} has a cost for each of certain rows.* as y"):
        clone(ranker).set_params(**{name: of_rows}).fit(X, impact, groups=groups)


@pytest.mark.parametrize("form", [form for form in FORMS if hasattr(FORMS[form], "random_state")])
def test_every_kind_of_seed_is_taken(form, storms):
    X, impact, groups = storms
    first, again = (
        clone(FORMS[form]).set_params(random_state=np.random.default_rng(7)).fit(X, impact, groups=groups)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.decision_function(X), again.decision_function(X))
    with pytest.raises(InvalidInputError, match="random_state must be"):
        clone(FORMS[form]).set_params(random_state=-1).fit(X, impact, groups=groups)


def test_impacts_too_large_to_add_up_are_refused(storms):
    X, impact, _ = storms
    with pytest.raises(InvalidInputError, match="larger unit"):
        AdaRank().fit(X, impact / impact.max() * 1e305)
