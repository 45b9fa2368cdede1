"""How values and shares are written for people."""

from datetime import date, datetime

import polars as pl
import pytest

from shortlist.tables import Schema
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.words import in_words, percent


def test_every_column_of_the_matrix_reads_as_in_the_table():
    frame = pl.DataFrame(
        {"make": ["Audi", "Fiat"], "new": [True, False], "seen": [datetime(2024, 2, 29, 23, 59), None]}
    )
    schema = Schema.learn(frame)
    row, gap = schema.matrix(frame)
    labels = [schema.label(i) for i in range(len(schema.columns))]
    assert labels == ["make", "new", "seen", "seen (month)", "seen (weekday)", "seen (hour)"][: len(labels)]
    assert [schema.value_text(i, float(value)) for i, value in enumerate(row)][:5] == [
        "Audi", "true", "2024-02-29", "February", "Thursday"
    ]  # fmt: skip
    assert {schema.value_text(i, float(value)) for i, value in enumerate(gap[2:], start=2)} == {"missing"}


def test_a_threshold_between_two_months_stays_a_number():
    schema = Schema.learn(pl.DataFrame({"seen": [date(2024, 1, 1), date(2024, 12, 31)]}))
    assert schema.value_text(1, 6.5) == "6.5"
    assert schema.value_text(2, 7.0) == "Sunday"


def test_minutes_are_carried_over():
    seen = Feature("seen", "date", clock=True)
    assert [in_words(seen, "hour", hour) for hour in (0.0, 13.5, 13.999)] == ["00:00", "13:30", "14:00"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.0, "100 %"), (0.98, "98 %"), (0.1, "10 %"), (0.099, "9.9 %"), (0.0, "0 %"), (None, "–")],
)
def test_percents(share, text):
    assert percent(share) == text


def test_percents_with_digits():
    assert percent(1 / 3, digits=2) == f"{100 / 3:.2f} %"
