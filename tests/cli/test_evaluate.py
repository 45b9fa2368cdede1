import polars as pl
import pytest

EVALUATE = ["evaluate", "scored.csv", "--label", "fraud", "--budget", "2"]


@pytest.fixture
def scored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "claim_id": ["a", "b", "c", "d", "e"],
            "score": [0.9, 0.8, 0.3, 0.2, 0.1],
            "fraud": [1, 0, 1, 0, 0],
            "amount": [10.0, 500.0, 100.0, 7.0, 3.0],
            "day": ["mon", "mon", "tue", "tue", "tue"],
        }
    )
    frame.write_csv("scored.csv")
    return frame


def test_measures_by_hand(run_json, scored):
    result = run_json(*EVALUATE, "--impact", "amount", "--against", "amount")
    assert (result["rows"], result["wanted"]) == (5, 2)
    ours, by_amount, chance = result["rankings"]
    assert (ours["found"], ours["precision"], ours["recall"]) == (1, 0.5, 0.5)
    assert ours["average precision"] == pytest.approx((1 + 2 / 3) / 2)
    assert ours["impact found"] == 10
    assert ours["cost saved"] == pytest.approx(10 / (100 + 10 / 2))
    assert by_amount["impact found"] == 100
    assert chance["found"] == pytest.approx(2 * 2 / 5)
    assert chance["impact share"] == pytest.approx(2 / 5)


def test_lists_are_looked_at_one_by_one(run_json, scored):
    ours, chance = run_json(*EVALUATE, "--list", "day", "--budget", "1")["rankings"]
    assert ours["found"] == 2
    assert chance["found"] == pytest.approx(1 / 2 + 1 / 3)


def test_outcomes_from_another_file(run_json, scored):
    direct = run_json(*EVALUATE)
    scored.select("claim_id", "fraud").reverse().write_csv("outcomes.csv")
    scored.drop("fraud").write_csv("scored.csv")
    assert run_json(*EVALUATE, "--outcomes", "outcomes.csv", "--id", "claim_id") == direct


def test_a_table_for_people(shortlist, scored):
    done = shortlist(*EVALUATE)
    assert done.code == 0
    assert "2 of 5 rows are wanted" in done.out
    assert "average precision" in done.out


@pytest.mark.parametrize(
    ("change", "extra", "message"),
    [
        ({"score": pl.Series([1.0, None, 0.5, 0.4, 0.3])}, [], "NaN or infinite, the first in row 1"),
        ({"score": pl.Series([1.0, 0.6, float("inf"), 0.4, 0.3])}, [], "NaN or infinite, the first in row 2"),
        ({"score": pl.lit("high")}, [], "no numbers"),
        ({"fraud": 0}, [], "no row is wanted"),
        ({}, ["--score", "risk"], "'risk'"),
        ({}, ["--budget", "6"], "only 5 rows"),
        ({}, ["--outcomes", "scored.csv"], "--id"),
        ({}, ["--outcomes", "few.csv", "--id", "claim_id"], "1 of 5 scored rows have no outcome"),
        ({"amount": -1.0}, ["--impact", "amount"], "negative"),
    ],
)
def test_bad_input(shortlist, scored, change, extra, message):
    scored.with_columns(**change).write_csv("scored.csv")
    scored.head(4).write_csv("few.csv")
    done = shortlist(*EVALUATE, *extra)
    assert done.code == 2
    assert message in done.err
