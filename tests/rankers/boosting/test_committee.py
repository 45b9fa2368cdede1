"""Extra trees beside the boosted ones: one model, weighed by rows that its members did not see."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from shortlist import models
from shortlist.exceptions import InvalidInputError
from shortlist.metrics import average_precision
from shortlist.rankers import APBoost
from shortlist.rankers.boosting import committee
from shortlist.rankers.boosting.ap_settings import DEEPER_ROWS, extra_trees_too
from shortlist.rankers.boosting.fold_ensemble import weights_by_worth
from shortlist.rankers.boosting.trees.extra_trees import N_TREES
from shortlist.rankers.chances.calibration import logistic_line


def quick(**settings):
    return APBoost(**{"n_estimators": 20, "folds": 3, "random_state": 0, "n_jobs": 1, **settings})


@pytest.fixture(scope="module")
def together(rows):
    """A committee, and its members as they were before they met."""
    members = []
    seated = committee.seated
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "shortlist.rankers.boosting.ap_training.seated",
            lambda them, *rest: members.extend(them) or seated(them, *rest),
        )
        ranker = quick(committee=True).fit(*rows)
    return ranker, members


def test_members_are_brought_to_log_odds_and_weighed_by_their_precision(rows, together):
    X, y = rows
    ranker, members = together
    worth = np.array([average_precision(y, member.oof_score) for member in members])
    worth **= 4 * np.sqrt(y.sum() / 50)
    lines = [logistic_line(member.oof_score, y, None) for member in members]
    for score, of_member in (
        (ranker.oof_score_, lambda member: member.oof_score),
        (ranker.decision_function(X), lambda member: member.trees.as_booster().inplace_predict(X)),
    ):
        odds = [
            slope * of_member(member) + base for member, (slope, base) in zip(members, lines, strict=True)
        ]
        np.testing.assert_allclose(score, np.average(odds, axis=0, weights=worth), atol=1e-4)
    assert expit(ranker.oof_score_).mean() == pytest.approx(y.mean(), abs=0.02)  # log-odds, as they say


def test_the_noise_of_members_adds_up(rows, together):
    """Each has folds of its own, so that what they err by is independent; extra trees err as one depth does."""
    _, y = rows
    _, (boosted, forest) = together
    assert 0 < boosted.noise_of_one < 1
    assert forest.noise == pytest.approx(boosted.noise_of_one * forest.oof_score.var())
    batch = committee.Batch(*rows, None, None, np.zeros(5, dtype=bool))
    whole = committee.seated([boosted, forest], batch, partial(average_precision, y))
    worth = [average_precision(y, member.oof_score) for member in (boosted, forest)]
    weights = weights_by_worth(worth, y.sum())
    slopes = [logistic_line(member.oof_score, y, None)[0] for member in (boosted, forest)]
    noise = (weights * slopes) ** 2 @ [boosted.noise, forest.noise]
    assert whole.noise == pytest.approx(noise, rel=1e-4)
    assert 1 < whole.kappa(3) < 1.5


def test_the_first_member_is_the_ensemble_without_a_committee(rows, together):
    ranker, (boosted, forest) = together
    alone = quick(committee=False).fit(*rows)
    np.testing.assert_array_equal(alone.oof_score_, boosted.oof_score)
    np.testing.assert_array_equal(
        alone.decision_function(rows[0]), boosted.trees.as_booster().inplace_predict(rows[0])
    )
    n_trees = [each.booster_.num_boosted_rounds() for each in (alone, ranker)]
    assert n_trees[1] - n_trees[0] == 3 * N_TREES == 3 * forest.trees.boosters[0].num_boosted_rounds()
    assert ranker.rounds_ == alone.rounds_


def test_no_tree_has_seen_the_rows_it_is_weighed_by():
    """Labels by lot: whoever had seen them would rank them well."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 4)), rng.random(600) < 0.2
    members = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "shortlist.rankers.boosting.ap_training.seated",
            lambda them, *rest: members.extend(them) or them[0],
        )
        quick().fit(X, y)
    seen = members[1].trees.as_booster().inplace_predict(X.astype(np.float32))
    assert average_precision(y, seen) > 0.5
    assert average_precision(y, members[1].oof_score) < 0.3


def test_one_model_that_explains_itself_and_is_kept_in_one_file(rows, together, tmp_path):
    X, _ = rows
    ranker, _ = together
    score = ranker.decision_function(X)
    np.testing.assert_allclose(ranker.contributions(X[:40]).sum(axis=1), score[:40], atol=1e-4)
    importance = ranker.feature_importances_
    assert importance[:3].min() > importance[3:].max()
    models.save(ranker, tmp_path / "m.shortlist")
    np.testing.assert_array_equal(models.load(tmp_path / "m.shortlist").decision_function(X), score)
    np.testing.assert_array_equal(quick(n_jobs=2).fit(*rows).decision_function(X), score)


def test_categories_gaps_lists_weights_and_sparse_rows(rows):
    X, y = rows
    rng = np.random.default_rng(2)
    shop = rng.choice(list("abcdefgh"), 900)
    frame = pl.DataFrame({"shop": shop, "amount": np.where(rng.random(900) < 0.2, np.nan, X[:, 0])})
    wanted = np.isin(shop, ["b", "e", "g"]) & (X[:, 0] > 0)
    ranker = quick().fit(frame, wanted, groups=np.arange(900) % 30, sample_weight=rng.integers(1, 3, 900))
    assert average_precision(wanted, ranker.oof_score_) > 0.8
    unseen = pl.DataFrame({"shop": ["zzz", None], "amount": [0.0, None]})
    np.testing.assert_allclose(
        ranker.contributions(unseen).sum(axis=1), ranker.decision_function(unseen), atol=1e-4
    )
    sparse = csr_matrix(np.where(np.abs(X) > 0.3, X, 0))
    ranker = quick().fit(sparse, y)
    np.testing.assert_allclose(
        ranker.contributions(sparse[:9]).sum(axis=1), ranker.decision_function(sparse[:9]), atol=1e-4
    )


def test_a_member_that_knows_nothing_has_no_seat(rows, together):
    _, y = rows
    _, (boosted, forest) = together
    batch = committee.Batch(*rows, None, None, np.zeros(5, dtype=bool))
    backwards = replace(forest, oof_score=-forest.oof_score)
    assert committee.seated([boosted, backwards], batch, partial(average_precision, y)) is boosted
    assert committee.seated([boosted, forest], batch, partial(average_precision, y)) is not boosted


def test_when_extra_trees_join():
    assert extra_trees_too(APBoost(), DEEPER_ROWS - 1)
    assert not extra_trees_too(APBoost(), DEEPER_ROWS)
    assert extra_trees_too(APBoost(committee=True), DEEPER_ROWS)
    assert not extra_trees_too(APBoost(committee=False), 100)
    assert not extra_trees_too(APBoost(monotone_constraints=[1]), 100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"committee": "yes"}, "committee must be 'auto', True or False"),
        ({"committee": True, "folds": 0}, "use folds=4, or committee='auto'"),
        ({"committee": True, "monotone_constraints": [1, 0, 0, 0, 0]}, "held to monotone_constraints"),
    ],
)
def test_what_cannot_be_said_of_a_committee(rows, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        quick(**settings).fit(*rows)


def test_a_model_of_before_has_todays_settings(rows):
    state = quick(committee=False).fit(*rows).__getstate__()
    del state["committee"]
    old = APBoost.__new__(APBoost)
    old.__setstate__(state)
    assert old.get_params()["committee"] == "auto"
    assert np.isfinite(old.decision_function(rows[0])).all()
