"""The learned schema: kinds, codes, dates, drift between training and new rows."""

from __future__ import annotations

import json
import pickle
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.exceptions import SchemaError, TableError
from shortlist.tables import Roles, Schema, read_batches, read_table, write_table

ROLES = Roles(id="claim", label="fraud")


def kinds(**columns) -> dict[str, str]:
    return {f.name: f.kind for f in Schema.learn(pl.DataFrame(columns)).features}


def test_kinds():
    assert kinds(
        whole=[1, 2, 3, 4],
        number=[0.5, None, 2.0, 1.0],
        flag=[True, False, None, True],
        word=["a", "b", "a", "b"],
        day=[date(2024, 1, 1)] * 4,
        digits=["1", "2.5", "NA", "-3e4"],
        truth=["true", "FALSE", None, "True"],
        iso=["2024-01-01", "2024-05-06", "", "2024-12-31"],
        german=["31.12.2023", "1.2.2024", "3.4.2024", "5.6.2024"],
        constant=["x", "x", "x", "x"],
    ) == {
        "whole": "number",
        "number": "number",
        "flag": "flag",
        "word": "category",
        "day": "date",
        "digits": "number",
        "truth": "flag",
        "iso": "date",
        "german": "date",
        "constant": "category",
    }


def test_matrix_known_values():
    frame = pl.DataFrame(
        {
            "amount": ["1.5", "NA", "3"],
            "police": ["true", None, "false"],
            "make": ["b", "a", None],
            "at": [datetime(1970, 1, 2, 6, 30), None, datetime(2024, 2, 29)],
        },
        schema_overrides={"make": pl.Categorical},
    )
    schema = Schema.learn(frame)
    assert schema.columns == (
        "amount",
        "police",
        "make",
        "at (days)",
        "at (month)",
        "at (weekday)",
        "at (hour)",
    )
    assert schema.categorical.tolist() == [False, False, True, False, False, False, False]
    assert schema.kinds[2:4] == ("category", "date")
    nan = np.nan
    expected = [[1.5, 1, 1, 1, 1, 5, 6.5], [nan, nan, 0, nan, nan, nan, nan], [3, 0, nan, 19782, 2, 4, 0]]
    matrix = schema.matrix(frame)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.array(expected, dtype=np.float32))
    assert [schema.value_text(2, 1.0), schema.value_text(1, 0.0), schema.value_text(0, np.nan)] == [
        "b",
        "false",
        "missing",
    ]


def test_equal_times_of_day_give_no_hour():
    schema = Schema.learn(pl.DataFrame({"at": [datetime(2024, 1, day, 9) for day in (1, 2)]}))
    assert schema.columns == ("at (days)", "at (month)", "at (weekday)")


@given(order=st.permutations(range(12)))
@settings(max_examples=25)
def test_codes_do_not_depend_on_the_order_of_rows(order):
    frame = pl.DataFrame({"make": list("abcabdabcabd"), "day": [f"{d}/1/2024" for d in range(5, 17)]})
    schema, shuffled = Schema.learn(frame), Schema.learn(frame[order])
    assert shuffled == schema
    np.testing.assert_array_equal(shuffled.matrix(frame[order]), schema.matrix(frame)[order])


def test_many_merchants_are_a_category_and_many_names_are_not():
    merchants = pl.DataFrame({"shop": [f"shop {i % 2000}" for i in range(50_000)]})
    assert len(Schema.learn(merchants).features[0].categories) == 2000
    names = pl.DataFrame({"name": [f"name {i % 150}" for i in range(200)]})
    with pytest.raises(
        TableError, match=r"'name' has 150 different texts in 200 rows.*--id name.*--ignore name"
    ):
        Schema.learn(names)


def test_ids_of_a_tiny_table_and_rare_free_text_are_refused():
    with pytest.raises(TableError, match="--id key"):
        Schema.learn(pl.DataFrame({"key": [f"k{i}" for i in range(8)]}))
    comments = [f"comment {i}" if i % 8 == 0 else None for i in range(1000)]
    with pytest.raises(TableError, match="'comment' has 125 different texts in 125 rows"):
        Schema.learn(pl.DataFrame({"comment": comments}))


def test_a_type_that_says_category_is_taken_at_its_word():
    frame = pd.DataFrame({"key": pd.Categorical([f"k{i}" for i in range(8)])})
    assert Schema.learn(frame).features[0].kind == "category"


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_a_category_has_room_for_two_bytes_of_values(dtype):
    names = pl.Series("shop", [f"s{i}" for i in range(2**16 + 1)])
    rows = names.cast(dtype).gather(np.arange(5 * len(names)) % len(names))
    assert (
        len(Schema.learn(rows.filter(rows.cast(pl.String) != "s7").to_frame()).features[0].categories)
        == 2**16
    )
    with pytest.raises(
        TableError, match=r"65,537 different texts .* too many for a category, which needs 65,536 or fewer"
    ):
        Schema.learn(rows.to_frame())


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}], [b"raw"]], ids=["list", "struct", "binary"])
def test_nested_and_binary_columns_are_refused(values):
    with pytest.raises(TableError, match=r"'odd' holds .*--ignore odd"):
        Schema.learn(pl.DataFrame({"odd": values, "x": [1]}))


def test_empty_columns_are_dropped_with_a_note():
    frame = pl.DataFrame({"x": [1, 2], "gone": [None, None], "blank": ["", "NA"], "nan": [np.nan, np.nan]})
    schema = Schema.learn(frame)
    assert schema.dropped == ("gone", "blank", "nan")
    assert "'gone' has no values" in schema.notes[0]
    assert schema.matrix(frame).shape == (2, 1)
    assert [*schema.encode(frame).notes] == []


def test_no_feature_at_all():
    with pytest.raises(TableError, match="no column to learn from"):
        Schema.learn(pl.DataFrame({"claim": [1], "fraud": [1]}), ROLES)


def test_all_sources_give_the_same_schema_and_matrix(tmp_path, claims):
    schema = Schema.learn(claims, ROLES)
    expected = schema.matrix(claims)
    for name in ("claims.csv", "claims.parquet", "claims.jsonl", "claims.arrow"):
        write_table(claims, tmp_path / name)
        frame = read_table(tmp_path / name)
        np.testing.assert_array_equal(schema.matrix(frame), expected)
        np.testing.assert_array_equal(Schema.learn(frame, ROLES).matrix(claims), expected)
    for foreign in (claims.to_pandas(), claims.to_arrow(), claims.with_columns(pl.all().cast(pl.String))):
        np.testing.assert_array_equal(schema.matrix(foreign), expected)
        np.testing.assert_array_equal(Schema.learn(foreign, ROLES).matrix(claims), expected)


def test_batch_by_batch_is_the_same(tmp_path, claims):
    schema = Schema.learn(claims, ROLES)
    write_table(claims, tmp_path / "claims.csv")
    blocks = [schema.matrix(batch) for batch in read_batches(tmp_path / "claims.csv", batch_rows=9)]
    np.testing.assert_array_equal(np.vstack(blocks), schema.matrix(claims))


@pytest.mark.parametrize("beside", ["12/31/2015", "C/7", "7"])
def test_columns_that_are_no_features_tell_the_order_of_day_and_month_as_in_memory(beside):
    frame = pl.DataFrame(
        {"when": ["01/02/2015", "03/04/2015"] * 5, "seen": [beside, "1/2/2015"] * 5, "x": range(10)}
    )
    roles = Roles(time="seen")
    inside = Schema.learn(frame, roles)
    outside = Schema.learn_by_batch(frame.iter_slices(3), frame.columns, roles)
    assert outside.to_dict() == inside.to_dict()
    assert outside.features[0].date_format == ("%m/%d/%Y" if beside == "12/31/2015" else "%d/%m/%Y")


def test_more_rows_than_one_block():
    frame = pl.DataFrame({"x": np.arange(70_000.0), "c": ["a", "b"] * 35_000})
    matrix = Schema.learn(frame).matrix(frame)
    np.testing.assert_array_equal(matrix, np.c_[np.arange(70_000), np.tile([0, 1], 35_000)])


def test_check_names_extra_columns_unseen_values_and_gaps(claims):
    schema = Schema.learn(claims, ROLES)
    new = claims.drop("fraud").with_columns(
        make=pl.Series(["Saab"] * 3 + ["Lada"] + ["Audi"] * 36), amount=pl.lit(None), colour=pl.lit("red")
    )
    notes = schema.encode(new).notes
    assert notes[0] == "columns that training did not have are not used: colour."
    assert notes[1] == "column 'amount' has no values here."
    assert "'make' has values that training did not have, in 4 rows: 'Saab' (3), 'Lada' (1)" in notes[2]
    assert np.isnan(schema.matrix(new)[:4, 1]).all()


def test_missing_column_is_named_with_what_to_do(claims):
    schema = Schema.learn(claims, ROLES)
    new = claims.rename({"amount": "amounts"})
    for call in (schema.encode, schema.matrix):
        with pytest.raises(
            SchemaError, match=r"lacks columns that training had: amount\. Did you mean 'amounts'"
        ):
            call(new)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("amount", ["12", "lots"], r"'amount' held numbers in training and now holds 'lots'"),
        ("amount", [date(2024, 1, 1)] * 2, r"'amount' held numbers .* type Date"),
        ("police", ["true", "maybe"], r"'police' held true and false .* 'maybe'"),
        ("police", [1, 7], r"'police' held true and false .* '7'"),
        ("make", [3.5, 4.0], r"'make' held categories such as 'Audi' .* Float64, such as 3\.5"),
        ("make", [["Audi"], ["Fiat"]], r"'make' held categories"),
        ("day", ["2024-01-01", "soon"], r"'day' held dates .* 'soon'"),
        ("day", [45_292, 45_293], r"'day' held dates .* Int64"),
    ],
)
def test_changed_type_is_named_with_an_example(claims, column, values, message):
    schema = Schema.learn(claims, ROLES)
    new = claims[:2].with_columns(pl.Series(column, values))
    for call in (schema.encode, schema.matrix):
        with pytest.raises(SchemaError, match=message):
            call(new)


def test_types_that_drift_without_harm(claims):
    schema = Schema.learn(claims, ROLES)
    new = pl.DataFrame(
        {"amount": ["12", "13"], "make": [None, None], "police": [1, 0], "day": ["2024-01-01", "NA"]}
    )
    matrix = schema.matrix(new)
    np.testing.assert_array_equal(
        matrix[:, :3], np.array([[12, np.nan, 1], [13, np.nan, 0]], dtype=np.float32)
    )


def test_whole_number_categories():
    schema = Schema.learn(pd.DataFrame({"zone": pd.Categorical([1, 2, 1, 2])}))
    assert schema.matrix(pl.DataFrame({"zone": [2.0, 1.0, 9.0]})).ravel()[:2].tolist() == [1.0, 0.0]
    assert [*schema.encode(pl.DataFrame({"zone": [2, 9]})).notes] == [
        "column 'zone' has values that training did not have, in 1 row: '9' (1); read as missing."
    ]


@pytest.mark.parametrize("value", [np.inf, 1e300])
def test_infinite_values_are_refused_by_name(value):
    schema = Schema.learn(pl.DataFrame({"x": [1.0], "y": [2.0]}))
    with pytest.raises(TableError, match=r"'y' has infinite values.* in row \d"):
        schema.matrix(pl.DataFrame({"x": [1.0], "y": [value]}))


def test_month_first_dates_and_the_note_on_day_first():
    american = Schema.learn(pl.DataFrame({"day": ["12/31/2023", "1/2/2024"]}))
    assert american.matrix(pl.DataFrame({"day": ["1/2/2024"]}))[0, 1] == 1
    unclear = Schema.learn(pl.DataFrame({"day": ["3/2/2024", "1/2/2024"]}))
    assert [*unclear.notes] == [
        "column 'day' is read as day/month/year; its dates could be read the other way round too."
    ]
    both = pl.DataFrame({"day": ["3/2/2024", "1/2/2024"], "paid": ["12/31/2023", "1/2/2024"]})
    assert Schema.learn(both).matrix(both)[0, 1] == 3, "the column beside it has the month first"


def test_stored_schema_is_the_same(claims):
    schema = Schema.learn(claims, ROLES)
    schema.matrix(claims)
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_stored_schema_of_another_version(claims):
    stored = {**Schema.learn(claims, ROLES).to_dict(), "version": 99}
    with pytest.raises(SchemaError, match="version 99"):
        Schema.from_dict(stored)
