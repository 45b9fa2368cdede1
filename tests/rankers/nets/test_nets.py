"""RankNet and ListNet: small networks with a smooth loss of their own."""

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Lists
from shortlist.metrics import cost_saved_at_k
from shortlist.objectives import CostSaved
from shortlist.rankers import ListNet, RankNet
from shortlist.rankers.nets.base import Task, _backward, _first_net, _forward


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    return X, np.exp(X @ [2.0, 0, -1]), np.repeat(np.arange(15), 20)


def task(seed=0, sizes=(5, 1, 4)):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    lists = Lists(np.arange(n), np.concatenate([[0], np.cumsum(sizes)]))
    return Task(
        rng.normal(size=(n, 2)), rng.integers(0, 4, n) + 1.0, lists, np.full(3, 1 / 3), rng.random(n) + 0.5
    )


MODELS = [RankNet(), ListNet(), ListNet(target="softmax")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_gradient_by_score_is_that_of_the_loss(model):
    rows, rng = task(), np.random.default_rng(0)
    score = rng.normal(size=rows.y.size)
    _, grad = model._loss(rows, score, rng)
    for row in range(score.size):
        nudge = np.zeros(score.size)
        nudge[row] = 1e-5
        slope = (model._loss(rows, score + nudge, rng)[0] - model._loss(rows, score - nudge, rng)[0]) / 2e-5
        assert grad[row] == pytest.approx(slope, abs=1e-8)


def test_the_gradient_by_weight_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    net, X, pull = _first_net(3, 4, rng), rng.normal(size=(6, 3)), rng.normal(size=6)
    slopes = _backward(net, X, _forward(net, X)[1], pull, 0.0)
    for array, slope in zip(net, slopes, strict=True):
        for place in np.ndindex(array.shape):
            values = []
            for step in (1e-6, -2e-6):
                array[place] += step
                values.append(_forward(net, X)[0] @ pull)
            array[place] += 1e-6
            assert slope[place] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("list_weight", [None, CostSaved(k=5)], ids=["plain", "reweighted"])
def test_learns_the_order(model, list_weight, lists):
    X, y, groups = lists
    model.set_params(random_state=0, list_weight=list_weight).fit(X, y, groups=groups)
    assert cost_saved_at_k(y, model.decision_function(X), 5, groups=groups) > 0.97


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("factor", [1, 1e6])
def test_impacts_beyond_the_range_of_exp_are_no_trouble(model, factor, lists):
    X, y, groups = lists
    score = (
        model.set_params(random_state=0, n_epochs=20).fit(X, y * factor, groups=groups).decision_function(X)
    )
    assert np.isfinite(score).all()


@pytest.mark.parametrize("model", [RankNet(), ListNet()], ids=repr)
def test_lists_that_say_nothing_are_passed_over(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(np.arange(40) < 20, np.exp(X[:, 0]), 0.0)
    groups = np.concatenate([np.repeat([0, 1], 10), np.repeat([2, 3], 9), [4, 5]])
    score = model.set_params(random_state=0).fit(X, y, groups=groups).decision_function(X)
    assert np.isfinite(score).all()
    assert cost_saved_at_k(y, score, 3, groups=groups) > 0.9


@pytest.mark.parametrize("model", [RankNet(), ListNet()], ids=repr)
def test_a_weight_counts_like_a_repeated_row(model, lists):
    X, y, groups = (array[:60] for array in lists)
    weight = np.random.default_rng(0).integers(1, 3, 60)
    rows = np.repeat(np.arange(60), weight)
    prepared = Task(X, y, Lists.from_groups(groups), np.full(3, 1 / 3), weight.astype(float))
    repeated = Task(X[rows], y[rows], Lists.from_groups(groups[rows]), np.full(3, 1 / 3), np.ones(rows.size))
    score, rng = X @ [1.0, 1, 1], np.random.default_rng(0)
    model.set_params(**({"pairs_per_row": 100} if isinstance(model, RankNet) else {}))
    assert model._loss(prepared, score, rng)[0] == pytest.approx(model._loss(repeated, score[rows], rng)[0])


@pytest.mark.parametrize("model", [RankNet(), ListNet()], ids=repr)
def test_early_stopping_goes_back_to_the_best_epoch(model, lists):
    X, y, groups = lists
    model.set_params(random_state=0, n_epochs=150, patience=5, eval_groups=0.3).fit(X, y, groups=groups)
    assert cost_saved_at_k(y, model.decision_function(X), 5, groups=groups) > 0.9
    model.set_params(eval_groups=None).fit(X, y, groups=groups, eval_set=(X, y, groups))
    assert cost_saved_at_k(y, model.decision_function(X), 5, groups=groups) > 0.9


def test_an_unknown_target_is_refused(lists):
    X, y, groups = lists
    with pytest.raises(InvalidInputError, match="'share' or 'softmax'"):
        ListNet(target="sum").fit(X, y, groups=groups)
