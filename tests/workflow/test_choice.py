"""What ``train`` takes where nobody names a ranker, and that it is what ``backtest`` would advise."""

import pytest

from shortlist import backtest, rank, train
from shortlist.datasets import make_claims
from shortlist.workflow import candidates

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
            f"shortlist.workflow.{place}.usual_models", lambda roles, models: usual(roles, models or FEW)
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
