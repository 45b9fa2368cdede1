"""Losses of APBoost: gradients against finite differences, lists, weights and extreme margins."""

from dataclasses import replace

import numpy as np
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.kernels import ap_surrogates
from shortlist.lists import Lists, Place
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting import ap_losses
from shortlist.rankers.boosting.ap_losses import LOSSES, Exponential, Logistic, Mix, SigmoidAP, make_loss
from shortlist.rankers.folds import without
from tests.rankers.machines import on_machines


def batch_of(y, groups=None, weight=None):
    lists = Lists.single(len(y)) if groups is None else Lists.from_groups(groups)
    return Batch(None, np.asarray(y, bool), lists, weight, np.zeros(1, bool))


def some_batch(seed=0, n=60, n_wanted=8, groups=None, weighted=False):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, bool)
    y[rng.choice(n, n_wanted, replace=False)] = True
    weight = rng.uniform(0.2, 2.0, n) if weighted else None
    return batch_of(y, groups, weight), rng.normal(size=n)


def slopes(value, margin, step=1e-5):
    rises = []
    for i in range(margin.size):
        up, down = margin.copy(), margin.copy()
        up[i] += step
        down[i] -= step
        rises.append((value(up) - value(down)) / (2 * step))
    return np.array(rises)


@pytest.mark.parametrize("tau", [1.0, -1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, np.arange(60) % 4])
def test_exponential_gradient_is_that_of_its_value(tau, weighted, groups):
    batch, margin = some_batch(groups=groups, weighted=weighted)
    loss = Exponential(batch, tau=tau)
    expected = slopes(loss.value, margin) * loss.share.sum()  # the gradient is normalised to the wanted mass
    np.testing.assert_allclose(loss(margin)[0], expected, rtol=1e-4, atol=1e-6)


def test_exponential_value_is_the_log_odds_of_the_papers_loss():
    batch, margin = some_batch()
    power = np.exp(margin)
    loss = 1 - power[batch.y].sum() / power.sum()
    assert Exponential(batch).value(margin) == pytest.approx(np.log(loss / (1 - loss)))


def test_exponential_direction_is_the_papers_equation_12():
    batch, margin = some_batch()
    power = np.exp(margin)
    loss = 1 - power[batch.y].sum() / power.sum()
    printed = power / power.sum() * (~batch.y - loss)
    ours = Exponential(batch)(margin)[0]
    np.testing.assert_allclose(ours / np.abs(ours).sum(), printed / np.abs(printed).sum(), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_gradient(weighted):
    batch, margin = some_batch(weighted=weighted)
    weight = np.ones(60) if batch.sample_weight is None else batch.sample_weight

    def value(f):
        return float(weight @ (np.logaddexp(0, f) - batch.y * f))

    grad, hess = Logistic(batch)(margin.astype(np.float32))
    np.testing.assert_allclose(grad, slopes(value, margin), rtol=1e-3, atol=1e-5)
    p = 1 / (1 + np.exp(-margin))
    np.testing.assert_allclose(hess, weight * p * (1 - p), rtol=1e-4)


def sigmoid_ap_loss(batch, margin, alpha):
    """Σ over lists of 1 - AP_sig."""
    total = 0.0
    for rows in batch.lists:
        y, f = batch.y[rows], margin[rows]
        if y.any():
            sigma = 1 / (1 + np.exp(-alpha * (f[None, :] - f[y][:, None])))
            total += 1 - np.mean(sigma[:, y].sum(axis=1) / sigma.sum(axis=1))
    return total


@pytest.mark.parametrize("groups", [None, np.arange(60) % 5])
def test_sigmoid_gradient_follows_the_mean_over_lists(groups):
    batch, margin = some_batch(groups=groups)
    loss = SigmoidAP(batch, alpha=3.0)
    alpha = loss.steepness(margin.astype(np.float32))
    expected = slopes(lambda f: sigmoid_ap_loss(batch, f, alpha), margin)
    grad, hess = loss(margin.astype(np.float32))
    np.testing.assert_allclose(grad, expected * 8 / np.abs(expected[batch.y]).sum(), rtol=2e-3, atol=1e-4)
    assert np.abs(grad[batch.y]).sum() == pytest.approx(8, rel=1e-4)
    np.testing.assert_allclose(hess, np.abs(grad), rtol=1e-4, atol=1e-6)


def test_long_lists_take_the_fast_sum_and_agree_with_short_ones():
    rng = np.random.default_rng(1)
    y = rng.random(3_000) < 0.05
    margin = (rng.normal(size=3_000) + y).astype(np.float32)
    half = np.arange(3_000) % 2
    both = SigmoidAP(batch_of(y, half))
    assert len(both.long_lists) == 2
    alpha = both.steepness(margin)
    both.follow(margin)
    expected = slopes_of_half = np.zeros(3_000)
    from shortlist.kernels.ap_surrogates import direct_gradient

    lists = Lists.from_groups(half)
    direct_gradient(margin, y, np.empty(0, np.float32), lists.order, lists.starts, alpha, slopes_of_half)
    np.testing.assert_allclose(both.pull, expected, atol=5e-4 * np.abs(expected).max())


def test_steepness_follows_the_spread_within_lists():
    batch, margin = some_batch(groups=np.arange(60) % 2)
    loss = SigmoidAP(batch, alpha=2.0)
    shifted = margin + 100 * (np.arange(60) % 2)
    assert loss.steepness(shifted.astype(np.float32)) == pytest.approx(
        loss.steepness(margin.astype(np.float32)), rel=1e-3
    )
    assert loss.steepness(np.zeros(60, np.float32)) == 50.0


def test_mix_is_logistic_plus_scaled_sigmoid():
    batch, margin = some_batch(weighted=True)
    margin = margin.astype(np.float32)
    logistic, pull = Logistic(batch)(margin), SigmoidAP(batch)(margin)
    grad, hess = Mix(batch, mix=0.3)(margin)
    np.testing.assert_allclose(grad, logistic[0] + 0.3 * pull[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(hess, logistic[1] + 0.3 * pull[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("groups", [None, np.arange(40) % 3])
def test_extreme_margins_stay_finite(name, groups):
    batch, _ = some_batch(n=40, n_wanted=3, groups=groups)
    loss = make_loss(name, batch, alpha=5.0, mix=1.0)
    for margin in (
        np.zeros(40),
        np.full(40, 1e4),
        np.where(batch.y, -1e4, 1e4),
        np.where(batch.y, 1e4, -1e4),
    ):
        grad, hess = loss(margin.astype(np.float32))
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess >= 0).all()


def test_wanted_rows_far_below_the_others_keep_their_gradient():
    batch, _ = some_batch(n=40, n_wanted=3)
    grad, _ = Exponential(batch)(np.where(batch.y, -200.0, 0.0).astype(np.float32))
    assert grad[batch.y].sum() == pytest.approx(-3, rel=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_ten_wanted_rows_in_a_million(name):
    y = np.zeros(1_000_000, bool)
    y[::100_000] = True
    margin = np.random.default_rng(0).normal(size=y.size).astype(np.float32)
    grad, hess = make_loss(name, batch_of(y), alpha=5.0, mix=1.0)(margin)
    assert np.isfinite(grad).all()
    assert np.isfinite(hess).all()
    assert (grad[y] < 0).all()


def test_a_list_of_wanted_rows_only_has_no_pull():
    y = np.array([1, 1, 0, 1, 0], bool)
    groups = np.array([0, 0, 1, 1, 1])
    for loss in (SigmoidAP(batch_of(y, groups)), Exponential(batch_of(y, groups))):
        grad, _ = loss(np.array([3, 1, 2, 1, 0], np.float32))
        assert grad[:2].tolist() == [0, 0]
        assert grad[3] < 0


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("groups", [None, np.arange(60) % 4])
@pytest.mark.parametrize("few_pairs", [0, 1 << 14], ids=["binned", "direct"])
def test_rows_without_weight_are_as_good_as_absent(name, groups, few_pairs, monkeypatch):
    monkeypatch.setattr("shortlist.rankers.boosting.ap_losses.FEW_PAIRS", few_pairs)
    monkeypatch.setattr(SigmoidAP, "steepness", lambda self, margin: 3.0)
    batch, margin = some_batch(n_wanted=20, groups=groups)
    margin = margin.astype(np.float32)
    out = np.random.default_rng(1).random(60) < 0.3
    grad, hess = make_loss(name, without(batch, out), alpha=5.0, mix=1.0)(margin)
    rest = Batch(None, batch.y[~out], Lists.from_groups(batch.lists.of_row[~out]), None, batch.categorical)
    expected, _ = make_loss(name, rest, alpha=5.0, mix=1.0)(margin[~out])
    np.testing.assert_allclose(grad[~out], expected, atol=2e-3 * np.abs(expected).max())
    assert np.abs(grad[out]).max() < 1e-20
    assert hess[out].max() <= 1e-9


@pytest.mark.parametrize("few_pairs", [0, 1 << 14], ids=["binned", "direct"])
def test_a_list_whose_wanted_rows_have_no_weight_has_no_pull(few_pairs, monkeypatch):
    monkeypatch.setattr("shortlist.rankers.boosting.ap_losses.FEW_PAIRS", few_pairs)
    y, groups = np.array([1, 0, 0, 1, 0, 0], bool), np.array([0, 0, 0, 1, 1, 1])
    loss = SigmoidAP(batch_of(y, groups, np.array([0.0, 1, 1, 1, 1, 1])))
    grad, _ = loss(np.array([0, 1, 2, 0, 1, 2], np.float32))
    assert np.abs(grad[:3]).max() == 0
    assert grad[3] < 0


def test_unknown_loss_is_named():
    with pytest.raises(InvalidInputError, match="'mix'"):
        make_loss("hinge", some_batch()[0], alpha=1.0, mix=1.0)


@pytest.mark.parametrize("name", LOSSES)
def test_threads_change_nothing(name, monkeypatch):
    for module in (ap_surrogates, ap_losses):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 100)
    rng = np.random.default_rng(0)
    batch, margin = batch_of(rng.random(1_000) < 0.3), rng.normal(size=1_000).astype(np.float32)
    alone, shared = (make_loss(name, batch, alpha=5.0, mix=1.0, threads=n)(margin) for n in (1, 3))
    for one, other in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_sums_do_not_depend_on_how_rows_are_cut_into_parts(n_parts):
    """Parts of shuffled rows; all wanted rows in one of them; one of them empty: to the bit."""
    rng = np.random.default_rng(0)
    y, margin = rng.random(2_000) < 0.05, rng.normal(size=2_000).astype(np.float32)
    at_random = rng.integers(0, n_parts, y.size)
    cuts = [at_random, np.where(y, n_parts - 1, at_random), np.where(at_random == 0, n_parts - 1, at_random)]
    held = [[rng.permutation(np.flatnonzero(cut == number)) for number in range(n_parts)] for cut in cuts]
    losses = [("mix", cut) for cut in range(3)] + [("ap_sigmoid", 1), ("ap_exp", 0), ("rankboost", 2)]

    def part(number, sums):
        gradients = []
        for name, cut in losses:
            rows = held[cut][number]
            lists = replace(Lists.single(rows.size), place=Place(sums, rows.astype(np.uint64)))
            loss = make_loss(name, replace(batch_of(y[rows]), lists=lists), alpha=5.0, mix=1.0)
            gradients.append([each.copy() for each in loss(margin[rows])])
        return gradients

    found = on_machines(n_parts, part)
    for at, (name, cut) in enumerate(losses):
        alone = make_loss(name, batch_of(y), alpha=5.0, mix=1.0)(margin)
        for number in range(n_parts):
            for one, other in zip(alone, found[number][at], strict=True):
                np.testing.assert_array_equal(other, one[held[cut][number]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mix", "ap_sigmoid", "ap_exp", "rankboost"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", ["at random", "all wanted rows on one"])
@pytest.mark.parametrize("share", [0.05, 0.001], ids=["a long list", "a short list"])
def test_rows_on_several_machines_have_the_gradient_of_one(name, weighted, spread, share):
    rng = np.random.default_rng(0)
    y = rng.random(3_000) < share
    weight = rng.uniform(0.2, 2.0, 3_000) if weighted else None
    margin = (rng.normal(size=3_000) + y).astype(np.float32)
    alone = make_loss(name, batch_of(y, None, weight), alpha=5.0, mix=1.0)(margin)
    place = rng.integers(0, 3, 3_000)
    if spread != "at random":
        place[y] = 0

    def part(number, sums):
        rows = np.flatnonzero(place == number)
        rows = rng.permutation(rows) if number == 1 else rows
        batch = batch_of(y[rows], None, None if weight is None else weight[rows])
        lists = replace(batch.lists, place=Place(sums, rows.astype(np.uint64)))
        loss = make_loss(name, replace(batch, lists=lists), alpha=5.0, mix=1.0)
        return rows, loss(margin[rows])

    for rows, parts in on_machines(3, part):
        for one, other in zip(alone, parts, strict=True):
            np.testing.assert_array_equal(other, one[rows])
