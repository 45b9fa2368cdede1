from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shortlist
from shortlist import TrainedModel, score, train
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, SchemaError
from shortlist.models.file import ModelFileError, read_header, save
from shortlist.rankers import Baseline, Ranker
from shortlist.rankers.catalogue import MODELS, Model
from shortlist.tables.columns.words import percent


@pytest.fixture(scope="module")
def history():
    return make_claims(1_500, random_state=0, fraud_rate=0.1)


@pytest.fixture(scope="module")
def new():
    return make_claims(400, random_state=1, fraud_rate=0.1).drop("fraud")


@pytest.fixture(scope="module")
def model(history):
    return train(history, label="fraud", id="claim_id", time="date", budget=10, model="xgboost", n_jobs=1)


def test_a_model_that_ranks_otherwise_has_another_version(history):
    ask = {"label": "fraud", "id": "claim_id", "time": "date", "value": "amount", "model": "logistic"}
    turned = history.with_columns(-pl.col("policy_age_days"))
    others = [{"value_power": 0.0}, {"value_power": 0.5}, {"least_chance": 0.05}]
    versions = [train(history, **ask, **other).version for other in [{}, *others]]
    assert len({*versions, train(turned, **ask).version}) == 5
    assert train(history, **ask).version == versions[0]


@pytest.mark.bits
def test_a_saved_model_scores_alike(model, new, tmp_path):
    model.save(tmp_path / "risk.shortlist")
    loaded = TrainedModel.load(tmp_path / "risk.shortlist")
    assert loaded.score(new).frame.equals(model.score(new).frame)
    assert (loaded.name, loaded.version, loaded.budget) == ("xgboost", model.version, 10)


@pytest.mark.bits
@pytest.mark.parametrize("name", ["xgboost", "target"])
def test_the_version_does_not_tell_by_how_many_threads_a_model_was_trained(history, name):
    few = history.head(400)
    one, two, other = (
        train(few, label="fraud", id="claim_id", model=name, n_jobs=jobs, random_state=seed).version
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert one == two != other


def test_an_unknown_model_is_told_before_the_history_is_read():
    with pytest.raises(InvalidInputError, match="no model 'logistc'"):
        train("there is no such file", label="fraud", model="logistc")


@pytest.mark.parametrize(
    ("roles", "name"),
    [
        ({"label": "fraud"}, "ap-boost"),
        ({"label": "fraud", "impact": "amount", "list": "region"}, "ap-boost"),
        ({"impact": "amount"}, "log-regression"),
        ({"impact": "amount", "list": "region"}, "cs-mart"),
    ],
)
def test_without_a_name_the_model_suits_what_is_given(history, roles, name):
    assert train(history, **roles, id="claim_id", time="date", n_jobs=1).name == name


def test_header_says_what_a_reader_needs(model, tmp_path):
    model.save(tmp_path / "risk.shortlist")
    header = read_header(tmp_path / "risk.shortlist")
    assert header["training"]["rows"] == 1_500
    assert header["training"]["wanted"] == 150
    assert header["training"]["from"].startswith("2024-01-01")
    assert header["schema"]["roles"] == {"id": "claim_id", "label": "fraud", "time": "date", "ignore": []}


def test_shortlist_has_the_promised_columns(model, new):
    frame = model.score(new).frame
    promised = ["rank", "claim_id", "score", "reason_1", "reason_2", "reason_3", "model_version"]
    assert frame.columns[:7] == promised
    assert frame["rank"].to_list() == list(range(1, 11))
    assert frame["score"].is_sorted(descending=True)
    assert set(frame["model_version"]) == {model.version}


def test_score_takes_a_file_a_model_and_another_budget(model, new, tmp_path):
    model.save(tmp_path / "m")
    assert score(tmp_path / "m", new, budget=3).frame.height == 3
    assert score(model, new, keep_all=True).frame.height == 400


def test_reasons_are_given_within_the_budget_only(model, new):
    frame = model.score(new, keep_all=True).frame
    assert frame["reason_1"].is_not_null()[:10].all()
    assert frame["reason_1"].is_null()[10:].all()


def test_reasons_name_what_makes_a_row_stand_out(model, new):
    odd = new.with_columns(
        amount=pl.when(pl.int_range(pl.len()) == 7).then(80_000.0).otherwise("amount"),
        policy_age_days=pl.when(pl.int_range(pl.len()) == 7).then(3).otherwise("policy_age_days"),
    )
    frame = model.score(odd, keep_all=True, budget=400).frame
    (row,) = frame.filter(pl.col("claim_id") == new["claim_id"][7]).to_dicts()
    reasons = " ".join(row[f"reason_{i}"] or "" for i in (1, 2, 3))
    assert "amount 80,000.00, higher than all of history" in reasons
    assert "policy_age_days 3, lower than" in reasons


def test_a_missing_value_and_a_new_category_can_be_reasons(history):
    rows = history.with_columns(fraud=pl.col("driver_age").is_null() | pl.col("repair_shop").is_null()).drop(
        "date"
    )
    trained = train(rows, label="fraud", id="claim_id", budget=5, model="xgboost", n_jobs=1)
    asked = rows.head(50).with_columns(driver_age=pl.lit(None, dtype=pl.Int64), repair_shop=pl.lit("shop-99"))
    frame = trained.score(asked.drop("fraud")).frame
    said = {text for i in (1, 2) for text in frame[f"reason_{i}"]}
    gone = percent(rows["driver_age"].is_null().mean())
    assert {f"driver_age missing, as in {gone} of history", "repair_shop shop-99, not in history"} <= said


@pytest.mark.parametrize("name", ["logistic", "xgboost", "log-regression"])
def test_contributions_add_up_to_what_the_model_says(history, name):
    y = history["fraud"] * (history["amount"] if MODELS[name].learns_from == "impact" else 1)
    X = history.drop("fraud", "claim_id")
    ranker = MODELS[name].make(shortlist.rankers.catalogue.RankerOptions(n_jobs=1)).fit(X, y)
    total = ranker.contributions(X).sum(axis=1)
    said = ranker.decision_function(X)
    link = {"logistic": lambda t: t, "xgboost": lambda t: 1 / (1 + np.exp(-t)), "log-regression": np.expm1}[
        name
    ]
    np.testing.assert_allclose(link(total), said, rtol=1e-3, atol=1e-4)


def test_a_model_without_reasons_says_so(history, new):
    trained = train(history, label="fraud", id="claim_id", budget=5, model="random-forest", n_jobs=1)
    top = trained.score(new)
    assert "reason_1" not in top.frame.columns
    assert any("does not say why" in note for note in top.notes)


class Knowing(Ranker):
    """A ranker that held rows out: it knows how often its scores are right."""

    def _fit(self, batch):
        self.oof_score_ = batch.y.astype(float)
        self.known_ = True

    def _score(self, X):
        return X[:, 0]

    _takes_missing = True

    def expected_precision(self, scores):
        return np.full(len(scores), 0.25)


def test_expected_precision_and_measures_come_from_rows_held_out(history, new, monkeypatch):
    monkeypatch.setitem(MODELS, "knowing", Model(lambda options: Knowing(), "label", "knows"))
    columns = ["claim_id", "amount"]
    trained = train(history[[*columns, "fraud"]], label="fraud", id="claim_id", budget=5, model="knowing")
    assert trained.measures == {"average precision": 1.0, "precision at 5": 1.0}
    assert trained.score(new[columns]).frame["expected_precision"].to_list() == [0.25] * 5


def test_no_measure_is_taken_from_training_rows(model, new):
    assert model.measures == {}
    assert "expected_precision" not in model.score(new).frame.columns


@pytest.mark.bits
def test_same_seed_same_version_and_other_data_another(history):
    train_ = lambda rows: train(rows, label="fraud", id="claim_id", model="logistic").version  # noqa: E731
    assert train_(history) == train_(history)
    assert train_(history) != train_(history.head(1_400))


def test_new_rows_that_differ_are_scored_and_told(model, new):
    shifted = new.with_columns(amount=pl.col("amount") * 9, region=pl.lit("atlantis"), colour=pl.lit("red"))
    top = model.score(shifted)
    assert top.frame.height == 10
    said = " ".join(top.notes)
    assert all(word in said for word in ("'amount' has shifted", "atlantis", "colour"))


@pytest.mark.bits
def test_rows_are_scored_alike_in_blocks_and_at_once(model, new, monkeypatch):
    whole = model.score(new, keep_all=True).frame
    monkeypatch.setattr("shortlist.models.abilities._BLOCK_ROWS", 37)
    assert model.score(new, keep_all=True).frame.equals(whole)


def test_lists_are_ranked_apart(history, new):
    trained = train(history, label="fraud", id="claim_id", list="region", budget=2, model="logistic")
    frame = trained.score(new).frame
    assert frame["rank"].to_list() == [1, 2] * 5
    assert frame.columns[:4] == ["rank", "claim_id", "region", "score"]


def test_a_known_impact_is_learned_from(history):
    hidden = train(history, label="fraud", impact="amount", id="claim_id", model="logistic")
    known = train(history, label="fraud", impact="amount", impact_known=True, id="claim_id", model="logistic")
    assert "amount" not in hidden.schema.columns
    assert "amount" in known.schema.columns
    assert type(known.roles).from_dict(known.roles.to_dict()) == known.roles


def test_a_missing_column_gets_advice_and_a_quiet_day_a_note(model, new):
    with pytest.raises(SchemaError, match="amount"):
        model.score(new.drop("amount"))
    quiet = model.score(new, budget=401)
    assert quiet.frame.height == 400
    assert quiet.notes[-1] == "there are 400 rows, fewer than the budget of 401."
    assert model.score(new.clear(), budget=401).frame.height == 0


def test_a_ranker_saved_alone_is_loaded_where_it_has_columns(history, new, tmp_path):
    features = ["amount", "region"]
    save(Baseline().fit(history[features], history["fraud"]), tmp_path / "frame")
    assert TrainedModel.load(tmp_path / "frame").score(new, budget=3).frame.height == 3
    save(Baseline().fit([[0.0], [1.0]], [0, 1]), tmp_path / "array")
    with pytest.raises(ModelFileError, match="array"):
        TrainedModel.load(tmp_path / "array")


def test_it_shows_itself(model):
    assert "trained on 1,500 rows" in repr(model)
    assert "<table" in model._repr_html_()
    assert model.columns()["column"].to_list() == list(model.schema.columns)


def test_a_model_of_the_first_version_still_scores_as_it_did():
    folder = Path(__file__).parents[1] / "data"
    rows = pl.read_csv(folder / "first-version-rows.csv")
    frame = TrainedModel.load(folder / "first-version.shortlist").score(rows, keep_all=True).frame
    expected = rows.sort("recorded_score", descending=True)
    assert frame["claim_id"].to_list() == expected["claim_id"].to_list()
    # Sums of float32: their last digits are the CPU's, and no two of these rows are closer than 100 times that.
    np.testing.assert_allclose(frame["score"], expected["recorded_score"], rtol=0, atol=5e-6)
    assert -expected["recorded_score"].diff().max() > 5e-4
