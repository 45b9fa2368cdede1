import json

import numpy as np
import polars as pl
import pytest

from shortlist.datasets import make_claims
from shortlist.models.profile import Profile, column_shifts, drift_notes, sample_rows, stability_index
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


def test_survives_json(profile):
    assert Profile.from_dict(json.loads(json.dumps(profile.to_dict()))) == profile


@pytest.mark.parametrize("column", ["amount", "previous_claims", "days_to_report"])
def test_shares_agree_with_counting(history, profile, column):
    at = history.schema.columns.index(column)
    values = history.X[:, at][~np.isnan(history.X[:, at])].astype(float)
    for value in np.quantile(values, [0, 0.1, 0.5, 0.9, 0.975, 1], method="nearest"):
        assert profile.columns[at].numbers.share_below(value) == pytest.approx(
            np.mean(values < value), abs=0.01
        )
        assert profile.columns[at].numbers.share_above(value) == pytest.approx(
            np.mean(values > value), abs=0.01
        )


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
    assert drift_notes(new_rows(history), profile) == []


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
    (note,) = drift_notes(new_rows(history, **changes), profile)
    assert words in note
    shifts = column_shifts(new_rows(history, **changes), profile)
    assert shifts["column"][0] == next(iter(changes))


def test_many_shifts_are_summed_up(history, profile):
    changes = {
        c: pl.col(c) * 5 + 50 for c in ("amount", "driver_age", "vehicle_age", "witnesses", "policy_age_days")
    }
    notes = drift_notes(new_rows(history, **changes, region=pl.lit("north"), channel=pl.lit("web")), profile)
    assert len(notes) == 6
    assert "2 more columns" in notes[-1]


def test_few_rows_say_nothing(history, profile):
    frame = make_claims(20, random_state=3).with_columns(region=pl.lit("north"))
    table = load_table(frame, ROLES, schema=history.schema, labelled=False)
    assert drift_notes(table, profile) == []


def test_sample_is_spread_over_all_rows():
    rows = sample_rows(1_000_000)
    assert (rows[0], rows[-1], rows.size) == (0, 999_999, 50_000)
    assert sample_rows(3).tolist() == [0, 1, 2]
