import re
from pathlib import Path

import polars as pl
import xgboost

from shortlist.counts import about

README = Path(__file__).parents[2] / "README.md"


def test_demo_tells_the_whole_story(shortlist, tmp_path):
    done = shortlist("demo", "--folder", tmp_path / "demo", "--model", "logistic")
    assert done.code == 0
    assert "synthetic" in done.out
    assert "sorted by amount" in done.out
    found = next(line for line in done.out.splitlines() if "frauds found" in line)
    assert not re.search(r"\d\.\d\d", found), found  # nobody says 21.857 frauds
    assert "about 1.5" in found  # at random
    shortlist_csv = pl.read_csv(tmp_path / "demo" / "shortlist.csv")
    assert shortlist_csv.height == 50
    assert "fraud" not in shortlist_csv.columns
    assert pl.read_csv(tmp_path / "demo" / "new.csv").height == 5_000


def test_demo_with_a_model_that_knows_no_chances(shortlist, tmp_path):
    done = shortlist("demo", "--folder", tmp_path / "demo", "--model", "log-regression")
    assert done.code == 0, done.err
    assert "The 50 claims to look at first" in done.out


def test_demo_beats_chance_and_sorting_by_amount(run_json, tmp_path):
    told = run_json("demo", "--folder", tmp_path)
    ours, by_chance, by_amount, chance = told["rankings"]
    assert told["found"]["of"] == 50
    assert told["found"]["low"] <= ours["found"] <= told["found"]["high"]
    assert ours["precision"] > by_amount["precision"] > chance["precision"]
    assert ours["impact found"] > max(by_amount["impact found"], by_chance["impact found"])
    assert by_chance["found"] > ours["found"]  # what money costs in frauds
    if xgboost.__version__ == "3.2.0":  # later ones draw rows otherwise, and the README says so
        assert in_the_readme("frauds found") == [about(each["found"]) for each in told["rankings"]]
        assert in_the_readme("money found") == [f"{each['impact found']:,.0f}" for each in told["rankings"]]


def in_the_readme(measure):
    """The figures of a line of the README's table of the demo."""
    (line,) = re.findall(rf"^│ {measure} +│(.*)│$", README.read_text(), re.MULTILINE)
    return [figure.strip() for figure in line.split("│")]
