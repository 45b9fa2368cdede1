"""Rankers of labels in scikit-learn's own tools, as their users put them together."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    check_cv,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import shortlist
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError
from shortlist.metrics import average_precision, scorer
from shortlist.objectives import AveragePrecision, CostSaved
from shortlist.rankers import (
    AdaRank,
    APBoost,
    Baseline,
    CoordinateAscent,
    LambdaMART,
    ListNet,
    RankBoost,
    RankNet,
    TargetTree,
)
from shortlist.stream import ActiveRanker

AP = AveragePrecision()
CLASSIFIERS = [
    APBoost(n_estimators=20, n_jobs=1, random_state=0),
    RankBoost(n_estimators=30),
    Baseline(),
    Baseline(estimator=LinearSVC()),
    TargetTree(n_restarts=1, generations=20, random_state=0),
    LambdaMART(objective=AP, n_estimators=30, n_jobs=1, random_state=0),
    CoordinateAscent(objective=AP, n_restarts=1, random_state=0),
    AdaRank(objective=AP),
]
NO_CLASSIFIERS = [
    Baseline(estimator=LinearRegression()),
    TargetTree(objective=CostSaved(k=5)),
    LambdaMART(),
    CoordinateAscent(),
    AdaRank(),
    RankNet(),
    ListNet(),
    ActiveRanker(5),  # the labels it asks for are no sample of its rows
]


def rows(n, seed=0):
    """Rows of which a third are wanted, with noise, so that no model can be sure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.random(n) < 1 / (1 + np.exp(1.5 - 1.5 * X[:, 0] - 1.5 * X[:, 1]))


@pytest.fixture(scope="module")
def known():
    X, wanted = rows(400)
    return X, np.where(wanted, "Y", "N")


@pytest.fixture(scope="module")
def boost(known):
    return APBoost(n_estimators=20, n_jobs=1, random_state=0).fit(*known)


def every_classifier(function):
    return pytest.mark.parametrize("ranker", CLASSIFIERS, ids=repr)(function)


def test_rankers_of_labels_are_classifiers_and_the_others_are_not():
    assert all(is_classifier(ranker) for ranker in CLASSIFIERS)
    for ranker in NO_CLASSIFIERS:
        assert not is_classifier(ranker)
        assert not is_regressor(ranker)
        assert not hasattr(ranker, "predict_proba")


@every_classifier
def test_text_labels_come_back_as_they_were_given(ranker, known):
    X, y = known
    fitted = clone(ranker).fit(X, y)
    chance = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == ["N", "Y"]
    assert set(fitted.predict(X)) == {"N", "Y"}
    np.testing.assert_array_equal(fitted.predict(X) == "Y", chance[:, 1] > 0.5)
    assert chance.sum(axis=1) == pytest.approx(1)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(fitted.predict_log_proba(X), np.log(chance))
    as_numbers = clone(ranker).fit(X, (y == "Y").astype(int))
    np.testing.assert_array_equal(fitted.decision_function(X), as_numbers.decision_function(X))
    assert fitted.score(X, y) == as_numbers.score(X, y == "Y")


@every_classifier
def test_chances_of_new_rows_are_calibrated(ranker):
    """Better than the share of wanted rows alone, and right on average: in all, and where they are high."""
    (X, wanted), (new, truth) = rows(1_000, seed=1), rows(20_000, seed=2)
    fitted = clone(ranker).fit(X, wanted)
    chance = fitted.predict_proba(new)[:, 1]
    assert brier_score_loss(truth, chance) < 0.9 * brier_score_loss(truth, np.full(truth.size, wanted.mean()))
    assert log_loss(truth, chance) < log_loss(truth, np.full(truth.size, wanted.mean()))
    top = np.argsort(-chance)[:2_000]
    assert truth.mean() == pytest.approx(chance.mean(), abs=0.05)
    assert truth[top].mean() == pytest.approx(chance[top].mean(), abs=0.1)


def test_rankers_say_which_rows_their_chances_come_from(known):
    X, y = known
    said = {type(ranker): clone(ranker).fit(X, y) for ranker in CLASSIFIERS if type(ranker) is not Baseline}
    told = {kind.__name__: ranker.calibrated_on_ for kind, ranker in said.items()}
    assert told == dict.fromkeys(told, "held-out rows") | {"TargetTree": "training rows"}
    one = APBoost(folds=0, n_estimators=5, random_state=0).fit(X, y)
    assert one.calibrated_on_ == "training rows"
    with pytest.raises(InvalidInputError, match="no rows were held out"):
        one.chance([0.0])
    assert one.predict_proba(X).shape == (400, 2)


@pytest.mark.parametrize("form", [np.array, tuple, pd.Series])
def test_lists_held_out_calibrate_and_weights_of_lists_follow_their_lists(known, form):
    X, y = known
    groups = np.repeat(np.arange(40), 10)
    ranker = LambdaMART(objective=AP, n_estimators=5, n_jobs=1, random_state=0)
    assert clone(ranker).fit(X, y, eval_set=(X[:90], y[:90])).calibrated_on_ == "held-out rows"
    weighed = clone(ranker).set_params(list_weight=form(np.arange(1.0, 41))).fit(X, y, groups=groups)
    assert weighed.calibrated_on_ == "held-out rows"
    clone(weighed).fit(X, y, groups=groups, eval_set=(X[:90], y[:90], groups[:90]))


def test_words_that_sort_the_wrong_way_are_refused_and_unknown_ones_warned_of():
    X, wanted = rows(60)
    with pytest.raises(InvalidInputError, match="Say which rows are wanted: y == '1'"):
        Baseline().fit(X, np.where(wanted, "1", "no problem"))
    with pytest.warns(UserWarning, match="'legit' is taken as wanted.*give y == 'fraud'"):
        Baseline().fit(X, np.where(wanted, "fraud", "legit"))
    for y, message in [
        (np.where(wanted, "Y", None), "y is text, but not in .* holds None"),
        (np.resize(["a", "b", "c"], 60), "Only binary classification is supported: y has 3 values"),
        (np.full(60, "Y"), "y is 'Y' in all of its 60 rows"),
        (np.linspace(0, 1, 60), "Unknown label type: continuous: y has 60 values"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            Baseline().fit(X, y)
    with pytest.raises(InvalidInputError, match="y holds 1, but the ranker learned from 'N' and 'Y'"):
        Baseline().fit(X, np.where(wanted, "Y", "N")).score(X, np.ones(60, dtype=int))


def test_folds_are_stratified(known):
    X, y = known
    order = np.argsort(y)
    assert isinstance(check_cv(3, y, classifier=is_classifier(RankBoost())), StratifiedKFold)
    assert cross_val_score(RankBoost(n_estimators=5), X[order], y[order], cv=3).min() > 0.4


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
def test_cross_val_predict(known, method):
    X, y = known
    out = cross_val_predict(RankBoost(n_estimators=10), X, y, cv=3, method=method)
    assert out.shape == ((400, 2) if "proba" in method else (400,))
    score = {"predict": out == "Y"}.get(method, out if out.ndim == 1 else out[:, 1])
    assert average_precision(y == "Y", score) > 0.5


def test_calibrated_classifier(known, boost):
    X, y = known
    new, truth = rows(3_000, seed=5)
    wrapped = CalibratedClassifierCV(clone(boost), cv=3).fit(X, y)
    naive = np.full(truth.size, np.mean(y == "Y"))
    assert brier_score_loss(truth, wrapped.predict_proba(new)[:, 1]) < 0.9 * brier_score_loss(truth, naive)


def test_stacking_and_voting(known):
    X, y = known
    new, truth = rows(2_000, seed=6)
    members = [("rank", RankBoost(n_estimators=20)), ("plain", LogisticRegression())]
    for whole in (
        StackingClassifier(members, cv=3),
        StackingClassifier(
            [*members, ("linear", Baseline())], final_estimator=RankBoost(n_estimators=5), cv=3
        ),
        VotingClassifier(members, voting="soft"),
        VotingClassifier(members, voting="hard"),
    ):
        assert np.mean((whole.fit(X, y).predict(new) == "Y") == truth) > 0.7


def test_threshold_tuning(known):
    X, y = known
    tuned = TunedThresholdClassifierCV(RankBoost(n_estimators=20), scoring="recall_macro", cv=3).fit(X, y)
    plain = RankBoost(n_estimators=20).fit(X, y)
    assert 0 < tuned.best_threshold_ < 0.5  # wanted rows are the fewer, so more are called wanted
    assert np.mean(tuned.predict(X) == "Y") > np.mean(plain.predict(X) == "Y")


def test_partial_dependence_and_permutation_importance(known, boost):
    X, y = known
    for method in ("predict_proba", "decision_function"):
        curve = partial_dependence(boost, X, [0], response_method=method, grid_resolution=8)["average"][0]
        assert curve[-1] > curve[0]
    importance = permutation_importance(boost, X, y, n_repeats=2, random_state=0).importances_mean
    assert importance[2] < min(importance[:2])


def test_grid_search(known):
    X, y = known
    search = GridSearchCV(
        RankBoost(),
        {"n_estimators": [1, 20]},
        scoring={"own": scorer(average_precision), "auc": "roc_auc"},
        refit="own",
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"n_estimators": 20}
    assert search.predict_proba(X).shape == (400, 2)
    assert search.cv_results_["mean_test_auc"].max() > 0.7


def test_pipelines_with_set_output_and_the_index_of_pandas(known):
    X, y = known
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"row {i}" for i in range(400)])
    frame["kind"] = np.where(X[:, 2] > 0, "x", "z")
    prepare = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(sparse_output=False), ["kind"])
    )
    whole = (
        make_pipeline(prepare, RankBoost(n_estimators=10))
        .set_output(transform="pandas")
        .fit(frame, pd.Series(y))
    )
    assert [*whole[-1].feature_names_in_][-1] == "onehotencoder__kind_z"
    scores = pd.Series(whole.decision_function(frame), index=frame.index)
    assert np.isfinite(scores).all()
    for kind in (frame, pl.from_pandas(frame)):
        assert RankBoost(n_estimators=5).fit(kind, y).predict(kind).shape == (400,)


def test_a_shortlist_of_rows_from_pandas_keeps_their_index():
    history, new = make_claims(2_000, random_state=0), make_claims(300, random_state=1).drop("fraud")
    frame = pd.DataFrame({column.name: column.to_numpy() for column in new})
    frame.index = pd.Index([f"claim {i}" for i in range(300)], name="claim")
    asked = {"label": "fraud", "id": "claim_id", "model": "logistic"}
    model = shortlist.train(history, **asked)
    for top in (model.score(frame, budget=7), shortlist.rank(history, frame, budget=7, **asked)):
        told = top.to_pandas()
        assert told.index.name == "claim"
        assert [*frame.loc[told.index, "claim_id"]] == [*told["claim_id"]] == top.frame["claim_id"].to_list()
        assert [*told.columns] == top.frame.columns
        assert told["score"].is_monotonic_decreasing
    plain = model.score(new, budget=7)
    assert [*plain.to_pandas().index] == [*range(7)]
    assert new["claim_id"].gather(plain.rows).to_list() == plain.frame["claim_id"].to_list()


@every_classifier
def test_pickled_rankers_predict_alike(ranker, known):
    X, y = known
    fitted = clone(ranker).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.slow
def test_shap_explains_the_booster(known, boost):
    shap = pytest.importorskip("shap")
    X, _ = known
    explainer = shap.TreeExplainer(boost.booster_)
    parts = explainer.shap_values(X[:50])
    np.testing.assert_allclose(parts, boost.contributions(X[:50])[:, :-1], atol=1e-4)
    np.testing.assert_allclose(
        parts.sum(axis=1) + explainer.expected_value, boost.decision_function(X[:50]), atol=1e-4
    )
