import polars as pl
import pytest

from shortlist.datasets import make_outages
from shortlist.rankers.catalogue import MODELS

RANK = [
    "rank",
    "storms.csv",
    "next_storm.csv",
    "--impact",
    "customers_out",
    "--list",
    "storm",
    "--budget",
    "10",
]
PAPER = [
    "cs-mart", "cr-mart", "lambda-mart", "cs-coordinate-ascent", "cr-coordinate-ascent", "coordinate-ascent",
    "cs-ada-rank", "ada-rank", "rank-net", "cr-rank-net", "list-net", "cr-list-net", "log-regression",
]  # fmt: skip


@pytest.fixture
def storms(tmp_path, monkeypatch):
    """Past storms with their outages and the next storm without."""
    monkeypatch.chdir(tmp_path)
    outages = make_outages(9, random_state=0).drop("network")
    last = pl.col("storm") == outages["storm"][-1]
    outages.filter(~last).write_csv("storms.csv")
    outages.filter(last).drop("customers_out").write_csv("next_storm.csv")
    return outages


def rewrite(file, **columns):
    pl.read_csv(file).with_columns(**columns).write_csv(file)


def test_cs_mart_ranks_the_next_storm(run_json, storms):
    result = run_json(*RANK, "--model", "cs-mart")
    assert result["model"] == "cs-mart"
    assert [row["rank"] for row in result["rows"]] == list(range(1, 11))
    scores = [row["score"] for row in result["rows"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("model", PAPER)
def test_every_model_of_the_paper_is_offered_and_learns_from_impacts(model):
    assert MODELS[model].learns_from == "impact"


def test_model_list_names_them_all(shortlist):
    done = shortlist("rank", "--model", "list")
    assert done.code == 0
    assert all(model in done.out for model in PAPER)


def refused(done, *words):
    assert done.code == 2
    assert "Traceback" not in done.err
    assert all(word in done.err for word in words), done.err


def test_a_negative_impact_is_refused(shortlist, storms):
    rewrite("storms.csv", customers_out=-1)
    refused(shortlist(*RANK, "--model", "cs-mart"), "customers_out", "negative")


def test_a_missing_impact_is_refused(shortlist, storms):
    first = pl.int_range(pl.len()) == 0
    rewrite("storms.csv", customers_out=pl.when(~first).then(pl.col("customers_out")))
    refused(shortlist(*RANK, "--model", "cs-mart"), "customers_out")


def test_an_impact_that_is_not_a_number_is_refused(shortlist, storms):
    rewrite("storms.csv", customers_out=pl.lit("NaN"))
    refused(shortlist(*RANK, "--model", "cs-mart"), "customers_out")


def test_a_list_column_that_is_missing_from_the_new_rows_is_refused(shortlist, storms):
    pl.read_csv("next_storm.csv").drop("storm").write_csv("next_storm.csv")
    refused(shortlist(*RANK, "--model", "cs-mart"), "storm")


def test_no_impact_at_all_is_refused(shortlist, storms):
    rewrite("storms.csv", customers_out=0)
    refused(shortlist(*RANK, "--model", "cs-mart"), "impact")


def test_a_misspelt_model_gets_a_hint(shortlist, storms):
    refused(shortlist(*RANK, "--model", "cs-mrat"), "Did you mean cs-mart")
