import polars as pl
import pytest

from shortlist.feedback.strategies.catalogue import DEFAULT_STRATEGY, STRATEGIES

SIMULATE = [
    "simulate",
    "history.csv",
    "--label",
    "fraud",
    "--id",
    "claim_id",
    "--budget",
    "30",
    "--trees",
    "30",
]


def test_figures_for_programs(run_json, claims):
    result = run_json(*SIMULATE, "--strategy", "similarity, omd,offline")
    assert (result["rows"], result["budget"]) == (600, 30)
    assert [each["strategy"] for each in result["strategies"]] == ["similarity", "omd", "offline"]
    frauds = set(pl.read_csv("history.csv").filter(pl.col("fraud") == 1)["claim_id"])
    for each in result["strategies"]:
        name = each["strategy"]
        found = [claim in frauds for claim in result["reviewed"][name]]
        assert each["found"] == sum(found) == result["hits"][name][-1]
        assert each["precision"] == pytest.approx(sum(found) / 30)
    assert result["hits"]["chance"][-1] == pytest.approx(30 * result["wanted"] / 600)


def test_a_chart_for_people(shortlist, claims):
    done = shortlist(*SIMULATE, "--strategy", "similarity,offline", "--plot", "found.svg")
    assert done.code == 0, done.err
    assert "● similarity  ▲ offline  ■ chance" in done.out
    assert "of 600 rows are wanted" in done.out
    assert (claims / "found.svg").read_text().count("<polyline") == 3
    assert shortlist(*SIMULATE, "--strategy", "offline", "--plot", "found.html").code == 0
    assert (claims / "found.html").read_text().startswith("<!doctype html>")


def test_the_order_of_rows_does_not_matter_to_how_many_are_wanted(run_json, claims):
    first = run_json(*SIMULATE, "--strategy", "offline", "--seed", "3")
    assert first["reviewed"] == run_json(*SIMULATE, "--strategy", "offline", "--seed", "3")["reviewed"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--strategy", "luck"], "no strategy 'luck'"),
        (["--plot", "found.png"], ".svg or .html"),
        (["--label", "frod"], "frod"),
    ],
)
def test_bad_input_is_explained(shortlist, claims, change, message):
    done = shortlist(*SIMULATE, *change)
    assert done.code == 2
    assert message in done.err


def test_a_label_is_needed(shortlist, claims):
    done = shortlist("simulate", "history.csv")
    assert done.code == 2
    assert "--label" in done.err


def test_every_strategy_is_shown_for_review_and_simulate_alike(shortlist):
    for command in ("review", "simulate"):
        told = " ".join(shortlist(command, "--help").out.replace("│", " ").split())
        assert "'list' shows them all" in told
        shown = shortlist(command, "rows.csv", "--strategy", "list").out
        assert all(f" {name} " in shown for name in STRATEGIES)
    assert f"default: {DEFAULT_STRATEGY}" in " ".join(
        shortlist("review", "--help").out.replace("│", " ").split()
    )


def test_a_budget_beyond_the_rows_plays_them_all(shortlist, run_json, claims):
    pl.read_csv("history.csv").head(60).write_csv("history.csv")
    assert run_json(*SIMULATE, "--budget", "61")["budget"] == 60
