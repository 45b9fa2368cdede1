import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

RANK = ["rank", "history.csv", "new.csv", "--label", "fraud", "--id", "claim_id", "--budget", "10"]
FAST = ["--model", "logistic"]


def test_prints_a_table_for_people(shortlist, claims):
    done = shortlist(*RANK, *FAST)
    assert done.code == 0
    assert "claim_id" in done.out
    assert done.out.count("C-000") == 10


def test_writes_the_shortlist(shortlist, claims):
    done = shortlist(*RANK, *FAST, "-o", "top.csv")
    assert (done.code, done.out) == (0, "")
    top = pl.read_csv(claims / "top.csv")
    assert top["rank"].to_list() == list(range(1, 11))
    assert top["score"].is_sorted(descending=True)
    assert top["claim_id"].n_unique() == 10


def test_json_is_json(run_json, claims):
    result = run_json(*RANK, *FAST)
    assert result["model"] == "logistic"
    assert len(result["rows"]) == 10


def test_default_model_finds_more_than_chance(run_json, claims):
    ids = [row["claim_id"] for row in run_json(*RANK, "--budget", "30")["rows"]]
    outcomes = pl.read_csv("outcomes.csv")
    found = outcomes.filter(pl.col("claim_id").is_in(ids))["fraud"].mean()
    assert found > 1.5 * outcomes["fraud"].mean()


def test_all_keeps_every_row_in_order(run_json, claims):
    assert len(run_json(*RANK, *FAST, "--all")["rows"]) == 300


def test_lists_have_a_budget_each(run_json, claims):
    rows = pl.DataFrame(run_json(*RANK, *FAST, "--list", "region", "--budget", "3")["rows"])
    assert rows.group_by("region").len()["len"].to_list() == [3] * 5
    assert sorted(rows["rank"].unique()) == [1, 2, 3]


def test_parquet_and_csv_give_the_same_ranking(run_json, claims):
    for name in ("history", "new"):
        pl.read_csv(f"{name}.csv", try_parse_dates=True).write_parquet(f"{name}.parquet")
    parquet = run_json("rank", "history.parquet", "new.parquet", *RANK[3:], *FAST)
    assert [row["claim_id"] for row in parquet["rows"]] == [
        row["claim_id"] for row in run_json(*RANK, *FAST)["rows"]
    ]


def test_unseen_categories_and_extra_columns_are_told_and_ranked(shortlist, claims):
    new = pl.read_csv("new.csv").with_columns(region=pl.lit("atlantis"), colour=pl.lit("red"))
    new.write_csv("new.csv")
    done = shortlist(*RANK, *FAST)
    assert done.code == 0
    assert "atlantis" in done.err
    assert "colour" in done.err


@pytest.mark.bits
def test_same_seed_same_bytes(shortlist, claims):
    outputs = []
    for name in ("a.csv", "b.csv"):
        shortlist(*RANK, "-o", name)
        outputs.append((claims / name).read_bytes())
    assert outputs[0] == outputs[1]


def test_ap_boost_is_the_default_and_says_what_a_rank_means(run_json, claims):
    result = run_json(*RANK)
    assert result["model"] == "ap-boost"
    expected = [row["expected_precision"] for row in result["rows"]]
    assert expected == sorted(expected, reverse=True)
    assert 0 < expected[-1] <= expected[0] < 1
    assert result["found"]["expected"] == pytest.approx(10 * expected[-1])


def test_expected_precision_is_that_of_each_list(run_json, claims):
    rows = run_json(*RANK, "--list", "region", "--budget", "3")["rows"]
    for before, after in pairwise(rows):
        if before["region"] == after["region"]:
            assert before["expected_precision"] >= after["expected_precision"] - 1e-12


def test_tune_is_refused_where_there_is_nothing_to_tune(shortlist, claims):
    done = shortlist(*RANK, *FAST, "--tune")
    assert done.code == 2
    assert "nothing to tune" in done.err


def test_model_list(shortlist):
    done = shortlist("rank", "--model", "list")
    assert done.code == 0
    assert "logistic" in done.out


def test_a_short_day_is_kept_whole_unless_a_budget_is_named(run_json, claims):
    pl.read_csv("new.csv").head(20).write_csv("new.csv")
    found = run_json("rank", "history.csv", "new.csv", "--label", "fraud", "--id", "claim_id", *FAST)
    assert len(found["rows"]) == 20


def test_the_time_of_a_row_is_not_learned_from(run_json, claims):
    rows = run_json(*RANK, "--model", "logistic", "--time", "date")["rows"]
    assert not any("date" in str(row[f"reason_{i}"]) for row in rows for i in (1, 2, 3))


def _replace(column, value, path="history.csv"):
    pl.read_csv(path).with_columns(pl.lit(value).alias(column)).write_csv(path)


def _truncate_parquet():
    path = Path("history.parquet")
    pl.read_csv("history.csv").write_parquet(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


BAD_INPUT = {
    "empty file": (lambda: Path("history.csv").write_text(""), [], "empty"),
    "header without rows": (lambda: Path("history.csv").write_text("claim_id,amount,fraud\n"), [], "no rows"),
    "label with three values": (
        lambda: (
            pl.read_csv("history.csv").with_columns(fraud=pl.int_range(pl.len()) % 3).write_csv("history.csv")
        ),
        [],
        "say which one is wanted",
    ),
    "nothing wanted": (lambda: _replace("fraud", 0), [], "at least one"),
    "everything wanted": (lambda: _replace("fraud", 1), [], "all"),
    "budget of zero": (lambda: None, ["--budget", "0"], "at least 1"),
    "budget that is no number": (lambda: None, ["--budget", "many"], "--budget"),
    "list column with nulls": (
        lambda: pl.read_csv("history.csv").with_columns(region=None).write_csv("history.csv"),
        ["--list", "region"],
        "region",
    ),
    "truncated Parquet": (_truncate_parquet, None, "damaged|truncated|not a"),
    "ragged rows": (lambda: Path("history.csv").write_text("a,b,fraud\n1,2,0\n1,2,3,4,5,1\n"), [], "line 3"),
    "missing file": (
        lambda: Path("history.csv").unlink(),
        [],
        "history",
    ),
    "unknown label column": (lambda: None, ["--label", "frud"], "fraud"),
    "unknown model": (lambda: None, ["--model", "logistics"], "Did you mean logistic"),
    "neither label nor impact": (lambda: None, "no label", "--label"),
    "column missing from the new rows": (
        lambda: pl.read_csv("new.csv").drop("amount").write_csv("new.csv"),
        [],
        "amount",
    ),
    "text where numbers were": (lambda: _replace("amount", "lots", "new.csv"), [], "amount"),
    "output with an unknown ending": (lambda: None, ["-o", "top.xyz"], "csv"),
    "output into a missing folder": (lambda: None, ["-o", "nowhere/top.csv"], "nowhere"),
    "duplicate ids": (lambda: _replace("claim_id", "C-1"), [], "C-1"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_a_message_and_code_2_and_leaves_no_file(shortlist, claims, case):
    spoil, extra, message = BAD_INPUT[case]
    spoil()
    arguments = [*RANK, *FAST]
    if case == "truncated Parquet":
        arguments[1], extra = "history.parquet", []
    if case == "neither label nor impact":
        arguments, extra = ["rank", "history.csv", "new.csv"], []
    before = sorted(path.name for path in claims.iterdir())
    done = shortlist(*arguments, *([] if "-o" in extra else ["-o", "top.csv"]), *extra)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert any(part in done.err for part in message.split("|")), done.err
    assert sorted(path.name for path in claims.iterdir()) == before


@pytest.mark.parametrize(("rows", "says"), [(7, "fewer than the budget of 301"), (0, "no new rows")])
def test_a_quiet_day_is_ranked_as_far_as_it_goes(shortlist, claims, rows, says):
    pl.read_csv("new.csv").head(rows).write_csv("new.csv")
    done = shortlist(*RANK, *FAST, "--budget", "301", "-o", "top.csv")
    assert done.code == 0, done.err
    assert says in done.err
    top = pl.read_csv("top.csv")
    assert top.height == rows
    assert {"rank", "claim_id", "score", "model_version", "amount"} <= {*top.columns}


def test_a_day_without_rows_is_told_where_no_budget_is_named(shortlist, claims):
    pl.read_csv("new.csv").clear().write_csv("new.csv")
    shortlist("train", "history.csv", *RANK[3:7], *FAST, "-o", "m.shortlist")
    for call in (("rank", *RANK[1:7], *FAST), ("score", "m.shortlist", "new.csv")):
        done = shortlist(*call, "-o", "top.csv", "--replace")
        assert (done.code, "there are no new rows, so the shortlist is empty." in done.err) == (0, True), (
            done.err
        )


def test_infinite_feature_is_refused_or_ranked_without_traceback(shortlist, claims):
    _replace("amount", float("inf"), "new.csv")
    done = shortlist(*RANK, *FAST)
    assert done.code in (0, 2)
    assert "Traceback" not in done.err


def test_the_program_runs_from_a_shell(claims):
    done = subprocess.run(
        [sys.executable, "-m", "shortlist", *RANK, *FAST],
        capture_output=True,
        text=True,
        check=False,
        cwd=claims,
    )
    assert done.returncode == 0
    assert "C-000" in done.stdout
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())  # no progress on a pipe
