"""Which columns of shortlists have moved."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from shortlist import monitor
from shortlist.workflow.monitor import columns as drift
from shortlist.workflow.monitor.columns import FALSE_LOOKS, column_drift


def shortlists(days, seed=0, moved=0.0, per_day=10):
    """Rows of so many days; those of a day have much in common, and later amounts are larger by ``moved``."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(days), per_day)
    of_day = rng.normal(size=days)[day]
    late = day >= days // 2
    return pl.DataFrame(
        {
            "claim": [f"{seed}-{i}" for i in range(day.size)],
            "day": [dt.date(2025, 1, 1) + dt.timedelta(int(each)) for each in day],
            "amount": of_day + rng.normal(size=day.size) + moved * late,
            "age": of_day - rng.normal(size=day.size),
            "shop": rng.choice(["north", "south", "west"], day.size),
            "story": [f"told {i}" for i in range(day.size)],
            "score": rng.normal(size=day.size),
        }
    )


def looked_at(lists):
    rows = lists.rename({name: f"column: {name}" for name in ("amount", "age", "shop", "story")})
    return column_drift(rows.with_columns(when=pl.col("day").cast(pl.Datetime("us"))))


def test_a_column_that_moved_is_named_with_what_changed():
    found, notes = looked_at(shortlists(60, moved=2.0))
    assert found.filter("moved")["column"].to_list() == ["amount"]
    assert "story" not in found["column"].to_list()  # every row has another one
    assert "'amount': its median was" in notes[0]
    assert "1 % of looks" in notes[0]


def test_a_look_in_a_hundred_is_a_false_alarm(monkeypatch):
    monkeypatch.setattr(drift, "_DEALS", 399)
    monkeypatch.setattr(drift, "FALSE_LOOKS", 0.05)  # a rate that so few looks can tell
    false = [looked_at(shortlists(30, seed))[0]["moved"].any() for seed in range(200)]
    assert FALSE_LOOKS == 0.01
    assert sum(false) <= 20  # ten are expected; by chance alone more than twenty in 0.1 % of cases


def test_of_categories_that_tie_those_of_the_first_runs_do_not_win():
    """Which of 25 shops are among the frequent ones must not depend on which rows come first."""
    rng = np.random.default_rng(0)
    when = [dt.datetime(2025, 1, 1) + dt.timedelta(days=day) for day in range(48) for _ in range(12)]
    rows = pl.DataFrame({"when": when, "column: shop": rng.choice([f"shop-{i:02}" for i in range(25)], 576)})
    index = {column_drift(each)[0]["stability index"][0] for each in (rows, rows.reverse())}
    assert len(index) == 1


def test_few_runs_tell_nothing():
    found, notes = looked_at(shortlists(11))
    assert (found.height, notes) == (0, ())


@pytest.mark.parametrize("moved", [0.0, 3.0])
def test_monitor_tells_in_notes_page_and_metrics(moved):
    lists = shortlists(40, moved=moved)
    known = lists.select("claim", fraud=pl.int_range(pl.len()) % 2)
    result = monitor(lists, outcomes=known, id="claim", label="fraud", time="day", promise=0.5)
    assert any("moved between the first" in note for note in result.notes) == (moved > 0)
    assert result.metrics()["columns_moved"] == (moved > 0)
    (sheet,) = [sheet for sheet in result.page().sheets if sheet.title == "Columns that moved"]
    assert sheet.frame.height == 3
