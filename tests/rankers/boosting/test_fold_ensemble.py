"""The fold ensemble and what it is made of: sums of boosters, looks."""

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.rankers.boosting.fold_ensemble import (
    LOOK_EVERY,
    FoldEnsemble,
    Pooled,
    average,
    best_look,
    disagreement,
    grow_folds,
    weights_by_worth,
)
from shortlist.rankers.boosting.trees.sums import TreeSum, add_boosters


def small_boosters(n=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    X[:, 3] = rng.integers(0, 6, 200)
    X[rng.random(X.shape) < 0.1] = np.nan
    boosters = []
    for _ in range(n):
        y = np.nan_to_num(X[:, 0]) + (X[:, 3] == 2) + rng.normal(size=200)
        matrix = xgb.QuantileDMatrix(X, y, feature_types=["q", "q", "q", "c"], enable_categorical=True)
        boosters.append(xgb.train({"max_depth": 4, "base_score": 0.3, "max_cat_to_onehot": 1}, matrix, 5))
    return X, boosters


def test_sum_of_boosters_scores_and_explains_as_the_sum():
    X, boosters = small_boosters()
    weights = [0.5, -1.5, 2.0]
    whole = add_boosters(boosters, weights, offset=0.7)
    matrix = xgb.DMatrix(X, feature_types=["q", "q", "q", "c"], enable_categorical=True)
    for kind in ({"output_margin": True}, {"pred_contribs": True}):
        parts = [w * b.predict(matrix, **kind) for w, b in zip(weights, boosters, strict=True)]
        expected = np.sum(parts, axis=0)
        expected[..., -1] += 0.7 if "pred_contribs" in kind else 0
        expected = expected + (0.7 if "output_margin" in kind else 0)
        np.testing.assert_allclose(whole.predict(matrix, **kind), expected, atol=1e-5)
    assert whole.num_boosted_rounds() == 15


def test_a_lucky_look_is_not_chosen():
    assert best_look([0.1, 0.9, 0.1, 0.6, 0.7, 0.6]) == 4
    assert best_look([0.5]) == 0


class Grows:
    """A model whose margins after each look are given."""

    def __init__(self, values):
        self.values, self.booster, self.looks = values, range(10**6), 0

    def grow(self, rounds):
        assert rounds == LOOK_EVERY
        self.looks += 1

    def margins(self):
        return np.full(2, self.values[self.looks - 1], dtype=np.float32)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 8))
def test_the_look_chosen_is_the_best_of_those_taken(values, patience):
    """Values that rise and fall in any way; margins not needed any more are forgotten on the way."""
    growths = [Grows(values), Grows(values)]
    pooled = grow_folds(
        growths,
        np.array([0, 1]),
        lambda margin: float(margin.mean()),
        rounds=LOOK_EVERY * len(values),
        patience=LOOK_EVERY * patience,
        n_jobs=1,
    )
    taken = values[: growths[0].looks]
    best = best_look(taken)
    assert pooled.rounds == LOOK_EVERY * (best + 1)
    np.testing.assert_array_equal(pooled.margin, taken[best])
    assert len(taken) == len(values) or len(taken) - 1 - best >= patience


def noisy_margins(n_depths, n_folds=4, scale=0.5, n_rows=40_000):
    """What the models of each depth say of each row: its truth, in units of their own, and noise of theirs."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=n_rows)
    noise = rng.normal(scale=scale, size=(n_depths, n_folds, n_rows))
    return (truth + noise) * np.arange(1, n_depths + 1)[:, None, None] + 3, rng.integers(0, n_folds, n_rows)


def alike(n):
    """Equal weights."""
    return np.full(n, 1 / n)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.5], [0.8, 0.2], [0.1, 0.3, 0.6], [0.99, 0.005, 0.005]])
def test_kappa_is_measured_where_the_noise_is_known(weights):
    n_depths, weights = len(weights), np.array(weights)
    margins, fold = noisy_margins(n_depths)
    pooled = [each[fold, np.arange(fold.size)] for each in margins]
    depths = [
        Pooled([None], margin, 10, disagreement([*each], margin))
        for each, margin in zip(margins, pooled, strict=True)
    ]
    ensemble = average(depths, weights)
    one = [(margin - margin.mean()) / margin.std() for margin in pooled]
    mean = [
        (each.mean(axis=0) - margin.mean()) / margin.std()
        for each, margin in zip(margins, pooled, strict=True)
    ]
    truly = (weights @ one).var() / (weights @ mean).var()
    np.testing.assert_allclose(ensemble.oof_score, weights @ one, atol=1e-9)
    assert ensemble.kappa(4) == pytest.approx(truly, abs=0.01)
    assert truly > 1.05


def test_depths_that_know_other_things_are_not_taken_for_noise():
    """One depth tells the truth and one its cube: they differ, and yet hardly any of that is noise."""
    margins, fold = noisy_margins(2, scale=0.05)
    margins[1] = margins[1] ** 3
    pooled = [each[fold, np.arange(fold.size)] for each in margins]
    ensemble = average(
        [
            Pooled([None], one, 10, disagreement([*each], one))
            for each, one in zip(margins, pooled, strict=True)
        ],
        alike(2),
    )
    assert np.corrcoef(pooled)[0, 1] < 0.9
    assert 1 < ensemble.kappa(4) < 1.02


def test_kappa_where_models_know_nothing():
    """Depths that have nothing in common are all noise, and constant margins have none: neither goes out of bounds."""
    rng = np.random.default_rng(0)
    apart = rng.normal(size=500)
    depths = [Pooled([None], margin, 10, 0.0) for margin in (apart, -apart + 0.1 * rng.normal(size=500))]
    assert average(depths, alike(2)).kappa(4) == pytest.approx(4)
    constant = [Pooled([None], np.full(9, 0.1), 10, 0.0)]
    assert average(constant, alike(1)).kappa(4) == average(constant * 2, alike(2)).kappa(4) == 1
    assert FoldEnsemble(TreeSum((), ()), apart, (10,), noise=0.0, noise_of_one=0.0).kappa(4) == 1


def test_two_folds_of_one_depth_have_nothing_to_measure_by():
    margins, fold = noisy_margins(1, n_folds=2, n_rows=50)
    pooled = margins[0][fold, np.arange(fold.size)]
    depths = [Pooled([None], pooled, 10, disagreement([*margins[0]], pooled))]
    assert average(depths, alike(1)).kappa(2) == 1


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=4), st.integers(1, 10**6))
def test_weights_follow_worth_the_more_the_more_rows_judge(worth, n_wanted):
    weights = weights_by_worth(worth, n_wanted)
    assert weights.sum() == pytest.approx(1)
    power = np.clip(4 * np.sqrt(n_wanted / 50), 4, 32)
    shares = (np.array(worth) / max(worth)) ** power
    np.testing.assert_allclose(weights, shares / shares.sum())
