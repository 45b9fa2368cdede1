"""What APBoost's chances are made from, and where they hold: alone, in lists, with weights, in models of before."""

import numpy as np
import pytest
from scipy.special import expit

from shortlist import models
from shortlist.exceptions import InvalidInputError
from shortlist.models.abilities import Scored, expected_found
from shortlist.rankers import APBoost, RankBoost


def quick(**settings):
    return APBoost(**{"n_estimators": 20, "folds": 3, "random_state": 0, "n_jobs": 1, **settings})


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, rng.random(n) < expit(2 * X[:, 0] - 3), rng


@pytest.fixture(scope="module")
def trained():
    X, y, _ = drawn(2_000)
    return quick().fit(X, y)


def test_the_number_found_lies_within_its_bounds(trained):
    X, y, _ = drawn(3_000, seed=1)
    score = trained.decision_function(X)
    ranked = np.argsort(-score)
    for k in (10, 50, 400):
        found = trained.expected_found(score[ranked[:k]])
        assert found.low <= y[ranked[:k]].sum() <= found.high
        assert found.expected / k == pytest.approx(trained.expected_precision(score)[ranked[k - 1]])
        assert found == trained.expected_found(chances=trained.chance(score[ranked[:k]]))


def test_a_shortlist_asks_by_score_or_by_chance_and_of_several_lists_at_once(trained):
    score = trained.decision_function(drawn(60)[0])
    rows = np.array([5, 2, 40])
    by_score = expected_found(trained, Scored(score), rows)
    assert by_score == expected_found(trained, Scored(100 * score, trained.chance(score)), rows)
    assert by_score == trained.expected_found(score[rows])
    none = expected_found(RankBoost(), Scored(score), rows)
    assert none is None


def test_models_of_before_keep_their_curve_and_give_no_bounds(trained, tmp_path):
    models.save(trained, tmp_path / "m.shortlist")
    loaded = models.load(tmp_path / "m.shortlist")
    score = np.linspace(-6, 3, 40)
    assert loaded.expected_found(score) == trained.expected_found(score)
    state = trained.__getstate__()
    del state["chance_error_"]
    state["chance_curve_"] = np.array([[0.0, 1.0], [0.2, 0.6]])
    old = APBoost.__new__(APBoost)
    old.__setstate__(state)
    np.testing.assert_array_equal(old.chance([0.5, 9.0]), [0.4, 0.6])
    with pytest.raises(InvalidInputError, match="how sure its chances are"):
        old.expected_found([1.0])
    assert expected_found(old, Scored(score), np.arange(3)) is None


def test_one_model_has_bounds_if_rows_were_held_out():
    X, y, _ = drawn(2_000)
    one = quick(folds=0)
    held_out = one.fit(X[:1_000], y[:1_000], eval_set=(X[1_000:], y[1_000:])).expected_found([0.0])
    assert 0 < held_out.expected < 1
    none = quick(folds=0, early_stopping_rounds=None).fit(X, y)
    with pytest.raises(InvalidInputError, match="no rows were held out"):
        none.expected_found([0.0])


def test_weights_undo_how_rows_were_drawn():
    """Of others every fourth row was kept, with a weight of 4: chances are those of all rows."""
    X, y, rng = drawn(8_000)
    kept = y | (rng.random(y.size) < 0.25)
    ranker = quick().fit(X[kept], y[kept], sample_weight=np.where(y[kept], 1.0, 4.0))
    new, wanted, _ = drawn(20_000, seed=1)
    score = ranker.decision_function(new)
    assert ranker.chance(score).mean() == pytest.approx(wanted.mean(), rel=0.1)
    top = np.argsort(-score)[:1_000]
    assert ranker.chance(score[top]).mean() == pytest.approx(wanted[top].mean(), abs=0.05)
    as_drawn = quick().fit(X[kept], y[kept])
    assert as_drawn.chance(as_drawn.decision_function(new)).mean() > 1.8 * wanted.mean()


def test_in_lists_the_sum_is_right_and_one_list_may_be_off():
    """Every second list has more wanted rows, for a reason that no column tells."""
    rng = np.random.default_rng(0)
    lists = np.repeat(np.arange(200), 40)
    X = rng.normal(size=(lists.size, 3))
    rich = lists % 2 == 0
    y = rng.random(lists.size) < expit(2 * X[:, 0] - 4 + 2 * rich)
    past = lists < 100
    ranker = quick().fit(X[past], y[past], groups=lists[past])
    chance = ranker.chance(ranker.decision_function(X[~past]))
    top = (X[~past, 0]) > 1
    assert chance[top].mean() == pytest.approx(y[~past][top].mean(), abs=0.05)
    off = [(y[~past] - chance)[top & (rich[~past] == kind)].mean() for kind in (True, False)]
    assert off[0] > 0.1
    assert off[1] < -0.1
