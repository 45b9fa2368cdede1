"""Ordinary models as rankers."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor

from shortlist.rankers import Baseline
from shortlist.rankers.catalogue import make_ranker


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor, BaggingClassifier])
def test_forests_give_the_same_scores_to_the_last_bit_whatever_the_number_of_threads(forest):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + rng.normal(size=400) > 1
    one, many, again = (
        Baseline(estimator=forest(n_estimators=60, random_state=0, n_jobs=jobs)).fit(X, y)
        for jobs in (1, 5, 5)
    )
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))
    np.testing.assert_array_equal(one.decision_function(X), again.decision_function(X))
    assert many.estimator.n_jobs == 5


def test_the_forest_of_the_catalogue_learns_on_all_threads_unless_told():
    assert make_ranker("random-forest").estimator.n_jobs == -1
    assert make_ranker("random-forest", n_jobs=2).estimator.n_jobs == 2
