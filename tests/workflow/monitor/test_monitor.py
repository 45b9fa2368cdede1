"""Monitoring tells what runs found, what was promised, and what cannot be known."""

import datetime as dt
import json

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError, SchemaError, ShortlistError
from shortlist.workflow import monitor
from shortlist.workflow.monitor.alarms import spread_of
from shortlist.workflow.monitor.monitor import watch
from shortlist.workflow.monitor.runs import Daily

ASK = {"id": "claim", "label": "fraud", "time": "day"}


def year(share_of_day, seed=0, per_day=50, rows_a_day=200):
    """All rows of each day; the first ``per_day`` of a day are its shortlist."""
    rng = np.random.default_rng(seed)
    days = np.repeat(np.arange(len(share_of_day)), rows_a_day)
    place = np.tile(np.arange(rows_a_day), len(share_of_day))
    listed = place < per_day
    chance = np.where(listed, np.asarray(share_of_day)[days], 0.02)
    return pl.DataFrame(
        {
            "claim": [f"C-{i}" for i in range(days.size)],
            "day": [dt.date(2025, 1, 1) + dt.timedelta(days=int(day)) for day in days],
            "score": -place.astype(float),
            "expected_precision": np.full(days.size, 0.4),
            "model_version": np.where(days < 60, "one", "two"),
            "amount": rng.lognormal(3, 1, days.size),
            "fraud": (rng.random(days.size) < chance).astype(int),
            "listed": listed,
        }
    )


@pytest.fixture(scope="module")
def rows():
    return year([0.4] * 70 + [0.2] * 30)


@pytest.fixture(scope="module")
def lists(rows):
    return rows.filter("listed").drop("fraud", "listed")


@pytest.fixture(scope="module")
def result(rows, lists):
    outcomes = rows.select("claim", "day", "fraud")
    return monitor(lists, outcomes=outcomes, **ASK, impact="amount", promise=0.4, complete=True)


def test_a_run_is_not_compared_with_its_own_best_rows(lists, rows):
    """Alike runs show no drift of scores, one run none at all."""
    outcomes = rows.select("claim", "fraud")
    first, alike = (
        lists.filter(pl.col("day") == pl.col("day").min()),
        lists.filter(pl.col("day") < dt.date(2025, 1, 9)),
    )
    assert monitor(first, outcomes=outcomes, **ASK, promise=0.4).periods["score drift"].to_list() == [None]
    drift = monitor(alike, outcomes=outcomes, **ASK, promise=0.4, every="day").periods["score drift"]
    assert drift.drop_nulls().len() == 6
    assert drift.max() < 0.1


def test_what_nobody_promised_is_not_called_a_promise(lists, rows):
    first = lists.filter(pl.col("day") == pl.col("day").min())
    answer = monitor(first, outcomes=rows.select("claim", "fraud"), **ASK).answer
    assert "rows looked at in one run were wanted" in answer
    assert "no precision was promised, so later runs are held to" in answer


def test_figures_agree_with_counting_by_hand(rows, result):
    listed, row = rows.filter("listed"), result.table.row(0, named=True)
    assert (row["runs"], row["outcomes"], row["found"]) == (100, 5_000, listed["fraud"].sum())
    assert row["precision"] == pytest.approx(listed["fraud"].mean())
    assert row["recall"] == pytest.approx(listed["fraud"].sum() / rows["fraud"].sum())
    assert row["base rate"] == pytest.approx(rows["fraud"].mean())
    assert row["value found"] == pytest.approx((listed["fraud"] * listed["amount"]).sum())
    assert row["expected"] == pytest.approx(0.4)
    week = listed.filter(pl.col("day").is_between(dt.date(2025, 1, 6), dt.date(2025, 1, 12)))
    period = result.periods.row(by_predicate=pl.col("period") == "2025-01-06", named=True)
    assert (period["found"], period["rows"]) == (week["fraud"].sum(), week.height)
    assert result.periods["found"].sum() == row["found"]


def test_a_fall_raises_an_alarm_within_its_delay_and_not_before(result):
    ringing = result.alarms.filter(pl.col("to").is_null())
    assert ringing["alarm"].to_list() == [
        "fewer found than promised",
        "fewer found than promised for such days",
    ]
    change = dt.date(2025, 1, 1) + dt.timedelta(days=70)
    assert all(change <= day <= change + dt.timedelta(days=10) for day in ringing["from"])
    assert "Alarm since" in result.answer


def test_chances_that_are_too_high_in_general_are_no_alarm(rows, lists):
    even = rows.filter(pl.col("day") < dt.date(2025, 3, 1))
    high = lists.filter(pl.col("day") < dt.date(2025, 3, 1)).with_columns(expected_precision=pl.lit(0.7))
    found = monitor(high, outcomes=even.select("claim", "fraud"), **ASK, promise=0.4)
    assert found.table["expected"][0] == pytest.approx(0.7)
    assert found.alarms.is_empty()


def test_an_alarm_does_not_say_that_less_was_found_than_the_model_expected_where_more_was(rows, lists):
    low = lists.with_columns(expected_precision=pl.lit(0.05))
    found = monitor(low, outcomes=rows.select("claim", "fraud"), **ASK, promise=0.8)
    assert found.table["precision"][0] > found.table["expected"][0]
    assert found.alarms.height >= 2
    assert "expected" not in found.answer


def test_random_checks_stand_for_the_rows_nobody_looked_at(rows, lists, result):
    rng = np.random.default_rng(5)
    checked = ~rows["listed"].to_numpy() & (rng.random(rows.height) < 0.25)
    seen = rows.with_columns(chance=pl.Series(np.where(checked, 0.25, np.nan))).filter(
        pl.Series(checked) | pl.col("listed")
    )
    found = monitor(lists, outcomes=seen.select("claim", "day", "fraud", "chance"), **ASK, checked="chance")
    row, truth = found.table.row(0, named=True), result.table["recall"][0]
    assert row["recall low"] < truth < row["recall high"]
    assert row["base rate"] == pytest.approx(rows["fraud"].mean(), rel=0.1)


def test_without_checks_recall_cannot_be_known(rows, lists):
    seen = rows.filter("listed").select("claim", "fraud")
    found = monitor(lists, outcomes=seen, **ASK, promise=0.4)
    assert "recall" not in found.table.columns
    assert any("cannot be known" in note for note in found.notes)
    page = found.page()
    assert not any(chart.title == "Recall" for chart in page.charts)


def test_runs_that_wait_for_outcomes_are_marked_and_raise_no_alarm(rows, lists):
    late = rows.with_columns(
        fraud=pl.when(pl.col("day") < dt.date(2025, 3, 1)).then(pl.col("fraud")).otherwise(None)
    )
    found = monitor(lists, outcomes=late.select("claim", "fraud"), **ASK, promise=0.4, every="month")
    assert found.periods["state"].to_list() == ["whole", "whole", "waits for outcomes", "waits for outcomes"]
    assert found.alarms.is_empty()
    drawn = next(chart for chart in found.page().charts if chart.title == "Precision").lines[0].values
    assert [value is None for value in drawn] == [False, False, True, True]


def test_every_figure_by_period_is_drawn_with_its_interval(result):
    drawn = {chart.title: chart.lines[0] for chart in result.page().charts}
    for title in ("Precision", "Recall", "Value found"):
        line = drawn[title]
        shown = [each for each in zip(line.low, line.values, line.high, strict=True) if None not in each]
        assert shown
        assert all(low <= value <= high for low, value, high in shown)


def test_a_period_that_still_runs_is_not_drawn(result):
    assert result.periods["state"].to_list()[-1] == "still running"


def test_versions_show_the_way_back(rows, lists, result):
    assert result.versions["model version"].to_list() == ["two", "one"]
    assert result.versions["to"].to_list()[1] == dt.date(2025, 3, 1)
    now, before = (f"{share:.0%}".replace("%", " %") for share in result.versions["precision"])
    told = (
        f"version two finds {now}, and one before it found {before}. The way back is to score with the file"
    )
    assert any(note.startswith(told) for note in result.notes)
    even = monitor(lists, outcomes=rows.select("claim", "day", "fraud"), **ASK, promise=0.2, complete=True)
    assert not any("The way back" in note for note in even.notes), "no alarm rings"


def test_the_worth_of_rows_may_be_the_value_that_they_were_ranked_by(rows, lists, result):
    outcomes = rows.select("claim", "day", "fraud")
    by_value = monitor(lists, outcomes=outcomes, **ASK, value="amount", promise=0.4, complete=True)
    assert by_value.table.equals(result.table)


def test_champion_and_challenger_on_the_same_days(rows, lists):
    worse = rows.filter(pl.col("claim").is_in(lists["claim"].implode()).not_()).filter(pl.col("score") > -100)
    found = monitor(
        lists,
        outcomes=rows.select("claim", "fraud"),
        **ASK,
        promise=0.4,
        challenger=worse.drop("fraud", "listed"),
    )
    champion, challenger = found.challenger["found"].to_list()
    assert champion > challenger
    assert any(f"the challenger found {challenger - champion:+,}" in note for note in found.notes)


def test_files_of_days_grow_the_page_by_a_run(rows, lists, tmp_path, shortlist_cli):
    rows.select("claim", "fraud").write_csv(tmp_path / "outcomes.csv")
    for count in (40, 41):
        for (day,), part in lists.partition_by("day", as_dict=True).items():
            if day < dt.date(2025, 1, 1) + dt.timedelta(days=count):
                part.drop("day").write_csv(tmp_path / f"shortlist-{day}.csv")
        figures = shortlist_cli(
            *("monitor", f"{tmp_path}/shortlist-*.csv", "--outcomes", f"{tmp_path}/outcomes.csv"),
            *("--id", "claim", "--label", "fraud", "--report", f"{tmp_path}/monitor.html"),
            *("--metrics", f"{tmp_path}/shortlist.prom"),
        )
        assert len(figures["runs"]) == count
    prom = (tmp_path / "shortlist.prom").read_text()
    assert "# TYPE shortlist_precision gauge\nshortlist_precision 0." in prom
    assert f"shortlist_found {figures['table'][0]['found']}\n" in prom
    assert "What the first 30 runs found".lower() in figures["setup"]["promise"].lower()
    page = (tmp_path / "monitor.html").read_text()
    assert str(dt.date(2025, 2, 10)) in page


@pytest.fixture
def shortlist_cli(monkeypatch, capsys):
    import sys

    from shortlist.cli._app import main

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["shortlist", *arguments, "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_the_promise_may_be_that_of_a_backtest(rows, lists, tmp_path):
    figures = {"setup": {"models": ["logistic"]}, "table": [{"ranking": "amount desc", "precision": 0.9}]}
    figures["table"].append({"ranking": "logistic", "precision": 0.375})
    (tmp_path / "compare.json").write_text(json.dumps(figures))
    with pytest.raises(InvalidInputError, match="no figures of a backtest"):
        monitor(lists, outcomes=rows.select("claim", "fraud"), **ASK, promise=tmp_path / "compare.html")
    (tmp_path / "backtest.json").write_text(json.dumps({**figures, "reach": []}))
    found = monitor(lists, outcomes=rows.select("claim", "fraud"), **ASK, promise=tmp_path / "backtest.html")
    assert found.table["promised"][0] == 0.375


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"promise": 1.5}, InvalidInputError, "between 0 and 1"),
        ({"promise": "nowhere.html"}, InvalidInputError, "no figures of a backtest"),
        ({"label": "frod"}, SchemaError, "'frod'"),
        ({"id": "row"}, SchemaError, "'row'"),
        ({"time": "when"}, SchemaError, "'when'"),
        (
            {"value": "amnt"},
            SchemaError,
            "the value column 'amnt' is neither in the shortlists nor in the outcomes",
        ),
        ({"impact": "amnt"}, SchemaError, "the impact column 'amnt'"),
        ({"checked": "amount"}, InvalidInputError, "above 0 and at most 1"),
    ],
)
def test_what_cannot_be_is_told(rows, lists, change, error, message):
    outcomes = rows.select("claim", "day", "fraud", "amount").with_columns(row=1)
    with pytest.raises(error, match=message):
        monitor(lists, outcomes=outcomes, **(ASK | change))


def test_recall_by_period_counts_outcomes_in_the_periods_of_the_shortlists():
    # Outcomes reach back for years: a unit that is chosen for them would not be that of the shortlists.
    rows = year([0.4] * 60)
    old = year([0.4] * 900).with_columns(
        pl.format("old {}", "claim").alias("claim"), pl.col("day").dt.offset_by("-900d")
    )
    outcomes = pl.concat([old, rows]).select("claim", "day", "fraud")
    lists = rows.filter("listed").drop("fraud", "listed")
    found = monitor(lists, outcomes=outcomes, **ASK, promise=0.4, complete=True)
    week = rows.filter(pl.col("day").is_between(dt.date(2025, 1, 6), dt.date(2025, 1, 12)))
    period = found.periods.row(by_predicate=pl.col("period") == "2025-01-06", named=True)
    assert period["recall"] == pytest.approx(week.filter("listed")["fraud"].sum() / week["fraud"].sum())
    # What came up before the first run was not missed by any.
    assert found.table["recall"][0] == pytest.approx(
        rows.filter("listed")["fraud"].sum() / rows["fraud"].sum()
    )


def test_a_few_days_are_cut_into_days_whatever_the_hour_of_outcomes():
    rows = year([0.4] * 4)
    lists = rows.filter("listed").drop("fraud", "listed")
    outcomes = rows.select("claim", "fraud", day=pl.col("day").cast(pl.Datetime) + pl.duration(hours=9))
    found = monitor(lists, outcomes=outcomes, **ASK, promise=0.4, complete=True)
    assert found.periods["period"].to_list() == [f"2025-01-0{day}" for day in range(1, 5)]
    assert (found.periods["recall"] < 1).all()


def test_a_row_without_a_day_may_have_been_missed_in_any_period(rows, lists):
    undated = rows.select("claim", "fraud", day=pl.when(pl.col("claim") != "C-199").then(pl.col("day")))
    found = monitor(lists, outcomes=undated, **ASK, promise=0.4, complete=True)
    assert "recall" in found.table.columns
    assert "recall" not in found.periods.columns
    assert any("recall is told in all and not by period" in note for note in found.notes)


def test_the_stated_delay_grows_with_the_spread_of_runs():
    known, day = np.full(60, 50), np.datetime64("2025-01-01") + np.arange(60)

    def delay_of(found, known=known):
        daily = Daily(day, known, known, np.asarray(found), np.full(60, np.nan))
        return watch(daily, 0.4, 0)[2]["fewer found than promised"].delay

    alike, uneven = [20] * 60, [12, 28] * 30
    spread = spread_of(np.asarray(uneven), known)
    assert spread > 5
    assert delay_of(uneven) == np.ceil(delay_of(alike) * spread)
    # Beyond a year nothing is promised.
    assert delay_of([0, 5] * 30, known=np.full(60, 5)) is None


def one_day(expected, **columns):
    rows = pl.DataFrame({"claim": [f"C-{i}" for i in range(len(expected))], "expected_precision": expected})
    return rows.with_columns(**{"day": pl.lit(dt.date(2025, 1, 1)), **columns})


LATE_FIRST = pl.Series([dt.datetime(2025, 1, 1, hour) for hour in (18, 12, 6, 1)])


@pytest.mark.parametrize(
    "shortlist",
    [
        one_day([0.9, 0.8, 0.6, 0.45], day=LATE_FIRST),
        one_day([0.9, 0.8, 0.6, 0.45], day=LATE_FIRST, rank=pl.Series([1, 2, 3, 4])),
        one_day([0.45, 0.6, 0.8, 0.9], rank=pl.Series([4, 3, 2, 1])),
        one_day([0.9, 0.8, 0.3, 0.1], rank=pl.Series([1, 2, 1, 2])),
        one_day([0.9, 0.45, 0.45, 0.45], rank=pl.Series([1, 2, 3, 4])),
    ],
    ids=["times of day", "times of day and ranks", "upside down", "two lists", "ties"],
)
def test_what_the_model_expects_is_that_of_whole_lists(shortlist):
    outcomes = shortlist.select("claim", fraud=pl.Series([1, 0, 0, 1]))
    found = monitor(shortlist, outcomes=outcomes, **ASK, promise=0.4)
    assert found.table["expected"][0] == pytest.approx(0.45)
    assert found.periods["expected"].to_list() == pytest.approx([0.45])


def test_tied_rows_that_count_on_another_day_take_an_even_part_along():
    second = one_day([0.9, 0.5, 0.5], rank=pl.Series([1, 2, 3])).with_columns(day=pl.lit(dt.date(2025, 1, 2)))
    first = one_day([0.3, 0.3], claim=pl.Series(["C-1", "other"]), rank=pl.Series([1, 2]))
    shortlists = pl.concat([first, second], how="diagonal")
    outcomes = pl.DataFrame({"claim": ["C-0", "C-1", "C-2", "other"], "fraud": [1, 0, 0, 1]})
    found = monitor(shortlists, outcomes=outcomes, **ASK, promise=0.4, every="day")
    assert found.periods["expected"].to_list() == pytest.approx([0.3, (0.9 + 0.3) / 2])


def test_a_challenger_of_quiet_days_alone_is_not_compared(lists, rows):
    day = lists.filter(pl.col("day") == pl.col("day").min())
    alone = monitor(day, outcomes=rows.select("claim", "fraud"), **ASK, promise=0.4, challenger=day.clear())
    assert alone.challenger.is_empty()
    assert "every shortlist of the challenger is empty, so there is nothing to compare." in alone.notes


def test_quiet_days_end_well_for_a_scheduler(lists, rows, tmp_path, shortlist_cli):
    rows.select("claim", "fraud").write_csv(tmp_path / "outcomes.csv")
    day = lists.filter(pl.col("day") == pl.col("day").min()).drop("day")
    targets = [tmp_path / name for name in ("monitor.html", "shortlist.prom", "figures.csv")]
    call = (
        *(
            "monitor",
            f"{tmp_path}/shortlist-*.csv",
            "--outcomes",
            f"{tmp_path}/outcomes.csv",
            "--id",
            "claim",
        ),
        *("--label", "fraud", "--report", targets[0], "--metrics", targets[1], "-o", targets[2], "--replace"),
    )
    quiet = "without rows, as of a quiet day: 1 shortlist; nothing was ranked there."
    day.clear().write_csv(tmp_path / "shortlist-2025-01-01.csv")
    alone = shortlist_cli(*map(str, call))
    assert (
        alone["answer"] == "Every shortlist is empty: nothing was ranked, so there is nothing to measure yet."
    )
    assert (alone["notes"], alone["runs"]) == ([quiet], [])
    assert all(target.exists() for target in targets)
    assert "shortlist_found 0\n" in targets[1].read_text()
    day.write_csv(tmp_path / "shortlist-2025-01-02.csv")
    both = shortlist_cli(*map(str, call))
    assert (len(both["runs"]), both["notes"][0]) == (1, quiet)


def test_shortlists_that_cannot_be_measured_are_told_in_a_sentence():
    rows = one_day([0.9, 0.8]).with_columns(score=pl.Series([2.0, 1.0]))
    known = rows.select("claim", fraud=pl.Series([1, 0]))

    def refused(shortlists, message, **change):
        with pytest.raises(ShortlistError, match=message):
            monitor(shortlists, outcomes=known, **(ASK | {"promise": 0.4} | change))

    refused(rows.with_columns(score=pl.lit("high")), "'score' must hold numbers")
    refused(rows.with_columns(expected_precision=pl.lit("good")), "'expected_precision' must hold numbers")
    refused(rows.with_columns(day=pl.Series([dt.date(2025, 1, 1), None])), "'day' is empty in 1 row")
    refused(rows, "on which day", time=None)
    refused(rows, "no figures of a backtest", promise="0-5")


def test_outcomes_whose_time_holds_numbers_are_refused_too():
    lists = pl.DataFrame({"claim": ["a", "b"], "day": ["2025-07-01", "2025-07-02"]})
    known = pl.DataFrame({"claim": ["a", "b", "c"], "fraud": [1, 0, 1], "day": [1, 2, 2]})
    with pytest.raises(InvalidInputError, match="'day' holds numbers; monitoring needs dates"):
        monitor(lists, outcomes=known, id="claim", label="fraud", time="day", complete=True)
