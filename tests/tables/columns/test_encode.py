"""Encoding beside a plain reading of one value after the other: numbers, notes and their order."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import TableError
from shortlist.tables import Feature, Roles, Schema
from shortlist.tables.columns import encode
from shortlist.tables.columns.values import FLAG_WORDS, MISSING

START = date(1970, 1, 1)
GAPS = st.sampled_from([None, "", "NA", " nan "])
MAKES = ("Audi", "Fiat", "7")
FORMAT = "%d.%m.%Y"

FEATURES = (
    Feature("amount", "number"),
    Feature("count", "number"),
    Feature("digits", "number"),
    Feature("police", "flag"),
    Feature("answer", "flag"),
    Feature("make", "category", tuple(sorted(MAKES))),
    Feature("day", "date"),
    Feature("written", "date", date_format=FORMAT),
    Feature("seen", "date", clock=True),
)
SCHEMA = Schema(FEATURES, dropped=("empty",))

DAYS = st.dates(date(1900, 1, 1), date(2100, 1, 1))
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
CELLS = {
    "amount": (st.none() | st.floats(-1e30, 1e30, allow_subnormal=False), pl.Float64),
    "count": (st.none() | st.integers(-(2**62), 2**62), pl.Int64),
    "digits": (GAPS | st.integers(-99, 99).map(lambda n: f" {n}"), pl.String),
    "police": (st.none() | st.booleans(), pl.Boolean),
    "answer": (GAPS | st.sampled_from(["yes", "No", "TRUE ", "0"]), pl.String),
    "make": (GAPS | st.sampled_from([*MAKES, " Audi", "Fiat ", "Saab", "Lada", "Tata"]), pl.String),
    "day": (st.none() | DAYS, pl.Date),
    "written": (GAPS | DAYS.map(lambda day: day.strftime(FORMAT)), pl.String),
    "seen": (st.none() | MOMENTS, pl.Datetime("us")),
}


@st.composite
def tables(draw) -> pl.DataFrame:
    n = draw(st.integers(0, 12))
    columns = {name: draw(st.lists(cell, min_size=n, max_size=n)) for name, (cell, _) in CELLS.items()}
    frame = pl.DataFrame(columns, schema={name: dtype for name, (_, dtype) in CELLS.items()})
    extra = {name: pl.lit(1) for name in draw(st.sets(st.sampled_from(["colour", "size", "empty"])))}
    return frame.with_columns(**extra)


def plain_text(value):
    text = None if value is None else value.strip()
    return None if text in MISSING else text


def plain_parts(feature: Feature, value) -> list:
    """What one value becomes."""
    if isinstance(value, str):
        value = plain_text(value)
    if value is None:
        return [np.nan] * len(feature.columns)
    if feature.kind == "number":
        return [np.float32(int(value) if isinstance(value, str) else value)]
    if feature.kind == "flag":
        return [FLAG_WORDS[value.lower()] if isinstance(value, str) else value]
    if feature.kind == "category":
        return [feature.categories.index(value) if value in feature.categories else np.nan]
    if isinstance(value, str):
        value = datetime.strptime(value, FORMAT)
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    parts = [(moment.date() - START) // timedelta(days=1), moment.month, moment.isoweekday()]
    return [*parts, moment.hour + moment.minute / 60] if feature.clock else parts


def plain_notes(frame: pl.DataFrame) -> list[str]:
    extra = [name for name in frame.columns if name in ("colour", "size")]
    notes = [f"columns that training did not have are not used: {', '.join(extra)}."] if extra else []
    for name in (feature.name for feature in FEATURES):
        if frame.height and frame[name].null_count() == frame.height:
            notes.append(f"column {name!r} has no values here.")
        elif name == "make":
            texts = map(plain_text, frame[name])
            unseen = Counter(text for text in texts if text is not None and text not in MAKES)
            if unseen:
                rows = "1 row" if unseen.total() == 1 else f"{unseen.total()} rows"
                notes.append(f"column 'make' has values that training did not have, in {rows}: ")
    return notes


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(1, 5))
def test_encoding_is_the_plain_reading_of_each_value(frame, block_rows):
    before, encode._BLOCK_ROWS = encode._BLOCK_ROWS, block_rows
    try:
        encoded = SCHEMA.encode(frame)
    finally:
        encode._BLOCK_ROWS = before
    rows = [
        [part for feature in FEATURES for part in plain_parts(feature, row[feature.name])]
        for row in frame.to_dicts()
    ]
    expected = np.array(rows, dtype=np.float32).reshape(frame.height, len(SCHEMA.columns))
    np.testing.assert_array_equal(encoded.matrix, expected)
    assert encoded.matrix.dtype == np.float32
    assert encoded.matrix.flags.c_contiguous
    expected_notes = plain_notes(frame)
    assert len(encoded.notes) == len(expected_notes)
    for note, start in zip(encoded.notes, expected_notes, strict=True):
        assert note.startswith(start)


def test_unseen_values_are_counted_the_most_frequent_first():
    schema = Schema((Feature("make", "category", ("Audi",)),))
    notes = schema.encode(pl.DataFrame({"make": ["Lada", "Saab", " Saab", "Audi ", None, "Saab "]})).notes
    assert notes == (
        "column 'make' has values that training did not have, in 4 rows: 'Saab' (3), 'Lada' (1); read as missing.",
    )


def test_every_column_is_read_once(claims, monkeypatch):
    schema, read = Schema.learn(claims, Roles(id="claim")), Counter()
    encode_column = Feature.encode

    def counted(feature, series):
        read[feature.name] += 1
        return encode_column(feature, series)

    monkeypatch.setattr(Feature, "encode", counted)
    schema.encode(claims)
    assert set(read.values()) == {1}
    assert set(read) == {feature.name for feature in schema.features}


def test_dates_are_read_by_one_format_however_many_rows_there_are():
    """The first block of such a table fits the format of training as well, and would be read by it."""
    schema = Schema((Feature("day", "date", date_format="%d/%m/%Y"),))
    rows = encode._BLOCK_ROWS
    new = pl.DataFrame({"day": ["01/02/2024"] * rows + ["12/31/2024"]})
    assert set(schema.matrix(new)[:, 1]) == {1.0, 12.0}


def test_the_first_infinite_value_is_named_by_column_then_row():
    schema = Schema((Feature("x", "number"), Feature("y", "number")))
    with pytest.raises(TableError, match=r"'x' has infinite values.* in row 3 \(inf\)"):
        schema.encode(pl.DataFrame({"x": [1.0, 2.0, np.inf], "y": [np.inf, 1.0, 1.0]}))


def test_numbers_at_hand_and_others_are_read_alike_in_every_block(monkeypatch):
    monkeypatch.setattr(encode, "_BLOCK_ROWS", 3)
    single = pl.Series([1.5, -2.0, 3.25, 0.1, 7.0], dtype=pl.Float32)
    columns = {
        "plain": single,
        "gaps": single.set(pl.Series([False, True, False, False, False]), None),
        "torn": pl.concat([single[:2], single[2:]], rechunk=False),
        "whole": pl.Series([1, 2, None, 4, 5]),
    }
    frame = pl.DataFrame(columns)
    X = Schema(tuple(Feature(name, "number") for name in columns)).matrix(frame)
    one_by_one = [[np.float32("nan" if v is None else v) for v in row] for row in frame.iter_rows()]
    np.testing.assert_array_equal(X, np.array(one_by_one, dtype=np.float32))
