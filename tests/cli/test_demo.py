import polars as pl


def test_demo_tells_the_whole_story(shortlist, tmp_path):
    done = shortlist("demo", "--folder", tmp_path / "demo", "--model", "logistic")
    assert done.code == 0
    assert "synthetic" in done.out
    assert "sorted by amount" in done.out
    shortlist_csv = pl.read_csv(tmp_path / "demo" / "shortlist.csv")
    assert shortlist_csv.height == 50
    assert "fraud" not in shortlist_csv.columns
    assert pl.read_csv(tmp_path / "demo" / "new.csv").height == 5_000


def test_demo_beats_chance_and_sorting_by_amount(run_json, tmp_path):
    ours, by_amount, chance = run_json("demo", "--folder", tmp_path)["rankings"]
    assert ours["precision"] > by_amount["precision"] > chance["precision"]
