import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Lists
from shortlist.tables import Roles
from shortlist.tables.table import read_facts
from shortlist.workflow.history.measures import budgets_up_to, looked_at
from shortlist.workflow.history.splits import folds, walk_forward

DAYS = np.datetime64("2024-01-01", "us") + np.arange(400) * np.timedelta64(1, "D")


@given(
    st.lists(st.integers(0, 200), min_size=20, max_size=80).filter(lambda days: max(days) - min(days) > 15),
    st.sampled_from([None, "day", "week", "month", "2 weeks", "quarter"]),
    st.sampled_from([0, 1.5, 10]),
)
def test_nothing_is_learned_from_the_period_or_later(days, every, delay):
    time = np.datetime64("2024-03-05T13:00", "us") + np.array(days) * np.timedelta64(1, "D")
    try:
        splits = walk_forward(time, every=every, delay=delay)
    except InvalidInputError as error:
        assert "one period" in str(error)  # noqa: PT017
        return
    tested = np.concatenate([split.test for split in splits])
    assert tested.size == np.unique(tested).size
    for split in splits:
        if split.train.size:
            reach = time[split.test].min() - time[split.train].max()
            assert reach > np.timedelta64(0, "us")
            late = time[split.train] < np.datetime64(split.name).astype("datetime64[us]") - np.timedelta64(
                int(delay * 24), "h"
            )
            assert late.all()


@pytest.mark.parametrize(("every", "first", "count"), [("month", "2024-04", 11), ("week", "2024-03-25", 46)])
def test_calendar_periods(every, first, count):
    splits = walk_forward(DAYS, every=every)
    assert (splits[0].name, len(splits)) == (first, count)
    assert splits[0].train.size == (np.datetime64(splits[0].name) > DAYS).sum()


def test_weeks_begin_on_monday():
    assert {dt.date.fromisoformat(split.name).weekday() for split in walk_forward(DAYS, every="week")} == {0}


def test_years_as_numbers_are_periods():
    splits = walk_forward(np.array([1994, 1994, 1995, 1996]))
    assert [(split.name, split.train.size) for split in splits] == [("1995", 2), ("1996", 3)]


def test_numbers_are_cut_by_length_or_into_ten():
    seconds = np.arange(1000)
    assert [s.name for s in walk_forward(seconds, every=250)] == ["250", "500", "750"]
    assert len(walk_forward(seconds)) == 8


@pytest.mark.parametrize(
    ("time", "every", "words"),
    [
        (DAYS, "fortnight", "no period"),
        (DAYS, "0 days", "no period"),
        (np.arange(9), "week", "number"),
        (np.arange(9), "-1", "number"),
        (DAYS, "20 years", "one period"),
        (np.zeros(5), None, "one period"),
    ],
)
def test_bad_periods_get_advice(time, every, words):
    with pytest.raises(InvalidInputError, match=words):
        walk_forward(time, every=every)


def test_bad_delay():
    with pytest.raises(InvalidInputError, match="delay"):
        walk_forward(DAYS, delay=-1)


def facts(groups=None, wanted=20):
    frame = pl.DataFrame({"y": [i < wanted for i in range(100)], "list": groups or ["a"] * 100})
    return read_facts(frame, Roles(label="y", list="list" if groups else None))


def test_folds_keep_lists_whole():
    lists = [f"storm {i // 7}" for i in range(100)]
    for split in folds(facts(lists)):
        assert not {lists[i] for i in split.train} & {lists[i] for i in split.test}


def test_folds_share_out_the_wanted_rows():
    known = facts()
    assert [int(known.wanted[split.test].sum()) for split in folds(known)] == [4] * 5


def test_fewer_wanted_rows_fewer_folds():
    assert len(folds(facts(wanted=3))) == 3
    with pytest.raises(InvalidInputError, match="two wanted"):
        folds(facts(wanted=1))
    with pytest.raises(InvalidInputError, match="one list"):
        folds(facts(["a"] * 100))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 10))
def test_looked_at_is_the_mean_over_orders_of_ties(values, budget):
    score = np.array(values, dtype=float)
    share = looked_at(score, budget, Lists.single(score.size))
    assert share.sum() == pytest.approx(min(budget, score.size))
    for value in np.unique(score):
        above, tied = (score > value).sum(), (score == value).sum()
        expected = np.clip((budget - above) / tied, 0, 1)
        np.testing.assert_allclose(share[score == value], expected)


def test_budgets_rise_to_the_end():
    budgets = budgets_up_to(1000)
    assert (budgets[0], budgets[-1]) == (1, 1000)
    assert (np.diff(budgets) > 0).all()
