"""The one way in: formats, folders, globs, frames, and what happens when they are broken."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from shortlist.exceptions import SchemaError, TableError
from shortlist.tables import read_batches, read_table, scan_table, write_table
from shortlist.tables.io import read
from shortlist.tables.io.frames import as_polars


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "ipc"])
def test_typed_formats_come_back_exactly(tmp_path, claims, ending):
    path = tmp_path / f"claims.{ending}"
    write_table(claims, path)
    assert_frame_equal(read_table(path), claims)
    assert_frame_equal(read_table(str(path)), claims)
    assert_frame_equal(scan_table(path).collect(), claims)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_folder_and_glob_are_one_table(tmp_path, claims, ending):
    write_table(claims[:15], tmp_path / f"part-1.{ending}")
    write_table(claims[15:].select(reversed(claims.columns)), tmp_path / f"part-2.{ending}")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-1.crc").touch()
    assert_frame_equal(read_table(tmp_path), claims)
    assert_frame_equal(read_table(f"{tmp_path}/part-*.{ending}"), claims)
    assert pl.concat(read_batches(tmp_path, batch_rows=7)).height == 40


def test_folder_names_with_values_are_columns(tmp_path, claims):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        write_table(claims, tmp_path / f"year={year}" / "rows.parquet")
    assert read_table(tmp_path)["year"].value_counts(sort=True).sort("year").rows() == [
        (2023, 40),
        (2024, 40),
    ]


def test_whole_and_broken_numbers_in_a_folder_agree(put, tmp_path):
    put("1.csv", "x,y\n1,\n")
    put("2.csv", "x,y\n1.5,b\n")
    assert read_table(tmp_path).rows() == [(1.0, None), (1.5, "b")]


def test_jsonl(put):
    assert read_table(put("a.jsonl", '{"x": 1, "y": "a"}\n{"x": null, "y": "b"}\n')).rows() == [
        (1, "a"),
        (None, "b"),
    ]


def test_batches_keep_order_and_size(tmp_path):
    frame = pl.DataFrame({"x": range(1050)})
    write_table(frame, tmp_path / "x.parquet")
    batches = list(read_batches(tmp_path / "x.parquet", batch_rows=100))
    assert max(batch.height for batch in batches) <= 100
    assert_frame_equal(pl.concat(batches), frame)


@pytest.mark.parametrize("small", [2**25, 1], ids=["small files", "large files"])
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_batches_of_files_are_the_rows_of_all_of_them(tmp_path, monkeypatch, small, ending):
    """Whole and broken numbers, columns in another order, a file without rows, and folder names with values."""
    monkeypatch.setattr(read, "_SMALL_FILES", small)
    frame = pl.DataFrame({"x": range(1_050), "day": ["Mon", "Tue", "Wed"] * 350})
    parts = [
        frame[:20],
        frame[20:1_000].with_columns(pl.col("x") + 0.5),
        frame[:0],
        frame[1_000:].select("day", "x"),
    ]
    if ending == "csv":  # without rows it holds text
        del parts[2]
    for number, part in enumerate(parts):
        (tmp_path / f"year={number}").mkdir()
        write_table(part, tmp_path / f"year={number}" / f"rows.{ending}")
    batches = [*read_batches(tmp_path, batch_rows=100)]
    assert max(batch.height for batch in batches) <= 100
    assert_frame_equal(pl.concat(batches), scan_table(tmp_path).collect())


@pytest.mark.parametrize("small", [2**25, 1], ids=["small files", "large files"])
def test_no_more_than_some_batches_are_read_ahead(tmp_path, monkeypatch, small):
    """Who learns slowly would else have the whole table in memory, waiting."""
    monkeypatch.setattr(read, "_SMALL_FILES", small)
    for number in range(3):
        pl.DataFrame({"x": range(2_000)}).write_parquet(tmp_path / f"{number}.parquet", row_group_size=100)
    asked = []
    collect = pl.LazyFrame.collect_batches
    monkeypatch.setattr(
        pl.LazyFrame,
        "collect_batches",
        lambda lazy, **how: asked.append(lazy.select(pl.len()).collect().item()) or collect(lazy, **how),
    )
    assert sum(batch.height for batch in read_batches(tmp_path, batch_rows=100)) == 6_000
    assert asked == ([500] * 12 if small == 1 else [6_000])


@pytest.fixture
def computed(tmp_path):
    """A table of several files with a column that is computed while they are read."""
    for number, rows in enumerate(pl.DataFrame({"label": range(6_000)}).iter_slices(2_000)):
        rows.write_parquet(tmp_path / f"{number}.parquet")
    word = pl.when(pl.col("label") % 7 == 0).then(pl.lit("wanted")).otherwise(pl.lit("not wanted"))
    return pl.scan_parquet(tmp_path / "*.parquet").with_columns(label=word)


def test_rows_are_numbered_while_they_are_read(computed, monkeypatch):
    """Polars keeps the order of computed columns for rows that have numbers only; the caller does not see them."""
    asked = []
    collect = pl.LazyFrame.collect_batches
    monkeypatch.setattr(
        pl.LazyFrame,
        "collect_batches",
        lambda lazy, **how: asked.append(lazy.explain()) or collect(lazy, **how),
    )
    table = computed.with_columns(row=pl.col("label"))
    assert_frame_equal(pl.concat(read_batches(table, batch_rows=1_000)), table.collect())
    assert "ROW INDEX" in asked[0].upper()


@pytest.mark.slow
def test_rows_keep_their_places_however_often_they_are_read(computed):
    """Without numbers, up to one reading in ten gave other rows the label."""
    places = computed.collect()
    assert all(pl.concat(read_batches(computed, batch_rows=1_000)).equals(places) for _ in range(5_000))


def test_data_frames_of_other_libraries(claims):
    for foreign in (claims.to_pandas(), claims.to_arrow(), claims.lazy()):
        frame = read_table(foreign)
        assert frame["make"].to_list() == claims["make"].to_list()
        assert frame["amount"].to_list() == claims["amount"].to_list()
        assert frame["police"].to_list() == claims["police"].to_list()


def test_pandas_types():
    frame = as_polars(
        pd.DataFrame(
            {
                "category": pd.Categorical(["a", None, "b"]),
                "text": pd.Series(["x", None, "y"], dtype=object),
                "whole": pd.array([1, None, 2**60 + 1], dtype="Int64"),
                "flag": pd.array([True, None, False], dtype="boolean"),
                "moment": pd.to_datetime(["2024-01-01", None, "2024-01-02"]),
                "seconds": np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[s]"),
                "waited": np.array([60, "NaT", 90], dtype="timedelta64[s]"),
                "place": pd.to_datetime(["2024-01-01", None, "2024-01-02"]).tz_localize("Europe/Berlin"),
                "mixed": pd.Series([1, "x", None], dtype=object),
                7: [1.5, float("nan"), 2.5],
            }
        )
    )
    assert frame["category"].to_list() == ["a", None, "b"]
    assert frame["text"].to_list() == ["x", None, "y"]
    assert frame["whole"].to_list() == [1, None, 2**60 + 1]
    assert frame["flag"].to_list() == [True, None, False]
    assert frame["moment"].dt.day().to_list() == [1, None, 2]
    assert frame["seconds"].dt.day().to_list() == [1, None, 2]
    assert frame["waited"].dt.total_seconds().to_list() == [60, None, 90]
    assert frame["place"].dt.hour().to_list() == [0, None, 0]
    assert frame["mixed"].to_list() == ["1", "x", None]
    assert frame["7"].to_list() == [1.5, None, 2.5]


def test_pandas_needs_no_pyarrow(monkeypatch):
    frame = pd.DataFrame({"x": [1.5, 2.5], "make": pd.Series(["a", None], dtype=object)})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert as_polars(frame).rows() == [(1.5, "a"), (2.5, None)]


def test_arrow_table_with_dictionary():
    table = pa.table({"make": pa.array(["a", "b", "a"]).dictionary_encode()})
    assert read_table(table)["make"].to_list() == ["a", "b", "a"]


def test_frame_with_repeated_names():
    with pytest.raises(TableError, match="same name; rename one"):
        read_table(pd.DataFrame([[1, 2]], columns=["x", "x"]))


@pytest.mark.parametrize("source", [42, None, [1, 2], object()])
def test_what_is_no_table(source):
    with pytest.raises(TableError, match="cannot read a table from"):
        read_table(source)


def test_frame_without_rows():
    with pytest.raises(TableError, match="has no rows"):
        read_table(pl.DataFrame({"x": []}))


def test_missing_file_suggests_its_neighbour(put):
    path = put("claims_2024.csv", "x\n1\n")
    with pytest.raises(TableError, match=r"no file .*claims_2042\.csv\. Did you mean 'claims_2024\.csv'"):
        read_table(path.with_name("claims_2042.csv"))


def test_missing_folder(tmp_path):
    with pytest.raises(TableError, match="Nor is there a folder"):
        read_table(tmp_path / "nowhere" / "a.csv")


def test_unknown_ending(put):
    with pytest.raises(TableError, match=r"cannot tell the format of .*a\.doc"):
        read_table(put("a.doc", b"PK"))


def test_folder_without_tables(put, tmp_path):
    put("notes.md", "hello")
    with pytest.raises(TableError, match="holds no tables"):
        read_table(tmp_path)


def test_glob_without_match(tmp_path):
    with pytest.raises(TableError, match="no file matches"):
        read_table(tmp_path / "*.parquet")


def test_folder_of_mixed_formats(put, tmp_path):
    put("a.csv", "x\n1\n")
    put("b.jsonl", '{"x": 1}\n')
    with pytest.raises(TableError, match=r"mixes formats \(a\.csv and b\.jsonl\)"):
        read_table(tmp_path)


def test_files_with_other_columns_are_named(put, tmp_path):
    put("1.csv", "x,y\n1,2\n")
    put("2.csv", "x,z\n1,2\n")
    with pytest.raises(SchemaError, match=r"1\.csv has a column 'y' and .*2\.csv has not"):
        read_table(tmp_path)


def test_files_with_other_types_are_named(tmp_path):
    write_table(pl.DataFrame({"x": [1], "y": [2]}), tmp_path / "1.parquet")
    write_table(pl.DataFrame({"x": [1], "y": ["b"]}), tmp_path / "2.parquet")
    with pytest.raises(SchemaError, match=r"'y' holds numbers in .*1\.parquet and text in .*2\.parquet"):
        read_table(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.97])
def test_truncated_file_is_named(tmp_path, claims, ending, kept):
    path = tmp_path / f"cut.{ending}"
    write_table(claims, path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(TableError, match=rf"cut\.{ending}.* anew"):
        read_table(path)
    with pytest.raises(TableError, match=rf"cut\.{ending}"):
        list(read_batches(path))


def test_truncated_file_in_a_folder_is_named(tmp_path, claims):
    write_table(claims, tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes((tmp_path / "1.parquet").read_bytes()[:-40])
    with pytest.raises(TableError, match=r"2\.parquet"):
        read_table(tmp_path)


def test_broken_jsonl(put):
    with pytest.raises(TableError, match=r"a\.jsonl"):
        read_table(put("a.jsonl", '{"x": 1}\n{"x": \n'))


def test_query_without_database(put):
    with pytest.raises(TableError, match="needs a database URL"):
        read_table(put("a.csv", "x\n1\n"), query="select 1")


def test_batches_of_no_rows(claims):
    with pytest.raises(TableError, match="batch_rows must be at least 1"):
        list(read_batches(claims, batch_rows=0))


@pytest.mark.parametrize(
    ("name", "advice"), [("claims.XLSX", r"or as \.csv"), ("claims.json", "is a list of objects")]
)
def test_formats_that_people_have_come_with_advice(put, name, advice):
    with pytest.raises(TableError, match=advice):
        read_table(put(name, "anything"))
