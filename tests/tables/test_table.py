"""Labelled rows: roles, labels, impacts, lists, ids and times as users give them."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from inspect import signature

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import NoUnwantedRowsError, NoWantedRowsError, SchemaError, TableError
from shortlist.rankers import Ranker
from shortlist.tables import Roles, Table, load_table, write_table


def table(**columns):
    return pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0, 1, 0], **columns})


def test_everything_at_once():
    frame = table(
        key=["a", "b", "c"],
        cost=[5.0, 0.0, 2.5],
        storm=["s", "t", "s"],
        at=["2024-01-03", "2024-01-01", "2024-01-02"],
    )
    loaded = load_table(frame, Roles(id="key", label="y", impact="cost", list="storm", time="at"))
    assert loaded.ids.tolist() == ["a", "b", "c"]
    assert loaded.X.tolist() == [[1.0], [2.0], [3.0]]
    assert loaded.y.tolist() == [False, True, False]
    assert loaded.impact.tolist() == [5.0, 0.0, 2.5]
    assert loaded.lists.of_row.tolist() == [0, 1, 0]
    assert np.argsort(loaded.time).tolist() == [1, 2, 0]
    assert len(loaded) == 3


def test_rows_are_numbered_from_one_without_an_id():
    assert load_table(table(), Roles(label="y")).ids.tolist() == [1, 2, 3]


def test_new_rows_need_no_outcome(tmp_path, claims):
    roles = Roles(id="claim", label="fraud", impact="paid", ignore=["note"])
    history = claims.with_columns(paid=pl.lit(1.0), note=pl.lit("x"))
    schema = load_table(history, roles).schema
    write_table(claims.drop("fraud"), tmp_path / "new.csv")
    new = load_table(tmp_path / "new.csv", roles, schema=schema, labelled=False)
    assert new.y is None
    assert new.impact is None
    assert new.X.shape == (40, len(schema.columns))
    assert new.notes == ()


def test_notes_of_new_rows(claims):
    roles = Roles(id="claim", label="fraud")
    schema = load_table(claims, roles).schema
    new = load_table(claims.with_columns(colour=pl.lit("red")), roles, schema=schema, labelled=False)
    assert "colour" in new.notes[0]


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 0],
        [0.0, 1.0, 0.0],
        [False, True, False],
        ["no", "yes", "no"],
        ["N", "Y", "N"],
        ["false", "True", "false"],
        ["0", "1", " 0"],
    ],
    ids=str,
)
def test_labels_that_are_understood(labels):
    assert load_table(table(y=labels), Roles(label="y")).y.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (["ok", "fraud", "ok"], "fraud"),
        (["ok", "Fraud", "ok"], "fraud"),
        ([1, 2, 1], "2"),
        ([1, 2, 1], 2),
        ([1, 0, 1], 0),
        ([-1.0, 1.0, -1.0], 1),
    ],
)
def test_two_values_of_any_kind_with_wanted(labels, wanted):
    assert load_table(table(y=labels), Roles(label="y"), wanted=wanted).y.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("labels", "wanted", "error", "message"),
    [
        ([0, 1, 2], None, TableError, "the values '0', '1', '2'; say which one is wanted.*repeat it"),
        (["a", "b", "c"], ["a", "d", "e"], TableError, "no value 'd' and no value 'e'"),
        ([0, 0, 0], None, NoWantedRowsError, "'0' in all 3 rows: no row is wanted"),
        (["yes"] * 3, None, NoUnwantedRowsError, "'yes' in all 3 rows: every row is wanted"),
        (["ok"] * 3, None, TableError, "has the values 'ok'; say which one is wanted"),
        (["ok", "bad", "ok"], None, TableError, "'bad', 'ok'; say which one is wanted: --wanted"),
        (["ok", "bad", "ok"], "evil", TableError, "no value 'evil'; its values: 'bad', 'ok'"),
        ([0, None, 1], None, TableError, "empty in 1 of 3 rows. Leave them out with"),
        ([None] * 3, None, TableError, "empty in 3 of 3 rows"),
        (["0", "NA", "1"], None, TableError, "empty in 1 of 3 rows"),
    ],
)
def test_labels_that_are_refused(labels, wanted, error, message):
    with pytest.raises(error, match=message):
        load_table(table(y=labels), Roles(label="y"), wanted=wanted)


@pytest.mark.parametrize(
    ("impact", "message"),
    [
        ([1.0, -2.0, 3.0], "must not be negative; row 2"),
        ([1.0, None, 3.0], "empty in 1 row; write 0"),
        ([1.0, np.nan, 3.0], "empty in 1 row"),
        (
            [1.0, np.inf, 3.0],
            "'cost' is infinite in 1 row, the first of them row 2; replace these by a number",
        ),
        ([1.0, 1e300, 3.0], "the largest impact is 1e"),
        (["1", "much", "3"], "must hold numbers; found 'much'"),
    ],
)
def test_impacts_that_are_refused(impact, message):
    with pytest.raises(TableError, match=message):
        load_table(table(cost=impact), Roles(label="y", impact="cost"))


def test_list_with_gaps():
    with pytest.raises(TableError, match="list column 'storm' is empty in 1 row"):
        load_table(table(storm=["a", None, "a"]), Roles(label="y", list="storm"))


def test_repeated_and_missing_ids():
    twice = table(key=["a", "b", "b"])
    with pytest.raises(
        TableError, match=r"names several rows alike, 'b' for one.* another id column, or none"
    ):
        load_table(twice, Roles(id="key", label="y"))
    assert load_table(twice, Roles(label="y")).ids.tolist() == [1, 2, 3]
    with pytest.raises(TableError, match="'key' is empty in 1 row"):
        load_table(table(key=["a", None, "b"]), Roles(id="key", label="y"))


def test_new_rows_need_no_time():
    roles = Roles(label="y", time="at")
    schema = load_table(table(at=[3, 1, 2]), roles).schema
    for new in (table().drop("y"), table(at=[None, None, None]).drop("y")):
        assert load_table(new, roles, schema=schema, labelled=False).time is None


@pytest.mark.parametrize(
    ("dates", "odd"),
    [
        (["2024-01-01", "2024-13-45", "2024-01-02"], "2024-13-45"),
        (["31/12/2024", "30/12/2024", "12/31/2024"], "12/31/2024"),
        (["31.12.24", "30.12.24", "29.12.2024"], "29.12.2024"),
        (["east", "west", "2024-01-02"], "east"),
    ],
)
def test_the_date_that_is_none_is_named(dates, odd):
    with pytest.raises(TableError, match=f"such as 2024-12-31; found '{odd}'"):
        load_table(table(at=dates), Roles(label="y", time="at"))


def test_times():
    moments = [datetime(2024, 1, day) for day in (3, 1, 2)]
    assert load_table(table(at=moments), Roles(label="y", time="at")).time.dtype.kind == "M"
    assert load_table(table(at=[3, 1, 2]), Roles(label="y", time="at")).time.tolist() == [3, 1, 2]
    with pytest.raises(TableError, match="'at' is empty in 1 row"):
        load_table(table(at=[3, None, 2]), Roles(label="y", time="at"))
    with pytest.raises(TableError, match="'at' must hold numbers, or dates written alike"):
        load_table(table(at=["2024-01-01", "soon", "2024-01-01"]), Roles(label="y", time="at"))


def test_outcome_must_be_named():
    with pytest.raises(TableError, match="--label"):
        load_table(table(), Roles())


def test_role_of_an_absent_column_suggests():
    with pytest.raises(
        SchemaError, match=r"the label column 'fruad' is not in the table\. Did you mean 'fraud'"
    ):
        load_table(table(fraud=[0, 1, 0]), Roles(label="fruad"))
    with pytest.raises(SchemaError, match="no column to ignore is called 'z'"):
        load_table(table(), Roles(label="y", ignore=["z"]))


@pytest.mark.parametrize(("known", "word"), [(True, "value"), (False, "impact")])
def test_an_absent_worth_is_called_what_its_user_called_it(known, word):
    with pytest.raises(SchemaError, match=rf"the {word} column 'z' is not in the table\."):
        load_table(table(), Roles(label="y", impact="z", impact_known=known))


def test_one_role_each():
    with pytest.raises(SchemaError, match="'y' has 2 roles"):
        Roles(label="y", ignore=("y",))
    assert Roles(ignore="note").ignore == ("note",)
    assert Roles.from_dict(Roles(id="a", ignore=("b",)).to_dict()) == Roles(id="a", ignore=("b",))


def test_taken_rows_are_the_table_that_loading_them_gives(claims):
    roles = Roles(id="claim", label="fraud", impact="amount", list="make", time="day", impact_known=True)
    frame = claims.with_columns(pl.col("amount").fill_null(0), pl.col("make").fill_null("none"))
    whole, rows = load_table(frame, roles), np.array([30, 3, 10, 11])
    taken, loaded = whole.take(rows), load_table(frame[rows], roles, schema=whole.schema)
    assert isinstance(taken, Table)
    assert taken.schema is whole.schema
    assert taken.frame.equals(loaded.frame)
    for name in ("ids", "y", "impact", "time", "X"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(loaded, name))
    np.testing.assert_array_equal(taken.lists.of_row, loaded.lists.of_row)
    np.testing.assert_array_equal(taken.worth, whole.worth[rows])


def test_lists_without_a_name_are_refused_whatever_says_so():
    for gap in (None, float("nan")):
        frame = pl.DataFrame({"storm": [1.0, gap], "y": [0, 1], "x": [1, 2]})
        with pytest.raises(TableError, match="list column 'storm' is empty in 1 row"):
            load_table(frame, Roles(label="y", list="storm"))


def test_every_role_is_a_part_a_name_and_stored():
    given = {each.name: each.name for each in fields(Roles) if each.default is None}
    roles = Roles(**given, ignore=["note"], category=["zip"], missing=["9"], ignore_text=True)
    assert roles.parts == given
    assert roles.names == (*given, "note")
    assert Roles.from_dict(roles.to_dict()) == roles


def test_a_ranker_takes_what_a_table_gives_beside_x_and_y():
    loaded = load_table(table(week=[1, 1, 2]), Roles(label="y", list="week"))
    assert loaded.for_fit["groups"] is loaded.lists
    assert loaded.for_fit.keys() <= signature(Ranker.fit).parameters.keys()
