import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.datasets import make_claims
from shortlist.models.profile import (
    Categories,
    Numbers,
    Profile,
    column_shifts,
    drift_notes,
    sample_rows,
    stability_index,
)
from shortlist.tables import Roles, load_table

ROLES = Roles(id="claim_id", label="fraud", time="date")


@pytest.fixture(scope="module")
def history():
    return load_table(make_claims(4_000, random_state=0), ROLES)


@pytest.fixture(scope="module")
def profile(history):
    return Profile.of(history.X, history.schema)


def new_rows(history, **changes):
    frame = make_claims(2_000, random_state=1).with_columns(**changes)
    return load_table(frame, ROLES, schema=history.schema, labelled=False)


def notes_on(table, profile):
    return drift_notes(table, profile, profile.shifts(table.X, table.schema))


def test_survives_json(profile):
    assert Profile.from_dict(json.loads(json.dumps(profile.to_dict()))) == profile


@pytest.mark.parametrize("column", ["amount", "previous_claims", "days_to_report"])
def test_shares_agree_with_counting(history, profile, column):
    at = history.schema.columns.index(column)
    values = history.X[:, at][~np.isnan(history.X[:, at])].astype(float)
    numbers = profile.columns[at].numbers
    for value in np.quantile(values, np.linspace(0, 1, 301)):
        for told, true in (
            (numbers.share_below(value), np.mean(values < value)),
            (numbers.share_above(value), np.mean(values > value)),
        ):
            assert told <= true + 1e-12
            assert told >= true - (0.011 if true > 0.8 else 0.051)


def test_equal_values_are_neither_below_nor_above():
    numbers = Numbers.of(np.repeat([0.0, 1.0, 2.0, 3.0], [90, 5, 2, 3]))
    assert [numbers.share_below(x) for x in (1.0, 1.5, 2.0, 3.0)] == [0.9, 0.95, 0.95, 0.97]
    assert numbers.share_above(0.0) == pytest.approx(0.1)


def test_a_spread_that_others_join_is_that_of_all():
    rng = np.random.default_rng(0)
    first, more = rng.poisson(2, 300).astype(float), rng.poisson(3, 200).astype(float)
    joined = Numbers.of(first).joined(pl.Series(more), first.size)
    both = np.concatenate([first, more])
    for value in range(12):
        assert joined.share_below(value) <= np.mean(both < value) + 1e-12
    assert joined.share_below(2.0) == pytest.approx(np.mean(both < 2))
    values = Categories.of(pl.Series(["a", "b"])).joined(pl.Series(["b", "c", "b"]), 2)
    assert values.shares == {"b": 0.6, "a": 0.2, "c": 0.2}


def test_values_beyond_history_are_beyond_all(profile, history):
    amount = profile.columns[history.schema.columns.index("amount")].numbers
    assert (amount.share_below(1e9), amount.share_above(1e9)) == (1, 0)
    assert (amount.share_below(-1.0), amount.share_above(-1.0)) == (0, 1)


def test_stability_index_by_hand():
    p, q = np.array([50.5, 50.5]) / 101, np.array([80.5, 20.5]) / 101
    assert stability_index(np.array([50, 50]), np.array([80, 20])) == pytest.approx(
        np.sum((q - p) * np.log(q / p))
    )


def test_like_rows_give_no_notes(history, profile):
    assert notes_on(new_rows(history), profile) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"amount": pl.col("amount") * 5}, "its median is"),
        ({"region": pl.lit("north")}, "'north' is 100 % of the rows"),
        ({"driver_age": pl.lit(None, dtype=pl.Int64)}, "100 % of its values are missing"),
        ({"police_report": pl.lit(True)}, "police_report"),
    ],
)
def test_a_shift_is_told_in_words(history, profile, changes, words):
    new = new_rows(history, **changes)
    (note,) = notes_on(new, profile)
    assert words in note
    shifts = column_shifts(profile.shifts(new.X, new.schema))
    assert shifts["column"][0] == next(iter(changes))


def test_many_shifts_are_summed_up(history, profile):
    changes = {
        c: pl.col(c) * 5 + 50 for c in ("amount", "driver_age", "vehicle_age", "witnesses", "policy_age_days")
    }
    notes = notes_on(new_rows(history, **changes, region=pl.lit("north"), channel=pl.lit("web")), profile)
    assert len(notes) == 6
    assert "2 more columns" in notes[-1]


def test_few_rows_say_nothing(history, profile):
    frame = make_claims(20, random_state=3).with_columns(region=pl.lit("north"))
    table = load_table(frame, ROLES, schema=history.schema, labelled=False)
    assert notes_on(table, profile) == []


def test_sample_is_spread_over_all_rows():
    rows = sample_rows(1_000_000)
    assert (rows[0], rows[-1], rows.size) == (0, 999_999, 50_000)
    assert sample_rows(3).tolist() == [0, 1, 2]


@given(
    first=st.lists(st.integers(-20, 20), min_size=1, max_size=60),
    more=st.lists(st.integers(-40, 40), max_size=60),
)
def test_what_is_usual_holds_numbers_that_have_joined(first, more):
    spread = Numbers.of(np.array(first, dtype=float)).joined(pl.Series(more, dtype=pl.Float64), len(first))
    low, high = spread.usual
    numbers = np.array(first + more, dtype=float)
    assert np.mean(numbers < low) <= 0.05
    assert np.mean(numbers > high) <= 0.05
    for value in (low, high, numbers.min(), numbers.max()):
        assert spread.share_below(value) == pytest.approx(np.mean(numbers < value))
        assert spread.share_above(value) == pytest.approx(np.mean(numbers > value))
