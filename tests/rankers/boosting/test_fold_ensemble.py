"""The fold ensemble and what it is made of: sums of boosters, looks."""

import numpy as np
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.rankers.boosting.fold_ensemble import LOOK_EVERY, best_look, grow_folds
from shortlist.rankers.boosting.trees.sums import add_boosters


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
