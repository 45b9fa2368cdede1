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


@pytest.mark.parametrize("outcomes", [(), ("--outcomes", "outcomes.csv", "--id", "claim_id")])
def test_of_a_day_without_rows_nothing_is_measured(shortlist, run_json, scored, outcomes):
    scored.select("claim_id", "fraud").write_csv("outcomes.csv")
    scored.clear().write_csv("scored.csv")
    done = shortlist(*EVALUATE, *outcomes)
    assert (done.code, done.out) == (0, "")
    assert done.err == "note: the ranking has no rows, as on a quiet day, so there is nothing to measure."
    told = run_json(*EVALUATE, *outcomes)
    assert (told["rows"], told["rankings"], len(told["notes"])) == (0, [], 1)
    assert shortlist(*EVALUATE, *outcomes, "-o", "measures.csv").code == 0
    assert pl.read_csv("measures.csv").columns == ["measure"]


def test_lists_are_looked_at_one_by_one(run_json, scored):
    ours, chance = run_json(*EVALUATE, "--list", "day", "--budget", "1")["rankings"]
    assert ours["found"] == 2
    assert chance["found"] == pytest.approx(1 / 2 + 1 / 3)


def test_outcomes_from_another_file(run_json, scored):
    direct = run_json(*EVALUATE)
    scored.select("claim_id", "fraud").reverse().write_csv("outcomes.csv")
    scored.drop("fraud").write_csv("scored.csv")
    assert run_json(*EVALUATE, "--outcomes", "outcomes.csv", "--id", "claim_id") == direct


def test_a_shortlist_is_compared_with_the_base_rate_of_all_outcomes(run_json, scored):
    scored.select("claim_id", "fraud").write_csv("outcomes.csv")
    scored.drop("fraud").head(2).write_csv("scored.csv")
    ours, chance = run_json(*EVALUATE, "--outcomes", "outcomes.csv", "--id", "claim_id")["rankings"]
    assert (ours["found"], ours["precision"], ours["recall"]) == (1, 0.5, 0.5)
    assert (chance["found"], chance["precision"], chance["recall"]) == pytest.approx(
        (2 * 2 / 5, 2 / 5, 2 / 5)
    )
    # A budget beyond the shortlist looks at no row that nobody listed, and chance gets no more rows either.
    more = run_json(*EVALUATE, "--outcomes", "outcomes.csv", "--id", "claim_id", "--budget", "4")
    assert (more["budget"], more["rankings"][0]["found"]) == (2, 1)
    assert more["rankings"][1]["found"] == chance["found"]


def test_outcomes_of_listed_rows_alone_tell_nothing_of_all(shortlist, scored):
    scored.select("claim_id", "fraud").head(2).write_csv("outcomes.csv")
    scored.drop("fraud").head(2).write_csv("scored.csv")
    done = shortlist(*EVALUATE, "--outcomes", "outcomes.csv", "--id", "claim_id")
    assert "cannot be known from them" in done.err


def test_a_budget_beyond_the_rows_looks_at_all(run_json, scored):
    result = run_json(*EVALUATE, "--budget", "6")
    assert (result["budget"], result["rankings"][0]["recall"]) == (5, 1.0)


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


def test_counts_of_rows_that_tie_are_told_as_people_say_them(shortlist, run_json, tmp_path):
    path = tmp_path / "tied.csv"
    pl.DataFrame({"score": [1.0] * 30 + [0.0] * 70, "fraud": ([1, 1, 0] * 10) + [0] * 70}).write_csv(path)
    asked = ["evaluate", path, "--label", "fraud", "--budget", "16"]
    assert run_json(*asked)["rankings"][0]["found"] == pytest.approx(16 * 20 / 30)
    line = next(line for line in shortlist(*asked).out.splitlines() if "found" in line)
    assert [cell.strip() for cell in line.strip("│ ").split("│")] == ["found", "about 11", "about 3"]


def test_counts_that_are_whole_stay_whole(shortlist, scored):
    line = next(line for line in shortlist(*EVALUATE).out.splitlines() if "found" in line)
    assert [cell.strip() for cell in line.strip("│ ").split("│")] == ["found", "1", "about 0.8"]
