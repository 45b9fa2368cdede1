import json

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel

from shortlist import backtest, compare, evaluate
from shortlist.datasets import make_claims
from shortlist.exceptions import InvalidInputError
from shortlist.tables import Roles, load_table
from shortlist.workflow.history.intervals import paired_difference
from shortlist.workflow.history.measures import RANKED_BY, measures
from shortlist.workflow.history.sentences.conclusions import conclusion


@pytest.fixture(scope="module")
def claims():
    return make_claims(1_500, random_state=0, fraud_rate=0.1).drop("date")


@pytest.fixture(scope="module")
def result(claims):
    options = {"label": "fraud", "id": "claim_id", "budget": 20, "n_folds": 4}
    return compare(claims, **options, models=["logistic", "xgboost"], baselines=["amount"], n_jobs=1)


def test_every_ranking_on_every_fold(result):
    assert result.folds.height == 4 * 4
    assert set(result.table["ranking"]) == {"logistic", "xgboost", "amount desc", "at random"}
    assert {"average precision", "NDCG", "AUC", "positives at top", "mean rank"} <= set(result.table.columns)


def test_means_and_ranks_agree_with_the_folds(result):
    part = result.folds.filter(pl.col("ranking") == "logistic")
    row = result.table.filter(pl.col("ranking") == "logistic").to_dicts()[0]
    assert row["average precision"] == pytest.approx(part["average precision"].mean())
    assert result.table["mean rank"].mean() == pytest.approx(2.5)


def test_the_pick_is_the_best_model_and_chance_is_beaten(result):
    assert result.pick == next(name for name in result.table["ranking"] if name in ("logistic", "xgboost"))
    (chance,) = result.differences.filter(pl.col("other") == "at random").to_dicts()
    assert chance["says"] == "better"
    assert chance["low"] > 0


def test_without_overlap_the_interval_is_the_t_test():
    a, b = [0.5, 0.6, 0.4, 0.7], [0.4, 0.55, 0.45, 0.5]
    expected = ttest_rel(a, b).confidence_interval(0.95)
    assert paired_difference(a, b, overlap=0)[1:] == pytest.approx((expected.low, expected.high))
    assert paired_difference(a, b, overlap=0.25)[1] < expected.low


def test_one_fold_proves_nothing():
    assert paired_difference([0.5], [0.4], overlap=0) == (pytest.approx(0.1), -np.inf, np.inf)


def test_models_alike_are_called_noise(claims, monkeypatch):
    from shortlist.rankers.catalogue import MODELS

    monkeypatch.setitem(MODELS, "twin", MODELS["logistic"])
    result = compare(claims, label="fraud", id="claim_id", budget=20, models=["logistic", "twin"], n_folds=3)
    assert "within noise" in result.answer
    (twin,) = result.differences.filter(pl.col("other") == "twin").to_dicts()
    assert (twin["difference"], twin["says"]) == (0, "noise")


def test_the_conclusion_names_a_quicker_equal():
    table = pl.DataFrame({"ranking": ["a", "b"], "precision": [0.5, 0.49], "fit seconds": [10.0, 1.0]})
    differences = pl.DataFrame(
        {"pick": ["a"], "other": ["b"], "difference": [0.01], "low": [-0.1], "high": [0.1], "says": ["noise"]}
    )
    said = conclusion(table, differences, "a", "precision", models=["a", "b"], parts="folds")
    assert "b trains 10 times quicker" in said
    assert said.startswith("No model is clearly better than chance")


def test_a_rule_that_wins_is_admitted():
    table = pl.DataFrame({"ranking": ["rule", "a"], "precision": [0.9, 0.5], "fit seconds": [None, 1.0]})
    differences = pl.DataFrame(
        {
            "pick": ["a"],
            "other": ["rule"],
            "difference": [-0.4],
            "low": [-0.5],
            "high": [-0.3],
            "says": ["worse"],
        }
    )
    assert "rule (0.900) does clearly better" in conclusion(
        table, differences, "a", "precision", models=["a"], parts="folds"
    )


def test_impacts_in_lists(claims):
    worth = claims.with_columns(loss=pl.col("amount") * pl.col("fraud")).drop("fraud")
    result = compare(
        worth,
        impact="loss",
        list="region",
        id="claim_id",
        budget=5,
        models=["log-regression"],
        n_folds=3,
        n_jobs=1,
    )
    assert result.goal == "impact share"
    assert {"cost saved", "impact found"} <= set(result.table.columns)


def test_measures_agree_with_evaluate(claims):
    scored = claims.with_columns(score=pl.col("amount"))
    expected = evaluate(scored, label="fraud", budget=20).table.row(0, named=True)
    from shortlist.tables import Roles
    from shortlist.tables.table import read_facts
    from shortlist.workflow.history.measures import measures

    ours = measures(read_facts(claims, Roles(label="fraud")), claims["amount"].to_numpy(), 20)
    assert ours == {name: expected[name] for name in ours}


def test_figures_are_json(result):
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["pick"] == result.pick


def test_every_measure_that_is_ranked_by_is_measured(claims):
    table = load_table(claims, Roles(id="claim_id", label="fraud", impact="amount"))
    assert {*RANKED_BY} <= measures(table, np.arange(len(table), dtype=float), 20).keys()


def test_walking_forward_too():
    rows = make_claims(1_500, random_state=0, fraud_rate=0.1)
    result = compare(
        rows, label="fraud", id="claim_id", time="date", every="quarter", budget=20, models=["logistic"]
    )
    assert result.setup["periods"] == 6
    assert "over the periods" in result.answer
    assert "fold" not in result.answer


def test_unknown_model(claims):
    with pytest.raises(InvalidInputError, match="no model"):
        compare(claims, label="fraud", models=["nothing"])


def test_found_means_what_it_means_in_a_backtest(claims, result):
    options = {"label": "fraud", "id": "claim_id", "budget": 20, "n_folds": 4}
    walked = backtest(claims, **options, models=["logistic"], baselines=["amount"], n_jobs=1)
    for name in ("logistic", "amount desc", "at random"):
        found = [
            table.filter(pl.col("ranking") == name)["found"].item() for table in (result.table, walked.table)
        ]
        assert found[0] == pytest.approx(found[1])
