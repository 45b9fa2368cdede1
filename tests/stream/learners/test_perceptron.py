"""The papers' algorithms, against a plain reading of them."""

import numpy as np
import pytest

from shortlist.stream import ActiveRanker
from shortlist.stream.learners.kernel_perceptron import KernelPerceptron


def windows(seed, n_windows=8, rows=60, features=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_windows * rows, features))
    y = X @ rng.normal(size=features) + rng.normal(size=X.shape[0]) > 0.0
    return X, y, np.split(np.arange(X.shape[0]), n_windows)


def answer_all(ranker, rows, y):
    while rows.size:
        ranker.tell(rows, y[rows])
        rows = ranker.ask()


def algorithm_1(X, y, parts, k, first_order):
    """As printed: all labels; minus the false positives, plus the top Δ false negatives."""
    w = np.zeros(X.shape[1])
    for t, part in enumerate(parts):
        order = part[first_order] if t == 0 else part[np.argsort(-(X[part] @ w), kind="stable")]
        top, below = order[:k], order[k:]
        wrong = top[~y[top]]
        missed = below[y[below]][: wrong.size]
        w = w - X[wrong].sum(axis=0) + X[missed].sum(axis=0)
    return w


@pytest.mark.parametrize("seed", range(4))
def test_sequential_without_limit_is_algorithm_1(seed):
    X, y, parts = windows(seed)
    ranker = ActiveRanker(10, learner="perceptron", standardize=False, random_state=seed)
    for t, part in enumerate(parts):
        rows = ranker.ask(X[part])
        if t == 0:
            first_order = ranker.open_[1].positions.copy()
        answer_all(ranker, rows, y)
    np.testing.assert_allclose(ranker.learner_.weights, algorithm_1(X, y, parts, 10, first_order))
    assert ranker.labels_asked_ < X.shape[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_sequential_makes_the_updates_of_full_labels(seed, kernel):
    X, y, parts = windows(seed)
    settings = {"learner": "perceptron", "kernel": kernel, "random_state": seed}
    active, full = ActiveRanker(10, **settings), ActiveRanker(10, **settings)
    for part in parts:
        answer_all(active, active.ask(X[part]), y)
        full.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(active.decision_function(X), full.decision_function(X))
    assert full.labels_asked_ == 0


def test_a_step_by_hand():
    X = np.array([[4.0, 0.0], [3.0, 1.0], [0.0, 2.0], [0.0, 1.0], [-1.0, 0.0]])
    ranker = ActiveRanker(2, learner="perceptron", scheme="uniform", standardize=False, random_state=0)
    ranker.partial_fit(X, [0, 0, 1, 0, 0])  # w = 0 so far: which rows are shown is up to chance
    ranker.learner_.weights = np.array([1.0, 0.0])
    rows = ranker.ask(X)
    assert rows.tolist() == [5, 6]
    ranker.tell(rows, [0, 0])  # Δ = 2: w − (7, 1)
    ranker.extra_labels = None
    rows = ranker.ask()
    ranker.tell(rows, np.isin(rows, [7]))
    expected = np.array([1.0, 0.0])
    if 7 in rows:  # A = {(0, 2)}: + 2/1 · (0, 2)
        expected = expected - [7.0, 1.0] + [0.0, 4.0]
    np.testing.assert_allclose(ranker.learner_.weights, expected)


def test_no_wanted_row_found_means_no_step():
    X = np.random.default_rng(0).normal(size=(30, 3))
    ranker = ActiveRanker(5, learner="perceptron", scheme="exponential", random_state=0)
    rows = ranker.ask(X)
    while rows.size:
        rows = ranker.tell(rows, np.zeros(rows.size)).ask()
    assert ranker.learner_.weights is None
    assert not ranker.open_


def test_balance_can_be_left_out():
    X, y, parts = windows(5)
    made = {}
    for balance in (True, False):
        ranker = ActiveRanker(10, learner="perceptron", scheme="uniform", balance=balance, random_state=1)
        for part in parts:
            answer_all(ranker, ranker.ask(X[part]), y)
        made[balance] = ranker.learner_.weights
    assert not np.allclose(made[True], made[False])


def test_averaged_weights():
    X, y, parts = windows(2)
    plain = ActiveRanker(10, learner="perceptron", random_state=0)
    averaged = ActiveRanker(10, learner="perceptron", average=True, random_state=0)
    seen = []
    for part in parts[:1]:
        plain.partial_fit(X[part], y[part])
        averaged.partial_fit(X[part], y[part])
        seen.append(plain.learner_.weights)
    np.testing.assert_allclose(averaged.decision_function(X), plain.decision_function(X))
    averaged.partial_fit(X[parts[1]], y[parts[1]])
    learner = averaged.learner_
    np.testing.assert_allclose(learner.sum_of_weights, seen[0] + learner.weights)


def test_kernel_perceptron_goes_on_with_fourier_features():
    X, y, parts = windows(3, n_windows=10, rows=100)
    exact = ActiveRanker(20, learner="perceptron", kernel="rbf", random_state=0)
    capped = ActiveRanker(20, learner="perceptron", kernel="rbf", random_state=0)
    for part in parts[:1]:
        exact.partial_fit(X[part], y[part])
        capped.partial_fit(X[part], y[part])
    small = KernelPerceptron(max_support=5, n_features=4_096, seed=0)
    small.restore(capped.learner_.state())
    capped.learner_ = small
    for part in parts[1:2]:
        exact.partial_fit(X[part], y[part])
        capped.partial_fit(X[part], y[part])
    assert capped.learner_.support is None
    a, b = exact.decision_function(X), capped.decision_function(X)
    assert np.corrcoef(a, b)[0, 1] > 0.98
    capped.partial_fit(X[parts[2]], y[parts[2]])
    assert capped.learner_.weights.size == 4_096


def test_perceptron_learns():
    X, y, parts = windows(7, n_windows=12, rows=400)
    ranker = ActiveRanker(20, learner="perceptron", random_state=0)
    for part in parts:
        answer_all(ranker, ranker.ask(X[part]), y)
    assert np.mean([p for _, p in ranker.precisions_[-4:]]) > 0.85
