"""The one way out: what is written comes back, and a failure leaves no trace."""

from __future__ import annotations

import os
import string
import tempfile
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shortlist.exceptions import TableError
from shortlist.tables import read_table, write_table
from shortlist.tables.io.write import sync_folder

ENDINGS = ["csv", "tsv", "parquet", "arrow", "jsonl"]
# Words of a letter and more cannot be taken for numbers, dates or missing values.
words = st.text(string.printable + "äß€", max_size=8).map(lambda text: f"w{text}w")
COLUMNS = {
    "whole": st.integers(-(2**62), 2**62),
    "number": st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    "flag": st.booleans(),
    "word": words,
    "day": st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    "at": st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
}
TYPES = [pl.Int64, pl.Float64, pl.Boolean, pl.String, pl.Date, pl.Datetime("us")]
rows = st.fixed_dictionaries({name: st.none() | values for name, values in COLUMNS.items()})


def frame_of(rows: list[dict]) -> pl.DataFrame:
    # The first row has no gaps, so that every column of a CSV file has a type.
    return pl.DataFrame(rows, schema=dict(zip(COLUMNS, TYPES, strict=True)))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow"])
@given(first=st.fixed_dictionaries(COLUMNS), rest=st.lists(rows, max_size=6))
@settings(max_examples=40)
def test_what_is_written_comes_back(ending, first, rest):
    frame = frame_of([first, *rest])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{ending}"
        write_table(frame, path)
        assert_frame_equal(read_table(path), frame)


def test_jsonl_comes_back(tmp_path, claims):
    write_table(claims, tmp_path / "rows.jsonl")
    assert_frame_equal(read_table(tmp_path / "rows.jsonl").drop("day"), claims.drop("day"))


@pytest.mark.parametrize("ending", ENDINGS)
def test_old_file_is_replaced_and_nothing_else_is_left(tmp_path, claims, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text("old")
    write_table(claims, path)
    assert read_table(path).height == 40
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_file_is_kept_when_asked(tmp_path, claims):
    (tmp_path / "rows.csv").write_text("old")
    with pytest.raises(TableError, match="exists already"):
        write_table(claims, tmp_path / "rows.csv", replace=False)
    assert (tmp_path / "rows.csv").read_text() == "old"


@pytest.mark.parametrize("ending", ENDINGS)
def test_failure_while_writing_leaves_the_old_file_alone(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_text("old")
    breaks_late = pl.LazyFrame({"x": ["1"] * 5000 + ["house"]}).with_columns(pl.col("x").cast(pl.Int64))
    with pytest.raises(TableError, match="target is unchanged"):
        write_table(breaks_late, path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_crash_before_the_rename_leaves_the_old_file_alone(tmp_path, claims, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("old")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_table(claims, path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def refuse_folders(monkeypatch):
    """As Windows does."""
    opened = os.open

    def refuse(path, flags, *more, **others):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *more, **others)

    monkeypatch.setattr("os.open", refuse)


def test_a_folder_that_cannot_be_opened_is_not_asked_for(tmp_path, claims, monkeypatch):
    refuse_folders(monkeypatch)
    monkeypatch.setattr("shortlist.tables.io.write.os.name", "nt")
    sync_folder(tmp_path)
    monkeypatch.undo()
    write_table(claims, tmp_path / "rows.csv")
    assert read_table(tmp_path / "rows.csv").height == claims.height


def test_a_file_that_was_written_is_not_called_unchanged(tmp_path, claims, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("old")
    refuse_folders(monkeypatch)
    with pytest.raises(TableError, match="is written, but its disk does not say"):
        write_table(claims, path)
    assert read_table(path).height == claims.height


def test_nested_values_do_not_fit_csv(tmp_path):
    with pytest.raises(TableError, match=r"cannot write .*rows\.csv"):
        write_table(pl.DataFrame({"x": [[1, 2]]}), tmp_path / "rows.csv")
    assert not any(tmp_path.iterdir())


def test_formulas_can_be_defused(tmp_path):
    frame = pl.DataFrame({"note": ["=1+1", "@x", "fine", None], "n": [-1, 2, 3, 4]})
    write_table(frame, tmp_path / "a.csv", formula_safe=True)
    assert (tmp_path / "a.csv").read_text() == "note,n\n'=1+1,-1\n'@x,2\nfine,3\n,4\n"


@pytest.mark.parametrize("name", ["rows", "rows.xls", "rows.csv.gz"])
def test_unknown_ending(tmp_path, claims, name):
    with pytest.raises(TableError, match="cannot tell the format"):
        write_table(claims, tmp_path / name)


def test_missing_folder_and_folder_as_target(tmp_path, claims):
    with pytest.raises(TableError, match="no folder"):
        write_table(claims, tmp_path / "nowhere" / "rows.csv")
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(TableError, match="is a folder"):
        write_table(claims, tmp_path / "rows.csv")
