"""What commands say, in the words of whoever asked."""

import polars as pl
import pytest

LEARN = ("--label", "fraud", "--id", "claim_id", "--model", "logistic")
STUDY = ("--label", "fraud", "--id", "claim_id", "--models", "logistic")
VALUE = ("--value", "amount", "--time", "date")


@pytest.mark.slow
def test_who_says_value_is_not_told_of_impacts(shortlist, claims, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    said = [
        shortlist("train", "history.csv", *LEARN, *VALUE, "-o", "f.shortlist"),
        shortlist("inspect", "f.shortlist"),
        shortlist("score", "f.shortlist", "new.csv", "--all", "-o", "ranked.csv"),
        shortlist("rank", "history.csv", "new.csv", *LEARN, *VALUE),
        shortlist("backtest", "history.csv", *STUDY, *VALUE, "--report", "b.html"),
        shortlist("compare", "history.csv", *STUDY, *VALUE, "--report", "c.html"),
    ]
    known = pl.read_csv("ranked.csv").select("claim_id", fraud=pl.int_range(pl.len()) % 3 == 0)
    known.write_csv("outcomes.csv")
    scored = ("ranked.csv", "--outcomes", "outcomes.csv", "--id", "claim_id", "--label", "fraud")
    said.append(shortlist("evaluate", *scored, "--value", "amount"))
    assert [done.code for done in said] == [0] * 7
    assert [done for done in said if "impact" in done.out + done.err] == []
    assert all("amount found" in said[place].out for place in (4, 5, 6))
    # Files and programs keep their names.
    assert shortlist("evaluate", *scored, "--impact", "amount").out.count("impact found") == 1


def test_rows_of_a_file_are_counted_from_1(shortlist, claims):
    pl.read_csv("history.csv").with_columns(
        amount=pl.when(pl.int_range(pl.len()) == 2).then(-5.0).otherwise("amount")
    ).write_csv("debts.csv")
    done = shortlist("rank", "debts.csv", "new.csv", *LEARN, "--value", "amount")
    assert done.code == 2
    assert "value column 'amount' must not be negative; row 3 has -5" in done.err


def test_fewer_folds_than_asked_for_are_told(shortlist, claims):
    rows = pl.read_csv("history.csv")
    few = pl.concat([rows.filter(pl.col("fraud") == 1).head(4), rows.filter(pl.col("fraud") == 0)])
    few.drop("date").write_csv("few.csv")
    done = shortlist("backtest", "few.csv", *STUDY, "--folds", 9)
    assert (done.code, "4 folds instead of 9" in done.err) == (0, True)
    assert "folds instead of" not in shortlist("backtest", "few.csv", *STUDY, "--folds", 4).err


def test_a_stream_speaks_of_the_budget(shortlist, claims):
    done = shortlist("stream", "new.csv", "--budget", 0, "--id", "claim_id", "--once")
    assert (done.code, "budget must be" in done.err) == (2, True)


@pytest.mark.parametrize("rows", [1, 2])
def test_one_row_is_one_row(shortlist, claims, rows):
    pl.read_csv("new.csv").head(rows).write_csv("today.csv")
    done = shortlist("rank", "history.csv", "today.csv", *LEARN, "--time", "date", "-o", "top.csv")
    assert f"wrote {rows} row{'s' if rows > 1 else ''} to top.csv" in done.err


def test_a_fresh_model_knows_its_libraries(run_json, claims):
    trained = run_json("train", "history.csv", *LEARN, "-o", "f.shortlist")
    assert trained["libraries"] == run_json("inspect", "f.shortlist")["libraries"]
    assert {"shortlist", "scikit-learn"} <= set(trained["libraries"])


def test_dates_beyond_the_history_are_told_where_dates_were_learned_from(shortlist, claims):
    done = shortlist("rank", "history.csv", "new.csv", *LEARN)
    last = pl.read_csv("history.csv")["date"].max()
    assert f"in column 'date' lie after the last one of training, {last}" in done.err
    assert "--time date" in done.err
    assert (
        "lie after the last" not in shortlist("rank", "history.csv", "new.csv", *LEARN, "--time", "date").err
    )
