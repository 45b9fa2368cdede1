import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression

from shortlist.stream.columns import StreamColumns
from shortlist.stream.learners.fourier import FourierFeatures
from shortlist.stream.learners.logistic import balanced_weights, fit_logistic
from shortlist.stream.learners.refit import Refit


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_newton_finds_scikit_learns_solution(C):
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(300, 5)), rng.uniform(0.2, 2.0, size=300)
    wanted = Z[:, 0] + rng.normal(size=300) > 1
    peer = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, wanted, sample_weight=weights)
    beta = fit_logistic(Z, wanted, weights, C).beta
    np.testing.assert_allclose(beta[:-1], peer.coef_[0], rtol=1e-3, atol=1e-4)
    assert beta[-1] == pytest.approx(peer.intercept_[0], rel=1e-3)


def test_separable_labels_stay_finite():
    Z = np.linspace(-1, 1, 40).reshape(-1, 1) * 10
    beta = fit_logistic(Z, Z[:, 0] > 0, np.ones(40), C=10.0).beta
    assert np.isfinite(beta).all()
    assert beta[0] > 0


def test_balance():
    weights = balanced_weights(np.array([True, False, False, False]), np.ones(4))
    assert weights[0] == pytest.approx(weights[1:].sum())
    assert weights.sum() == pytest.approx(4)


def learner_and_columns(**settings):
    columns = StreamColumns(np.zeros(2, dtype=bool))
    columns.observe(np.random.default_rng(0).normal(size=(400, 2)), np.random.default_rng(0))
    return Refit(**settings), columns


def test_fresh_labels_outweigh_old_ones():
    learner, columns = learner_and_columns()
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    learner.hear(np.arange(200), X, X[:, 0] > 0.5, 0.0)
    before = learner.scores(X, columns)
    learner.fade(0.05)
    learner.hear(np.arange(200, 400), X, X[:, 1] > 0.5, learner.log_decay)
    after = learner.scores(X, columns)
    assert np.corrcoef(before, X[:, 0])[0, 1] > 0.9
    assert np.corrcoef(after, X[:, 1])[0, 1] > 0.9


def test_labels_are_forgotten_when_they_weigh_nothing():
    learner, _ = learner_and_columns()
    learner.hear(np.arange(5), np.zeros((5, 2)), np.ones(5, dtype=bool), 0.0)
    learner.fade(0.03)  # a drift alarm alone does not forget everything
    assert learner.labels.rows.size == 5
    learner.fade(0.03)
    assert learner.labels.rows.size == 0
    assert not learner.ready


def test_the_oldest_labels_of_the_commoner_kind_make_room():
    learner, _ = learner_and_columns(max_labels=50)
    wanted = np.arange(80) < 10
    learner.hear(np.arange(80), np.zeros((80, 2)), wanted, 0.0)
    assert learner.labels.rows.tolist() == [*range(10), *range(40, 80)]
    learner, _ = learner_and_columns(max_labels=50)
    learner.hear(np.arange(80), np.zeros((80, 2)), ~wanted, 0.0)
    assert learner.labels.rows.tolist() == [*range(10), *range(40, 80)]
    learner, _ = learner_and_columns(max_labels=50)
    learner.hear(np.arange(80), np.zeros((80, 2)), np.arange(80) % 2 == 0, 0.0)
    assert learner.labels.rows.tolist() == [*range(30, 80)]


def test_wanted_rows_alone_are_enough():
    learner, columns = learner_and_columns()
    learner.hear(np.arange(3), np.array([[3.0, 0.0], [3.0, 0.5], [2.5, 0.0]]), np.ones(3, dtype=bool), 0.0)
    near, far = learner.scores(np.array([[3.0, 0.0], [-3.0, 0.0]]), columns)
    assert near > far


def near_fits(columns, seed=0):
    rng = np.random.default_rng(seed)
    Z, weights = rng.normal(size=(600, columns)), rng.uniform(0.2, 2.0, size=600)
    wanted = Z[:, 0] - Z[:, 1] + rng.normal(size=600) > 1
    return Z, wanted, weights, fit_logistic(Z[:550], wanted[:550], weights[:550], C=10.0)


@pytest.mark.parametrize("columns", [5, 40])  # one pass over the rows, and products of matrices
def test_the_start_shows_in_the_last_digits_only(columns):
    Z, wanted, weights, start = near_fits(columns)
    cold, warm = (fit_logistic(Z, wanted, weights, 10.0, each).beta for each in (None, start))
    np.testing.assert_allclose(warm, cold, rtol=1e-3, atol=1e-4)
    assert np.abs(start.beta - cold).max() > 1e-2


def test_a_start_that_is_far_off_does_no_harm():
    Z, wanted, weights, start = near_fits(5)
    far = start._replace(beta=np.full(6, 50.0))
    np.testing.assert_allclose(
        fit_logistic(Z, wanted, weights, 10.0, far).beta,
        fit_logistic(Z, wanted, weights, 10.0).beta,
        rtol=1e-3,
    )


def test_single_precision_finds_the_same_solution():
    Z, wanted, weights, _ = near_fits(40)
    exact, single = (fit_logistic(each, wanted, weights, 10.0).beta for each in (Z, Z.astype(np.float32)))
    np.testing.assert_allclose(single, exact, rtol=1e-2, atol=1e-3)


def test_fourier_features_are_those_of_scikit_learn():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    peer = RBFSampler(gamma=0.2, n_components=64, random_state=5).fit(Z).transform(Z)
    ours = FourierFeatures(3, 64, 0.2, 5)
    weights = np.random.default_rng(1).normal(size=64)
    np.testing.assert_allclose(ours.columns(Z), peer, atol=1e-5)
    np.testing.assert_allclose(ours.sums(Z, weights), peer @ weights, atol=1e-4)
