"""score(): what scikit-learn's searches and cross-validation ask of a ranker."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.metrics import average_precision, cost_saved_at_k
from shortlist.objectives import NDCG, AveragePrecision, PrecisionAtK
from shortlist.rankers import APBoost, Baseline, CoordinateAscent, LambdaMART, ListNet, RankBoost

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
IMPACT = np.where(X[:, 0] + 0.5 * rng.normal(size=240) > 0.8, np.exp(X[:, 0]), 0.0)
WANTED = (IMPACT > 0).astype(int)
GROUPS = np.repeat(np.arange(12), 20)


def test_a_search_needs_no_scoring():
    ranker = APBoost(n_estimators=5, n_jobs=1, random_state=0)
    search = GridSearchCV(ranker, {"max_depth": [1, 3]}, cv=StratifiedKFold(2)).fit(X, WANTED)
    assert 2 * WANTED.mean() < search.best_score_ <= 1


def test_labels_are_judged_by_average_precision_in_the_values_that_were_learned():
    ranker = Baseline().fit(X, WANTED)
    expected = average_precision(WANTED, ranker.decision_function(X))
    assert ranker.score(X, WANTED) == pytest.approx(expected)
    assert ranker.score(X, WANTED.astype(int)) == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="learned from"):
        ranker.score(X, np.where(WANTED, 1, -1))


@pytest.mark.parametrize(
    "objective", [NDCG(k=5, gain="linear"), AveragePrecision(), PrecisionAtK(k=2)], ids=repr
)
def test_a_ranker_with_an_objective_is_judged_by_it(objective):
    y = IMPACT if objective.takes_impact else WANTED
    ranker = CoordinateAscent(objective=objective, n_restarts=1, random_state=0).fit(X, y, groups=GROUPS)
    expected = objective.value(y, ranker.decision_function(X), GROUPS)
    assert ranker.score(X, y, groups=GROUPS) == pytest.approx(expected)
    assert ranker.score(X, y) == pytest.approx(objective.value(y, ranker.decision_function(X)))


@pytest.mark.parametrize(
    "ranker", [Baseline(estimator=LinearRegression()), ListNet(n_epochs=5, random_state=0)], ids=repr
)
def test_impacts_without_an_objective_are_judged_by_cost_saved(ranker):
    ranker.fit(X, IMPACT, groups=GROUPS)
    expected = cost_saved_at_k(IMPACT, ranker.decision_function(X), k=10, groups=GROUPS)
    assert ranker.score(X, IMPACT, groups=GROUPS) == pytest.approx(expected)


def test_with_routing_a_search_learns_and_judges_within_lists():
    ranker = LambdaMART(n_estimators=5, random_state=0)
    with config_context(enable_metadata_routing=True):
        found = cross_val_score(ranker, X, IMPACT, params={"groups": GROUPS}, cv=GroupKFold(3))
    for value, (learn, judge) in zip(found, GroupKFold(3).split(X, IMPACT, GROUPS), strict=True):
        ranker.fit(X[learn], IMPACT[learn], groups=GROUPS[learn])
        assert value == pytest.approx(ranker.score(X[judge], IMPACT[judge], groups=GROUPS[judge]))


def test_with_routing_a_pipeline_is_judged_within_lists():
    pipeline = make_pipeline(StandardScaler(), RankBoost(n_estimators=5))
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipeline, {}, cv=GroupKFold(3)).fit(X, WANTED, groups=GROUPS)
        expected = average_precision(WANTED, search.decision_function(X), groups=GROUPS)
        assert search.best_estimator_.score(X, WANTED, groups=GROUPS) == pytest.approx(expected)


def test_a_row_of_weight_two_counts_as_two_rows():
    ranker = Baseline().fit(X, WANTED)
    weight = np.where(np.arange(240) < 120, 2.0, 1.0)
    twice = np.concatenate([np.arange(240), np.arange(120)])
    value = ranker.score(X, WANTED, sample_weight=weight)
    assert value == pytest.approx(ranker.score(X[twice], WANTED[twice]), abs=0.01)  # copies are tied
    assert ranker.score(X, WANTED, sample_weight=np.full(240, 3.0)) == pytest.approx(ranker.score(X, WANTED))
    with pytest.raises(InvalidInputError, match="groups or sample_weight, not both"):
        ranker.score(X, WANTED, sample_weight=weight, groups=GROUPS)


def test_impacts_are_multiplied_by_weights():
    ranker = Baseline(estimator=LinearRegression()).fit(X, IMPACT)
    weight = rng.random(240) + 0.5
    weighted = ranker.score(X, IMPACT, sample_weight=weight, groups=GROUPS)
    assert weighted == pytest.approx(ranker.score(X, IMPACT * weight, groups=GROUPS))


def test_rows_without_a_wanted_one_cannot_be_judged():
    with pytest.raises(NoWantedRowsError, match="to learn or to measure takes at least one"):
        Baseline().fit(X, WANTED).score(X, np.zeros(240))


def test_as_many_outcomes_as_rows():
    with pytest.raises(InvalidInputError, match="y has 3 values for 240 rows"):
        LambdaMART(n_estimators=2).fit(X, IMPACT).score(X, IMPACT[:3])


def test_a_ranker_of_labels_can_be_fitted_anew_to_impacts():
    ranker = LambdaMART(objective=AveragePrecision(), n_estimators=3, random_state=0).fit(X, WANTED)
    assert {"classes_", "chance_curve_", "calibrated_on_"} <= vars(ranker).keys()
    ranker.set_params(objective=NDCG(k=5)).fit(X, IMPACT)
    assert not {"classes_", "chance_curve_", "calibrated_on_"} & vars(ranker).keys()
    assert ranker.score(X, IMPACT) == NDCG(k=5).value(IMPACT, ranker.decision_function(X))
