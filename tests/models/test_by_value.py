import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit

from shortlist import TrainedModel, rank, score, train
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, TableError
from shortlist.models.by_value import ByValue
from shortlist.models.file import read_header, save
from shortlist.tables import load_table

OPTIONS = {"label": "fraud", "id": "claim_id", "ignore": ["date"], "n_jobs": 1}


@pytest.fixture(scope="module")
def history():
    return make_claims(1_200, random_state=0, fraud_rate=0.1)


@pytest.fixture(scope="module")
def new():
    return make_claims(300, random_state=1, fraud_rate=0.1).drop("fraud")


@pytest.fixture(scope="module")
def model(history):
    return train(history, **OPTIONS, value="amount", budget=10, model="logistic")


def own_scores(model, frame):
    """What the ranker says of ranked rows, before values come in."""
    rows = load_table(frame, model.roles, schema=model.schema, labelled=False)
    return model.ranker.decision_function(rows.features)


def test_rows_are_ranked_by_chance_times_value(model, new):
    frame = model.score(new, keep_all=True).frame
    assert frame.columns[:5] == ["rank", "claim_id", "amount", "score", "chance"]
    np.testing.assert_allclose(frame["score"], frame["chance"] * frame["amount"])
    assert frame["score"].is_sorted(descending=True)
    assert not frame["chance"].is_sorted(descending=True)
    so_far = frame["chance"].cum_sum() / np.arange(1, frame.height + 1)
    np.testing.assert_allclose(frame["expected_precision"], so_far)


def test_chances_are_those_of_rows_that_were_held_out(model, new):
    """Of a logistic regression that is right on average, the held-out curve is close to its own probabilities."""
    frame = model.score(new, keep_all=True).frame
    own = expit(own_scores(model, frame))
    assert abs(frame["chance"].mean() - own.mean()) < 0.03
    assert np.corrcoef(frame["chance"], own)[0, 1] > 0.9


def test_value_and_its_alias_are_the_same(history, model):
    alias = train(history, **OPTIONS, impact="amount", impact_known=True, budget=10, model="logistic")
    assert alias.version == model.version
    assert alias.by_value.to_dict() == model.by_value.to_dict()


def test_a_model_in_a_file_ranks_alike(model, new, tmp_path):
    model.save(tmp_path / "m.shortlist")
    again = TrainedModel.load(tmp_path / "m.shortlist")
    assert score(again, new).frame.equals(model.score(new).frame)
    assert again.facts()["by value"] == {"value": "amount", "power": 1.0, "least chance": 0.0}


def test_a_model_of_before_ranks_by_its_score_as_it_did(model, new, tmp_path):
    """Older files say nothing of values, even where the impact was known beforehand."""
    model.save(tmp_path / "now")
    header = read_header(tmp_path / "now")
    kept = ("schema", "name", "version", "budget", "training", "measures", "notes", "profile")
    save(model.ranker, tmp_path / "before", **{name: header[name] for name in kept})
    frame = TrainedModel.load(tmp_path / "before").score(new, keep_all=True).frame
    assert "chance" not in frame.columns
    np.testing.assert_allclose(frame["score"], own_scores(model, frame))


def test_power_zero_ranks_for_wanted_rows(history, new):
    for_count = rank(history, new, **OPTIONS, value="amount", value_power=0, budget=10, model="logistic")
    assert for_count.frame["chance"].is_sorted(descending=True)


def test_hopeless_rows_come_last_however_much_they_are_worth(history, new):
    dear = new.with_columns(
        pl.when(pl.int_range(pl.len()) == 7).then(1e9).otherwise("amount").alias("amount")
    )
    lax, strict = (
        train(history, **OPTIONS, value="amount", least_chance=least, budget=10, model="logistic")
        for least in (0.0, 0.05)
    )
    giant = dear["claim_id"][7]
    everything = strict.score(dear, keep_all=True).frame
    hopeless = everything["chance"] < 0.05
    assert 0 < hopeless.sum() < everything.height
    assert hopeless.is_sorted()  # none stands before a row that has a chance
    assert everything["score"].is_sorted(descending=True)
    assert lax.score(dear, keep_all=True).frame["claim_id"][0] == giant


def test_rows_without_a_value_are_ranked_by_the_usual_one(model, history, new):
    gaps = new.with_columns(
        pl.when(pl.int_range(pl.len()) < 2).then(None).otherwise("amount").alias("amount")
    )
    ranked = model.score(gaps, keep_all=True)
    (note,) = [note for note in ranked.notes if "no amount in 2 rows" in note]
    assert f"{history['amount'].median():,.0f}" in note
    without = ranked.frame.filter(pl.col("amount").is_null())
    np.testing.assert_allclose(without["score"], without["chance"] * history["amount"].median())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"value": "amount"}, "--label"),
        ({"value": "amount", "label": "fraud", "impact": "witnesses"}, "give one of them"),
        ({"value": "amount", "label": "fraud", "value_power": 2}, "value_power must be"),
        ({"value": "amount", "label": "fraud", "least_chance": -1}, "least_chance must be"),
    ],
)
def test_what_cannot_be_is_told(history, options, says):
    with pytest.raises(InvalidInputError, match=says):
        train(history, id="claim_id", model="logistic", **options)


def test_values_below_zero_are_refused(history):
    with pytest.raises(TableError, match="value column 'amount'"):
        train(history.with_columns(-pl.col("amount")), **OPTIONS, value="amount", model="logistic")


def test_a_value_below_zero_is_refused_beside_one_that_is_empty(model, new):
    amounts = pl.Series([None, -5.0, *[1.0] * 298])
    with pytest.raises(TableError, match="amount"):
        model.score(new.with_columns(amount=amounts))


def test_a_ranker_that_held_rows_out_is_asked_for_its_own_chances(history, new):
    model = train(history, **OPTIONS, value="amount", model="rank-boost")
    rows = model.score(new, budget=300).frame
    chance = dict(zip(rows["claim_id"], rows["chance"], strict=True))
    table = load_table(new, model.roles, schema=model.schema, labelled=False)
    own = model.ranker.predict_proba(table.features)[:, 1]
    assert [chance[name] for name in new["claim_id"]] == pytest.approx(own.tolist())


def test_one_wanted_row_is_enough(history, new):
    few = pl.concat(
        [history.filter(pl.col("fraud") == 1).head(1), history.filter(pl.col("fraud") == 0).head(60)]
    )
    top = rank(few, new, **OPTIONS, value="amount", budget=5, model="logistic").frame
    assert top.height == 5
    assert top["chance"].is_between(0, 1).all()


@given(
    chance=arrays(np.float64, 6, elements=st.floats(0, 1)),
    value=arrays(np.float64, 6, elements=st.floats(0, 1e6)),
    least=st.floats(0, 1),
)
def test_the_score_orders_as_expected_values_do_among_rows_with_a_chance(chance, value, least):
    rule = ByValue(least_chance=least)
    got = rule.score(chance, value)
    fine = chance >= least
    np.testing.assert_array_equal(got[fine], (chance * value)[fine])
    assert (got[~fine] < 0).all()
    assert json.loads(json.dumps(rule.to_dict())) == ByValue.from_dict(rule.to_dict()).to_dict()
