"""What ``train`` takes where nobody names a ranker, and that it is what ``backtest`` would advise."""

import numpy as np
import polars as pl
import pytest

from shortlist import backtest, compare, rank, train
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.rankers.catalogue import MODELS, RankerOptions
from shortlist.tables import Roles
from shortlist.workflow import candidates
from shortlist.workflow.history.sentences.amounts import amount

OPTIONS = {"label": "fraud", "id": "claim_id", "budget": 10, "n_jobs": 1}
#: Quick ones, of which one is poor: sorting by a noisy impact.
FEW = ["rank-boost", "logistic", "log-regression"]


@pytest.fixture(scope="module")
def history():
    return make_claims(1_200, random_state=3, fraud_rate=0.1)


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    usual = candidates.usual_models
    for place in ("choice", "history.study"):
        monkeypatch.setattr(
            f"shortlist.workflow.{place}.usual_models",
            lambda roles, models, options: usual(roles, models or FEW, options),
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "split", [{"time": "date"}, pytest.param({"ignore": ["date"]}, marks=pytest.mark.slow)]
)
def test_train_takes_what_backtest_puts_first(history, split):
    past = backtest(history, **OPTIONS, **split, value="amount")
    first = next(name for name in past.table["ranking"] if name in FEW)
    trained = train(history, **OPTIONS, **split, value="amount")
    assert trained.name == first
    (how,) = [note for note in trained.notes if "was chosen by" in note]
    found = dict(past.table.select("ranking", "impact found").iter_rows())
    assert f"it found {found[first]:,.0f} of amount" in how
    assert f"sorting by amount {found['amount desc']:,.0f}" in how


def test_texts_are_decided_on_without_the_rows_that_a_ranking_is_judged_by(history, monkeypatch):
    """A text that helps in parts only: train told figures of other models than backtest, and could take another."""
    monkeypatch.setattr("shortlist.tables.texts.adds_to", lambda known, columns, wanted: wanted.size < 300)
    said = (
        pl.when(pl.col("fraud") == 1).then(pl.lit("late in the night")).otherwise(pl.lit("on the way home"))
    )
    number = pl.int_range(pl.len()).cast(pl.String)
    told = history.head(300).with_columns(story=pl.format("it was {} number {} of that year", said, number))
    past = backtest(told, **OPTIONS, ignore=["date"], value="amount")
    trained = train(told, **OPTIONS, ignore=["date"], value="amount")
    (how,) = [note for note in trained.notes if "was chosen by" in note]
    assert "story" not in [feature.name for feature in trained.schema.features]
    for name, found in (
        past.table.filter(pl.col("ranking").is_in(FEW)).select("ranking", "impact found").iter_rows()
    ):
        assert f"{name} {amount(found)}" in how or f"it found {amount(found)}" in how


def test_sorting_by_the_value_takes_part_by_itself(history):
    past = backtest(history, **OPTIONS, ignore=["date"], value="amount", models=["logistic"])
    assert set(past.table["ranking"]) == {"logistic", "amount desc", "at random"}
    assert past.setup["value"] == "amount"


def test_a_named_model_is_not_compared(history):
    assert not train(history, **OPTIONS, value="amount", model="rank-boost").notes


def test_where_nothing_can_be_compared_the_default_is_trained_and_says_so(history):
    few = history.filter(history["fraud"] == 1).head(1).vstack(history.filter(history["fraud"] == 0).head(40))
    trained = train(few, **OPTIONS, ignore=["date"], value="amount")
    assert trained.name == "ap-boost"
    assert any("without comparing" in note for note in trained.notes)


def test_a_shortlist_tells_how_its_model_was_chosen(history):
    new = history.tail(50).drop("fraud")
    top = rank(history.head(900), new, **OPTIONS, ignore=["date"], value="amount")
    assert any(f"{top.model} was chosen by cross-validation" in note for note in top.notes)


def test_who_wants_the_most_wanted_rows_is_not_given_the_most_money(history, monkeypatch):
    # Unlike here, usual_models is asked for what is usual: a model of amounts among them.
    monkeypatch.undo()
    past = backtest(history, **OPTIONS, ignore=["date"], value="amount", value_power=0, models=["logistic"])
    assert past.table["found"].is_sorted(descending=True)
    beside = compare(
        history, **OPTIONS, ignore=["date"], value="amount", value_power=0, models=["logistic"], n_folds=2
    )
    assert beside.goal == "precision"
    assert candidates.usual_models(
        Roles(label="fraud", impact="amount"), ["all"], RankerOptions(value_power=0.0)
    ) == [name for name, model in MODELS.working().items() if model.learns_from == "label"]
    monkeypatch.setattr("shortlist.workflow.choice.usual_models", lambda *_: ["logistic", "rank-boost"])
    trained = train(history, **OPTIONS, ignore=["date"], value="amount", value_power=0)
    (how,) = [note for note in trained.notes if "was chosen by" in note]
    (row,) = past.table.filter(pl.col("ranking") == "logistic")["found"]
    assert f"{row:g} wanted rows" in how


@pytest.mark.parametrize("weighs", [{"value_power": 0.5}, {"least_chance": 0.1}])
def test_a_model_of_amounts_has_no_chance_to_weigh(history, weighs):
    asked = {**OPTIONS, "ignore": ["date"], "value": "amount", **weighs}
    with pytest.raises(InvalidInputError, match="nothing to weigh"):
        train(history, **asked, model="log-regression")
    with pytest.raises(InvalidInputError, match="nothing to weigh"):
        backtest(history, **asked, models=["logistic", "log-regression"])


def test_a_model_with_nothing_to_learn_from_takes_nothing_from_others(history):
    """Of frauds that are worth nothing, amounts cannot be learned; whether a row is one can."""
    early = pl.col("date") < history["date"].sort()[700]
    poor = history.with_columns(amount=pl.when(early & (pl.col("fraud") == 1)).then(0.0).otherwise("amount"))
    asked = {**OPTIONS, "value": "amount", "time": "date", "ignore_text": True}
    both = backtest(poor, **asked, models=["logistic", "log-regression"])
    alone = backtest(poor, **asked, models=["logistic"])
    assert set(both.table["ranking"]) == {"logistic", "amount desc", "at random"}
    assert both.table.drop("fit seconds").equals(alone.table.drop("fit seconds"))
    assert any(note.startswith("log-regression takes no part: for ") for note in both.notes)
    assert not any("of one kind" in note for note in both.notes)
    # Alone it has the periods from which it can learn.
    own = backtest(poor, **asked, models=["log-regression"])
    assert 0 < own.setup["periods"] < alone.setup["periods"]
    assert any(" is left out: log-regression has nothing to learn from" in note for note in own.notes)
    worthless = poor.with_columns(amount=pl.when(pl.col("fraud") == 1).then(0.0).otherwise("amount"))
    with pytest.raises(NoWantedRowsError, match="name a model that learns from the label"):
        backtest(worthless, **asked, models=["log-regression"])
    assert set(backtest(worthless, **asked, models=["logistic"]).table["found"]) != {0.0}


def test_models_of_impacts_learn_where_every_row_has_one():
    """Costs that are all above 0 differ still; who learns whether a row counts at all finds no other kind."""
    x = np.random.default_rng(0).normal(size=120)
    costs = pl.DataFrame({"x": x, "z": x[::-1], "cost": np.exp(x), "week": np.arange(120) // 15})
    asked = {"impact": "cost", "time": "week", "budget": 5}
    past = backtest(costs, **asked, models=["log-regression"])
    assert past.table["ranking"].to_list() == ["log-regression", "at random"]
    assert past.setup["periods"] == 6
    with pytest.raises(NoWantedRowsError, match="no period has wanted rows and others before it"):
        backtest(costs, **asked, models=["log-regression", "logistic"])


def test_folds_are_not_called_periods():
    """Lists are held out whole, so the rows beside one may be all of one kind."""
    lists = pl.DataFrame({"list": ["a"] * 6 + ["b"] * 6, "size": range(12), "wanted": [1] * 6 + [0] * 6})
    with pytest.raises(NoWantedRowsError, match=r"^no fold has wanted rows and others beside it") as told:
        backtest(lists, label="wanted", list="list", models=["logistic"])
    assert "--time" not in str(told.value)
