"""What real files hold and people type: gaps as NaN, an output that is an input, days with few rows."""

import json
from importlib import import_module

import polars as pl
import pytest

FEW = ("--label", "fraud", "--id", "claim_id", "--model", "logistic", "-k", 2)


@pytest.fixture
def with_nan(claims):
    """New rows as other libraries write them: NaN for a gap, and a column of infinities beside."""
    half = pl.when(pl.int_range(pl.len()) % 2 == 0).then(float("nan")).otherwise("amount")
    pl.read_csv("new.csv").with_columns(half.alias("amount"), far=float("inf")).write_parquet("new.parquet")
    return claims


def test_nan_is_a_gap_on_the_terminal_and_null_in_json(shortlist, with_nan):
    shown = shortlist("rank", "history.csv", "new.parquet", *FEW)
    assert shown.code == 0, shown.err
    done = shortlist("rank", "history.csv", "new.parquet", *FEW, "--json")
    assert done.code == 0, done.err
    assert {row["far"] for row in json.loads(done.out)["rows"]} == {None}


@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "history.csv", "new.csv", *FEW, "-o", "new.csv"),
        ("rank", "history.csv", "new.csv", *FEW, "-o", "./history.csv"),
        ("train", "history.csv", "--label", "fraud", "--model", "logistic", "-o", "history.csv"),
        ("backtest", "history.csv", "--label", "fraud", "-o", "history.csv"),
    ],
)
def test_no_input_is_written_over(shortlist, claims, arguments):
    before = {path.name: path.read_bytes() for path in claims.iterdir()}
    done = shortlist(*arguments)
    assert done.code == 2
    assert "choose another name" in done.err
    assert {path.name: path.read_bytes() for path in claims.iterdir()} == before


def test_a_target_or_new_rows_that_cannot_be_are_refused_before_training(shortlist, claims, monkeypatch):
    module = import_module("shortlist.workflow.train")  # the package has a function of that name
    monkeypatch.setattr(module, "train_on", lambda *a, **o: pytest.fail("trained first"))
    for new, output, words in [
        ("new.csv", "top.doc", ".doc"),
        ("new.csv", "none/top.csv", "folder"),
        ("newer.csv", "top.csv", "no file"),
    ]:
        done = shortlist("rank", "history.csv", new, *FEW, "-o", output)
        assert done.code == 2
        assert words in done.err


def test_a_day_with_fewer_rows_than_the_budget_is_scored_whole(shortlist, claims):
    assert shortlist("train", "history.csv", *FEW[:-2], "-k", 50, "-o", "m.shortlist").code == 0
    pl.read_csv("new.csv").head(7).write_csv("quiet.csv")
    done = shortlist("score", "m.shortlist", "quiet.csv", "-o", "top.csv")
    assert done.code == 0, done.err
    assert pl.read_csv("top.csv").height == 7


def test_own_columns_that_replace_those_of_the_rows_are_named(shortlist, claims):
    pl.read_csv("new.csv").with_columns(score=1).write_csv("new.csv")
    assert "replace those of the new rows: score." in shortlist("rank", "history.csv", "new.csv", *FEW).err


def test_a_shortlist_evaluated_alone_gets_a_note(shortlist, claims):
    assert shortlist("rank", "history.csv", "new.csv", *FEW[:-1], 50, "-o", "top.csv").code == 0
    ask = ("evaluate", "top.csv", "--outcomes", "outcomes.csv", "--id", "claim_id", "--label", "fraud")
    assert "250 of 300 outcomes are of rows that are not in the ranking" in shortlist(*ask).err


def test_ids_are_joined_as_text_where_their_types_differ(shortlist, claims):
    ids = pl.int_range(300)
    scored = pl.read_csv("outcomes.csv").select(claim_id=ids, score=-ids)
    scored.write_csv("scored.csv")
    pl.read_csv("outcomes.csv").with_columns(claim_id=ids.cast(str)).write_parquet("known.parquet")
    ask = ("evaluate", "scored.csv", "--outcomes", "known.parquet", "--id", "claim_id", "--label", "fraud")
    assert shortlist(*ask).code == 0
    pl.read_csv("outcomes.csv").write_csv("known.csv")
    done = shortlist(*ask[:3], "known.csv", *ask[4:])
    assert done.code == 2
    assert "write ids alike" in done.err


def test_models_are_listed_with_what_they_are(shortlist, monkeypatch):
    assert "logistic regression" in shortlist("rank", "--model", "list").out
    names = json.loads(shortlist("rank", "--model", "list", "--json").out)
    assert "logistic" in [each["model"] for each in names]
    assert json.loads(shortlist("simulate", "--strategy", "list", "--json").out)[0]["strategy"]


@pytest.mark.parametrize("options", [("--value-power", "0.5"), ("--least-chance", "0.9")])
def test_how_to_weigh_a_value_is_refused_without_one(shortlist, claims, options):
    ask = ("history.csv", "--label", "fraud", "--id", "claim_id", *options)
    for command in (("train", *ask, "-m", "logistic", "-o", "m.shortlist"), ("backtest", *ask)):
        done = shortlist(*command)
        assert done.code == 2
        assert "--value COLUMN" in done.err


def test_periods_without_wanted_rows_are_no_backtest(shortlist, claims):
    first = (pl.int_range(pl.len()) == 5).cast(int)
    pl.read_csv("history.csv").with_columns(fraud=first).write_csv("history.csv")
    done = shortlist("backtest", "history.csv", *FEW[:4], "--time", "date", "--models", "logistic", "-k", 3)
    assert done.code == 2
    assert "nothing can be found" in done.err
