import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from shortlist.exceptions import InvalidInputError
from shortlist.rankers import Baseline, RankBoost
from shortlist.rankers.catalogue import RankerOptions
from shortlist.rankers.estimators import model_of


def test_estimators_take_the_seed_and_threads_that_were_asked_for_unless_they_have_their_own():
    options = RankerOptions(random_state=7, n_jobs=1)
    forest = model_of(RandomForestClassifier(n_jobs=2))[1].make(options)
    assert isinstance(forest, Baseline)
    assert (forest.estimator.random_state, forest.estimator.n_jobs) == (7, 2)
    given = LogisticRegression(random_state=3)
    assert model_of(given)[1].make(options).estimator is not given
    assert model_of(given)[1].make(options).estimator.random_state == 3


def test_rankers_and_names_of_the_catalogue_are_taken_as_they_are():
    assert isinstance(model_of(RankBoost(n_estimators=3))[1].make(RankerOptions()), RankBoost)
    assert model_of("logistic")[0] == "logistic"
    assert model_of(Ridge())[1].learns_from == "impact"


@pytest.mark.parametrize(
    "name", ["lightgbm", "lightgbm.LGBMClassifier", "catboost", "catboost.CatBoostClassifier"]
)
def test_rivals_rank_by_name_where_they_are_installed(name, tmp_path, monkeypatch, capfd):
    pytest.importorskip(name.partition(".")[0])
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[3, 1] = np.nan
    ranker = model_of(name)[1].make(RankerOptions()).fit(X, X[:, 0] > 0.5)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert not [*tmp_path.iterdir()]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("sklearn.nowhere.Model", "there is no module 'sklearn.nowhere'"),
        ("sklearn.svm.LinearSCV", "has no class 'LinearSCV'"),
        ("sklearn.ensemble.VotingClassifier", "cannot be made without arguments"),
        ("sklearn.preprocessing.StandardScaler", "neither a classifier nor a regressor"),
        ("os.path.join", "is no class"),
        ("../evil.Model", "is no name of a class"),
        ("os.abort", "is no class"),
        (StandardScaler(), "StandardScaler is neither"),
        (3, "int is neither"),
        (StandardScaler, "not its class"),
        ("logisic", "Did you mean logistic"),
    ],
)
def test_what_cannot_rank_is_refused(asked, message):
    with pytest.raises(InvalidInputError, match=message):
        model_of(asked)
