"""Databases in and out: a daily job replaces its table, in one transaction, and only when told to."""

import sqlite3
from contextlib import closing
from importlib import import_module

import polars as pl
import pytest

from shortlist.tables import read_table, write_table

RANK = ("rank", "history.csv", "new.csv", "--label", "fraud", "--id", "claim_id", "--model", "logistic")
TABLE = "sqlite:///claims.db::shortlist"


def rows(name="shortlist"):
    with closing(sqlite3.connect("claims.db")) as connection:
        return connection.execute(f"select * from {name}").fetchall()


def test_a_daily_job_replaces_its_table(shortlist, claims):
    assert shortlist(*RANK, "-k", 5, "-o", TABLE).code == 0
    assert len(rows()) == 5
    again = shortlist(*RANK, "-k", 7, "-o", TABLE)
    assert again.code == 2
    assert "table 'shortlist' exists already; replace it with --replace" in again.err
    assert len(rows()) == 5
    assert shortlist(*RANK, "-k", 7, "-o", TABLE, "--replace").code == 0
    assert len(rows()) == 7
    assert shortlist(*RANK, "-k", 3, "-o", "sqlite:///claims.db::first", "--replace").code == 0
    assert len(rows("first")) == 3


def test_what_fails_leaves_the_old_table(shortlist, claims):
    assert shortlist(*RANK, "-k", 5, "-o", TABLE).code == 0
    before = rows()
    new = pl.read_csv("new.csv").with_columns(far=pl.lit(2**63, dtype=pl.UInt64))  # beyond an SQL integer
    new.write_parquet("new.parquet")
    done = shortlist(RANK[0], RANK[1], "new.parquet", *RANK[3:], "-k", 5, "-o", TABLE, "--replace")
    assert done.code == 2
    assert "Nothing was written" in done.err
    assert rows() == before


def test_a_table_that_is_there_is_told_before_training(shortlist, claims, monkeypatch):
    write_table(pl.DataFrame({"x": [1]}), TABLE)
    module = import_module("shortlist.workflow.train")  # the package has a function of that name
    monkeypatch.setattr(module, "train_on", lambda *a, **o: pytest.fail("trained first"))
    assert shortlist(*RANK, "-o", TABLE).code == 2


def test_a_refused_call_makes_no_database(shortlist, claims):
    pl.read_csv("new.csv").drop("amount").write_csv("new.csv")
    assert shortlist(*RANK, "-o", TABLE).code == 2
    assert not (claims / "claims.db").exists()


def test_the_table_that_is_read_is_never_replaced(shortlist, claims):
    write_table(read_table("history.csv"), "sqlite:///claims.db::history")
    target = f"sqlite:///{claims}/claims.db::history"
    arguments = ("rank", "sqlite:///claims.db::history", "new.csv", *RANK[3:], "-o", target, "--replace")
    done = shortlist(*arguments)
    assert done.code == 2
    assert "is read here" in done.err
    assert len(rows("history")) == 600


def test_a_file_is_replaced_with_and_without_being_told(shortlist, claims):
    for budget, told in ((5, ()), (6, ()), (7, ("--replace",))):
        assert shortlist(*RANK, "-k", budget, "-o", "top.csv", *told).code == 0
        assert pl.read_csv("top.csv").height == budget


@pytest.mark.parametrize("command", ["evaluate", "score", "backtest"])
def test_other_commands_replace_too(shortlist, claims, command):
    arguments = {
        "evaluate": ("evaluate", "history.csv", "--label", "fraud", "--score", "amount"),
        "score": ("score", "m.shortlist", "new.csv", "-k", 5),
        "backtest": ("backtest", "history.csv", *RANK[3:7], "--models", "logistic", "--folds", 2),
    }[command]
    if command == "score":
        assert shortlist("train", "history.csv", *RANK[3:], "-o", "m.shortlist").code == 0
    assert shortlist(*arguments, "-o", TABLE).code == 0
    assert shortlist(*arguments, "-o", TABLE).code == 2
    assert shortlist(*arguments, "-o", TABLE, "--replace").code == 0


def test_what_is_no_url_is_told(shortlist, claims):
    done = shortlist("rank", "://::history", *RANK[2:], "-o", TABLE)
    assert done.code == 2
    assert "this is no database URL" in done.err


def test_no_password_is_shown(shortlist, claims):
    place = "postgresql://me:secret@localhost:1/claims::history"
    for done in (
        shortlist("rank", place, "new.csv", *RANK[3:], "-o", place, "--replace"),
        shortlist("rank", "history.csv", "new.csv", *RANK[3:], "-o", place),
    ):
        assert done.code == 2
        assert "secret" not in done.err + done.out
