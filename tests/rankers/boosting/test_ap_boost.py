"""APBoost as its users meet it."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from shortlist import models
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, NoUnwantedRowsError, NoWantedRowsError
from shortlist.metrics import average_precision
from shortlist.objectives import CostSaved
from shortlist.rankers import APBoost
from shortlist.rankers.boosting.ap_losses import LOSSES
from shortlist.rankers.boosting.ap_settings import fold_depths, most_rounds
from shortlist.rankers.boosting.tuning import settings_for


def quick(**settings):
    return APBoost(**{"n_estimators": 30, "random_state": 0, "n_jobs": 1, **settings})


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("folds", [0, 3])
def test_every_loss_ranks_new_rows(rows, loss, folds):
    X, y = rows
    ranker = quick(loss=loss, folds=folds).fit(X[:600], y[:600])
    assert average_precision(y[600:], ranker.decision_function(X[600:])) > 3 * y.mean()


def test_fold_ensemble_is_the_average_its_docstring_says(rows):
    """Its scores have the scale that the docstring of the fold ensemble says, and rank as the out-of-fold ones."""
    X, y = rows
    settings = {"early_stopping_rounds": None, "subsample": 1.0, "colsample_bynode": 1.0, "committee": False}
    ranker = quick(folds=2, max_depth=(2, 3), **settings).fit(X, y)
    assert ranker.rounds_ == (30, 30)
    trees = ranker.booster_.num_boosted_rounds()
    assert trees == 2 * 2 * 30
    # Out-of-fold scores are standardised: mean 0, and a spread of at most 1 (a mean of two depths).
    assert ranker.oof_score_.mean() == pytest.approx(0, abs=1e-6)
    assert 0.8 < ranker.oof_score_.std() <= 1
    assert np.corrcoef(ranker.oof_score_, ranker.decision_function(X))[0, 1] > 0.8


def test_out_of_fold_scores_are_honest(rows):
    X, _ = rows
    noise = np.random.default_rng(1).random(900) < 0.2
    ranker = quick().fit(X, noise)
    # The model has learned its rows by heart.
    assert average_precision(noise, ranker.decision_function(X)) > 0.5
    assert average_precision(noise, ranker.oof_score_) < 0.35


def test_contributions_sum_to_the_score(rows):
    X, y = rows
    for ranker in (quick(), quick(folds=0)):
        ranker.fit(X, y)
        parts = ranker.contributions(X[:50])
        assert parts.shape == (50, 6)
        np.testing.assert_allclose(parts.sum(axis=1), ranker.decision_function(X[:50]), atol=1e-4)
        assert ranker.feature_importances_.sum() == pytest.approx(1)
        assert ranker.feature_importances_[:3].min() > ranker.feature_importances_[3:].max()


def test_model_file_round_trip(rows, tmp_path):
    X, y = rows
    ranker = quick().fit(X, y)
    models.save(ranker, tmp_path / "m.shortlist")
    loaded = models.load(tmp_path / "m.shortlist")
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    np.testing.assert_array_equal(
        loaded.expected_precision([2.0, 0.0]), ranker.expected_precision([2.0, 0.0])
    )


def test_booster_is_a_plain_xgboost_model(rows, tmp_path):
    import xgboost as xgb

    X, y = rows
    ranker = quick().fit(X, y)
    ranker.booster_.save_model(tmp_path / "model.json")
    margin = xgb.Booster(model_file=tmp_path / "model.json").predict(xgb.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(margin, ranker.decision_function(X), atol=1e-5)


def test_expected_precision_is_near_the_precision_of_new_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6_000, 3))
    y = rng.random(6_000) < 1 / (1 + np.exp(-3 * (X[:, 0] - 1)))
    ranker = quick(n_estimators=40).fit(X[:3_000], y[:3_000])
    score = ranker.decision_function(X[3_000:])
    order = np.argsort(-score)
    for k in (50, 200, 800):
        assert ranker.expected_precision(score)[order[k - 1]] == pytest.approx(
            y[3_000:][order[:k]].mean(), abs=0.12
        )
    assert (np.diff(ranker.chance(np.sort(score))) >= 0).all()


def test_expected_precision_needs_held_out_rows(rows):
    ranker = quick(folds=0, early_stopping_rounds=None).fit(*rows)
    with pytest.raises(InvalidInputError, match="held out"):
        ranker.expected_precision([1.0])


def test_one_model_stops_early_by_validation_ap(rows):
    X, y = rows
    ranker = quick(folds=0, n_estimators=300, early_stopping_rounds=5).fit(
        X[:600], y[:600], eval_set=(X[600:], y[600:])
    )
    assert ranker.rounds_[0] < 300
    values = []
    quick(
        folds=0,
        early_stopping_rounds=5,
        callback=lambda done, total, value: values.append((done, total, value)),
    ).fit(X[:600], y[:600], eval_set=(X[600:], y[600:]))
    assert [done for done, _, _ in values] == list(range(1, len(values) + 1))
    assert max(value for _, _, value in values) > 0.5


def test_a_callback_is_code_and_not_saved_with_the_model(rows, tmp_path):
    ranker = quick(folds=0, n_estimators=3, callback=lambda *told: None).fit(*rows)
    models.save(ranker, tmp_path / "model.shortlist")
    again = models.load(tmp_path / "model.shortlist")
    assert again.callback is None
    assert callable(ranker.callback)
    np.testing.assert_array_equal(again.decision_function(rows[0]), ranker.decision_function(rows[0]))
    with pytest.raises(InvalidInputError, match="callback must be a function"):
        quick(callback=3).fit(*rows)


def test_own_validation_split_keeps_lists_whole():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4_000, 3))
    y = X[:, 0] + rng.normal(size=4_000) > 1.8
    groups = np.repeat(np.arange(200), 20)
    ranker = quick(folds=0, n_estimators=100, early_stopping_rounds=5).fit(X, y, groups=groups)
    assert ranker.chance_curve_ is not None
    assert ranker.rounds_[0] < 100


def test_rounds_go_on_while_held_out_rows_gain():
    """Eight columns to be added up by single splits: the 150 rounds that were the most would end too early."""
    X = np.random.default_rng(1).normal(size=(1_500, 8))
    y = X.sum(axis=1) > 4
    told = []
    settings = {"learning_rate": 0.03, "max_depth": 1, "subsample": 1.0, "folds": 2}
    ranker = APBoost(**settings, n_jobs=1, random_state=0, callback=lambda *news: told.append(news)).fit(X, y)
    assert ranker.rounds_[0] > 150
    done, total, value = told[-1]
    assert (done, total) == (len(told), 100)
    assert done * 10 >= min(ranker.rounds_[0] + 50, 1_000)
    assert value == pytest.approx(average_precision(y, ranker.oof_score_), abs=0.05)


def test_depths_and_rounds_follow_the_rows():
    assert fold_depths(APBoost(), 500) == [3, 6]
    assert fold_depths(APBoost(), 15_000) == [3, 6, 10]
    assert fold_depths(APBoost(max_depth=(2, 4)), 15_000) == [2, 4]
    assert most_rounds(APBoost(), stops_early=True) > most_rounds(APBoost(), stops_early=False) == 150
    assert most_rounds(APBoost(n_estimators=7), stops_early=True) == 7


@pytest.mark.parametrize(("most", "largest"), [(2, 1), (4, 3), (64, 6)])
def test_a_split_parts_few_categories_from_the_others(most, largest):
    """Of 12 categories as many as are allowed, fewer than the setting says, and never more."""
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 12, 3_000)
    wanted = rng.random(3_000) < np.where(shop % 2 == 0, 0.3, 0.05)
    frame = pl.DataFrame({"shop": np.array(list("abcdefghijkl"))[shop]})
    ranker = quick(folds=0, max_cat_threshold=most, n_estimators=3, subsample=1.0).fit(frame, wanted)
    tables = ranker.booster_.trees_to_dataframe()["Category"].dropna()
    # A tree names the categories of one side; below the root some have gone another way already.
    sides = [min(len(named), 12 - len(named)) for named in tables]
    assert max(sides) == largest


@pytest.mark.slow
def test_threads_that_share_the_matrix_grow_the_same_trees(rows):
    """To the bit, and again and again: a race would show now and then only."""
    alone = quick(n_jobs=1).fit(*rows).booster_.save_raw("ubj")
    assert all(quick(n_jobs=4).fit(*rows).booster_.save_raw("ubj") == alone for _ in range(4))


def test_warm_start_keeps_its_trees_and_adds_to_them(rows):
    X, y = rows
    ranker = quick(warm_start=True, n_estimators=10, early_stopping_rounds=None).fit(X, y)
    first = ranker.booster_.get_dump()
    ranker.set_params(n_estimators=25).fit(X, y)
    assert ranker.booster_.num_boosted_rounds() == 25
    assert ranker.booster_.get_dump()[:10] == first
    with pytest.raises(InvalidInputError, match="raise n_estimators"):
        ranker.fit(X, y)


def test_monotone_constraints_hold(rows):
    X, y = rows
    ranker = quick(monotone_constraints=[1, 0, 0, 0, 0]).fit(X, y)
    line = np.tile(X[:1], (50, 1))
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(ranker.decision_function(line)) >= -1e-6).all()


def test_monotone_constraints_by_name():
    claims = make_claims(800, random_state=0, fraud_rate=0.1)
    frame, y = claims.drop("fraud", "claim_id"), claims["fraud"].to_numpy()
    ranker = quick(monotone_constraints={"amount": 1}).fit(frame, y)
    assert np.isfinite(ranker.decision_function(frame)).all()
    with pytest.raises(InvalidInputError, match="'sum', which is no column"):
        quick(monotone_constraints={"sum": 1}).fit(frame, y)


def test_categories_and_missing_values_are_native():
    rng = np.random.default_rng(4)
    import polars as pl

    shop = rng.choice(list("abcdefgh"), 1_000)
    amount = rng.normal(size=1_000)
    y = np.isin(shop, ["b", "e", "g"]) & (rng.random(1_000) < 0.6)
    frame = pl.DataFrame({"shop": shop, "amount": np.where(rng.random(1_000) < 0.2, np.nan, amount)})
    ranker = quick().fit(frame, y)
    assert average_precision(y, ranker.oof_score_) > 0.5
    unseen = pl.DataFrame({"shop": ["zzz", None], "amount": [0.0, None]})
    assert np.isfinite(ranker.decision_function(unseen)).all()


def test_sparse_rows(rows):
    X, y = rows
    sparse = csr_matrix(np.where(np.abs(X) > 0.3, X, 0))
    ranker = quick().fit(sparse, y)
    assert average_precision(y, ranker.oof_score_) > 3 * y.mean()
    np.testing.assert_allclose(
        ranker.contributions(sparse[:9]).sum(axis=1), ranker.decision_function(sparse[:9]), atol=1e-4
    )


def test_weights_shift_attention(rows):
    X, y = rows
    weight = np.where(X[:, 3] > 0, 10.0, 0.1)
    score = quick(n_estimators=60).fit(X, y, sample_weight=weight).oof_score_
    flat = quick(n_estimators=60).fit(X, y).oof_score_
    assert not np.allclose(score, flat)
    assert np.isfinite(score).all()


def test_lists_matter_to_the_ap_part():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] + rng.normal(size=600) > 1.2
    groups = np.arange(600) % 30
    with_lists = quick(folds=0, loss="ap_sigmoid").fit(X, y, groups=groups).decision_function(X)
    assert not np.allclose(with_lists, quick(folds=0, loss="ap_sigmoid").fit(X, y).decision_function(X))
    assert average_precision(y, with_lists, groups=groups) > 0.7


@pytest.mark.parametrize("objective", [True, pytest.param(CostSaved(k=20), marks=pytest.mark.slow)])
def test_tuning_reports_each_setting_and_keeps_the_best(rows, objective):
    X, y = rows
    told = []
    ranker = quick(n_estimators=10, tune=objective, folds=2, callback=lambda *news: told.append(news)).fit(
        X, y
    )
    assert [done for done, _, _ in told] == list(range(1, len(ranker.tuning_) + 1))
    best = max(trial.value for trial in ranker.tuning_)
    measure = (
        average_precision(y, ranker.oof_score_)
        if objective is True
        else objective.value(y, ranker.oof_score_)
    )
    assert measure == pytest.approx(best)


SHAPES = [
    {"max_depth": (2, 4)},
    {"max_depth": (4, 8)},
    {"learning_rate": 0.05, "n_estimators": 300},
    {"min_child_weight": 1.0, "reg_lambda": 5.0},
    {"colsample_bynode": 1.0, "subsample": 0.9},
]


@pytest.mark.parametrize(
    ("own", "tried"),
    [
        ({"loss": "mix"}, [{}, {"loss": "logistic"}, {"mix": 0.3}, *SHAPES]),
        ({"loss": "mix", "mix": 0.3}, [{}, {"loss": "logistic"}, *SHAPES]),
        ({"loss": "logistic"}, [{}, {"loss": "mix"}, *SHAPES]),
        ({"loss": "ap_sigmoid"}, [{}, {"loss": "logistic"}, {"loss": "mix"}, *SHAPES]),
        ({"loss": "logistic", "max_depth": [2, 4]}, [{}, {"loss": "mix"}, *SHAPES[1:]]),
    ],
)
def test_tuning_tries_what_changes_the_ranker(own, tried):
    assert settings_for(APBoost(**own)) == tried


@pytest.mark.slow
def test_tuning_one_model(rows):
    X, y = rows
    ranker = quick(n_estimators=10, tune=True, folds=0).fit(X[:300], y[:300])
    assert ranker.oof_score_ is None
    assert len(ranker.tuning_) == 8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"folds": 1}, "'auto', 0"),
        ({"folds": 500}, "Use fewer folds"),
        ({"folds": 3, "warm_start": True}, "folds=0"),
        ({"mix": 0}, "mix must be a number above 0"),
        ({"alpha": -1}, "alpha must be a number above 0"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds"),
        ({"validation_fraction": 1.5}, "validation_fraction"),
        ({"monotone_constraints": [1, 2, 0, 0, 0]}, "-1, 0 or 1"),
        ({"monotone_constraints": [1]}, "each of the 5 columns"),
        ({"monotone_constraints": 5}, "each of the 5 columns"),
        ({"folds": 0, "max_depth": (3, 6)}, "one max_depth"),
    ],
)
def test_bad_settings_say_what_to_do(rows, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        quick(**settings).fit(*rows)


def test_a_validation_set_without_a_wanted_row(rows):
    X, y = rows
    ranker = quick().fit(X, y)
    before = ranker.decision_function(X)
    with pytest.raises(NoWantedRowsError, match="validation set marks none of its 10 rows"):
        ranker.fit(X, y, eval_set=(X[:10], np.zeros(10)))
    np.testing.assert_array_equal(ranker.decision_function(X), before)


def test_a_validation_set_of_wanted_rows_alone(rows):
    X, y = rows
    with pytest.raises(NoUnwantedRowsError, match="validation set marks none of its 5 rows as unwanted"):
        quick(folds=0).fit(X, y, eval_set=(X[y][:5], y[y][:5]))


def test_warm_start_reads_rows_as_the_trees_that_it_keeps_do(rows):
    kinds = np.array(["m", "n"])[np.arange(400) % 2]
    frame = pl.DataFrame({"kind": kinds, "x": np.random.default_rng(0).normal(size=400)})
    ranker = quick(folds=0, warm_start=True, early_stopping_rounds=None, n_estimators=20)
    ranker.fit(frame, kinds == "n")
    kinds[:20] = "a"  # which sorts first, so that a schema learned anew would number all others anew
    ranker.set_params(n_estimators=21).fit(frame.with_columns(kind=pl.Series(kinds)), kinds == "n")
    assert average_precision(kinds[20:] == "n", ranker.decision_function(frame)[20:]) == 1
    with pytest.raises(ValueError, match="feature"):
        ranker.set_params(n_estimators=22).fit(frame[["x"]], kinds == "n")
    X, y = rows
    ranker.set_params(warm_start=False).fit(X, y)
    with pytest.raises(InvalidInputError, match="read zeros otherwise"):
        ranker.set_params(warm_start=True, n_estimators=30).fit(csr_matrix(X), y)


def test_a_refused_fit_leaves_the_model_as_it_was(rows):
    X, y = rows
    ranker = quick().fit(X, y)
    before = ranker.decision_function(X)
    for arguments in ({"y": np.zeros(900)}, {"sample_weight": -np.ones(900)}):
        with pytest.raises(InvalidInputError):
            ranker.fit(**{"X": X[:, :2], "y": y, **arguments})
    np.testing.assert_array_equal(ranker.decision_function(X), before)


def test_wanted_rows_need_weight(rows):
    X, y = rows
    with pytest.raises(NoWantedRowsError, match="sample_weight 0"):
        quick().fit(X, y, sample_weight=np.where(y, 0.0, 1.0))


def test_labels_may_be_any_two_numbers(rows):
    X, y = rows
    by_flag = quick(folds=0).fit(X[:600], y[:600], eval_set=(X[600:], y[600:]))
    by_number = quick(folds=0).fit(X[:600], y[:600] + 1, eval_set=(X[600:], y[600:] + 1))
    np.testing.assert_array_equal(by_flag.decision_function(X), by_number.decision_function(X))


def test_one_wanted_row_cannot_be_tuned(rows):
    X, _ = rows
    y = np.zeros(900)
    y[3] = 1
    with pytest.raises(InvalidInputError, match="one wanted row"):
        quick(tune=True).fit(X, y)
