"""Some rows of an encoded table: what they alone teach is what reading them alone would."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import TableError
from shortlist.tables import Schema
from shortlist.tables.columns.part import encode_again, learn_again

N = 12
GAP = st.none()
CELLS = {
    "amount": (GAP | st.floats(-9, 9), pl.Float64),
    "digits": (GAP | st.sampled_from(["1", "2.5", "NA"]), pl.String),
    "make": (GAP | st.sampled_from(["Audi", " Audi", "Fiat", "Opel", ""]), pl.String),
    "police": (GAP | st.sampled_from(["true", "FALSE"]), pl.String),
    "day": (GAP | st.sampled_from(["2024-01-31", "2024-02-01"]), pl.String),
    "seen": (GAP | st.sampled_from([datetime(2024, 1, 1, 0, 0, s) for s in (0, 1)]), pl.Datetime("us")),
}


@st.composite
def tables(draw) -> pl.DataFrame:
    columns = {name: draw(st.lists(cell, min_size=N, max_size=N)) for name, (cell, _) in CELLS.items()}
    frame = pl.DataFrame(columns, schema={name: dtype for name, (_, dtype) in CELLS.items()})
    return frame.with_columns(number=pl.int_range(pl.len()))


def read_alone(frame: pl.DataFrame, schema: Schema, rows: np.ndarray) -> pl.DataFrame:
    """The rows with categories marked as such: few rows may not be enough to tell."""
    names = [feature.name for feature in schema.features if feature.kind == "category"]
    return frame[rows].with_columns(pl.col(names).cast(pl.Categorical))


@settings(max_examples=30, deadline=None)
@given(tables(), st.sets(st.integers(0, N - 1), min_size=1), st.sets(st.integers(0, N - 1), min_size=1))
def test_learning_again_is_learning_from_the_rows_alone(frame, past, later):
    whole = Schema.learn(frame).encode(frame)
    past, later = (np.array(sorted(rows)) for rows in (past, later))
    alone = Schema.learn(read_alone(frame, whole.schema, past))
    again = learn_again(whole.take(past), frame[past])
    assert again.to_dict() == alone.to_dict()
    for rows in (past, later):
        taken = encode_again(whole.take(rows), again)
        np.testing.assert_array_equal(taken.matrix, alone.matrix(read_alone(frame, whole.schema, rows)))
        assert taken.matrix.flags.c_contiguous


def test_dates_stay_as_the_whole_table_writes_them():
    frame = pl.DataFrame({"day": ["01/02/2024", "12/31/2024"], "x": [1, 2]})
    whole = Schema.learn(frame).encode(frame)
    again = learn_again(whole.take(slice(0, 1)), frame[:1])
    assert (
        again.features[0].date_format == "%m/%d/%Y"
    )  # alone, the first row would be read as the 1st of February


def test_rows_without_any_value_teach_nothing():
    frame = pl.DataFrame({"x": [1.0, None]})
    whole = Schema.learn(frame).encode(frame)
    with pytest.raises(TableError, match="no column to learn from"):
        learn_again(whole.take(slice(1, 2)), frame[1:])
