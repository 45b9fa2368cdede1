import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from shortlist.exceptions import InvalidInputError
from shortlist.rankers import APBoost, LambdaMART, RankBoost

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) > 14


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("subsample", 2),
        ("max_bin", 1),
        ("max_depth", 0),
        ("max_depth", (3, 0)),
        ("tune", "x"),
        ("learning_rate", np.inf),
        ("validation_fraction", "x"),
        ("validation_fraction", 1.0),
        ("random_state", -1),
    ],
)
def test_settings_that_cannot_be_meant(name, value):
    with pytest.raises(InvalidInputError, match=f"{name} must be"):
        APBoost(**{name: value}).fit(X, Y)


def test_a_list_of_validation_sets_gets_advice():
    with pytest.raises(InvalidInputError, match="must be a tuple"):
        APBoost().fit(X, Y, eval_set=[(X, Y)])


@pytest.mark.parametrize("ranker", [APBoost(), RankBoost(), LambdaMART()])
def test_contributions_need_a_fit(ranker):
    with pytest.raises(NotFittedError):
        ranker.contributions(X)


def test_expected_precision_needs_a_fit():
    with pytest.raises(NotFittedError):
        APBoost().expected_precision([1.0])


def test_a_refused_validation_set_leaves_the_ranker_as_it_was():
    ranker = LambdaMART(n_estimators=2).fit(X, Y.astype(float))
    with pytest.raises(InvalidInputError):
        ranker.fit(X[:, :1], Y.astype(float), eval_set=[(X, Y)])
    assert ranker.n_features_in_ == 2
