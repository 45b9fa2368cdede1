"""A table condensed in parts has the schema that it has as a whole, and raises what it would raise."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import Roles, Schema
from shortlist.tables.columns.condense import bring_together, condense
from shortlist.tables.problems import SeveralProblems

RNG = np.random.default_rng(0)
N = 60
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=int(each)) for each in RNG.integers(0, 300, N)]

COLUMNS = {
    "numbers": [None, *RNG.normal(size=N - 1)],
    "gaps, then numbers": [*[float("nan")] * 40, *RNG.normal(size=N - 40)],
    "whole": RNG.integers(0, 9, N),
    "days in digits": [int(f"{day:%Y%m%d}") for day in DAYS],
    "almost days": [*(int(f"{day:%Y%m%d}") for day in DAYS[1:]), 20240231],
    "far from days": [*(int(f"{day:%Y%m%d}") for day in DAYS[1:]), 7],
    "words": RNG.choice(["Audi", "Fiat", "?"], N),
    "few rows a word": [f"word {each % 20}" for each in range(N)],
    "flags": RNG.choice(["yes", "no"], N),
    "numbers as text": [f"{each:.2f}" for each in RNG.normal(size=N - 1)] + ["unknown"],
    "dates as text": [f"{day:%d/%m/%Y}" for day in DAYS],
    "true or false": RNG.random(N) < 0.5,
    "dates": DAYS,
    "moments at midnight": [dt.datetime(2024, 1, 1 + each % 28) for each in range(N)],
    "moments": [dt.datetime(2024, 1, 1, each % 24) for each in range(N)],
    "nothing": pl.Series([None] * N, dtype=pl.Float64),
    "categories": pl.Series(RNG.choice(["a", "b"], N), dtype=pl.Categorical),
}


def in_parts(frame, category=()):
    parts = [frame[:20], frame[20:20], frame[20:55], frame[55:]]
    names = frame.columns
    return {
        name: bring_together([condense(part[name], category=name in category) for part in parts if len(part)])
        for name in names
    }


@pytest.mark.parametrize("name", COLUMNS)
def test_the_schema_of_the_whole(name):
    frame = pl.DataFrame({name: COLUMNS[name], "beside": range(N)}, strict=False)
    whole = Schema.learn(frame)
    assert Schema.learn_condensed(in_parts(frame)) == whole


def test_all_columns_at_once_with_their_notes():
    frame = pl.DataFrame(COLUMNS, strict=False)
    whole, parts = Schema.learn(frame), Schema.learn_condensed(in_parts(frame))
    assert parts == whole
    assert parts.notes == whole.notes


def test_names_that_are_numbers():
    frame = pl.DataFrame({"postcode": RNG.integers(0, 5, N)})
    roles = Roles(category=["postcode"])
    assert Schema.learn_condensed(in_parts(frame, {"postcode"}), roles) == Schema.learn(frame, roles)


def test_text_of_too_many_values_is_refused_in_the_same_words():
    frame = pl.DataFrame({"name": [f"person {each}" for each in range(N)], "beside": range(N)})
    with pytest.raises(TableError) as whole:
        Schema.learn(frame)
    with pytest.raises(TableError) as parts:
        Schema.learn_condensed(in_parts(frame))
    assert str(parts.value) == str(whole.value)


def test_several_problems_arrive_from_another_machine_as_they_were():
    import pickle

    several = SeveralProblems([TableError("one."), TableError("two.")])
    assert str(pickle.loads(pickle.dumps(several))) == str(several)
