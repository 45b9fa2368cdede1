"""A format is one record: reading, writing, folders and messages follow from it."""

import importlib
import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shortlist.cli import _options
from shortlist.exceptions import MissingExtraError, TableError
from shortlist.stream.run.sources import open_source
from shortlist.tables import read_batches, read_table, scan_table, write_table
from shortlist.tables.io import files, write
from shortlist.tables.io.files import FORMATS, Format, format_of

SHEET = Format(
    "sheet",
    (".sheet", ".sheets"),
    scan=lambda path, hive: pl.LazyFrame(json.loads(path.read_text())),
    sink=lambda rows, file, ending: file.write(json.dumps(rows.collect().to_dict(as_series=False)).encode()),
    refuses=lambda dtype: dtype == pl.Date,
    needs=("polars", "sheets"),
)
ROWS = pl.DataFrame({"amount": [3, 5, 4], "make": ["a", "b", "a"]})


@pytest.fixture
def with_sheets(monkeypatch):
    """A function that adds the format of sheets, perhaps changed."""

    def add(sheet=SHEET):
        for module in (files, write):
            monkeypatch.setattr(module, "FORMATS", (*FORMATS, sheet))

    add()
    return add


@pytest.mark.usefixtures("with_sheets")
def test_one_record_is_read_and_written(tmp_path):
    for name in ("a.sheet", "b.sheets"):
        write_table(ROWS, tmp_path / name)
    assert_frame_equal(read_table(tmp_path / "a.sheet"), ROWS)
    assert_frame_equal(scan_table(str(tmp_path / "b.sheets")).collect(), ROWS)
    assert_frame_equal(read_table(tmp_path), pl.concat([ROWS, ROWS]))
    assert_frame_equal(pl.concat(read_batches(tmp_path, batch_rows=2)), pl.concat([ROWS, ROWS]))


@pytest.mark.usefixtures("with_sheets")
def test_messages_follow_from_the_record(tmp_path):
    (tmp_path / "rows.what").write_text("x")
    with pytest.raises(TableError, match=r"Shortlist reads \.csv .*\.sheet \.sheets\."):
        read_table(tmp_path / "rows.what")
    with pytest.raises(TableError, match=r"write \.csv .*\.sheet or \.sheets, or URL::table"):
        write_table(ROWS, tmp_path / "out.what")
    with pytest.raises(TableError, match=r"name it \.csv, .* or \.sheet\."):
        open_source(str(tmp_path / "rows.what"), None, tmp_path / "spool", window_rows=None, watch=False)
    with pytest.raises(TableError, match=r"column 'day' holds Date, which a \.sheet file cannot"):
        write_table(ROWS.select(day=pl.date(2024, 1, 1)), tmp_path / "out.sheet")


def test_help_follows_from_the_record(with_sheets, monkeypatch):
    with_sheets()
    changed = importlib.reload(_options).Output.__metadata__[0].help
    monkeypatch.undo()
    usual = importlib.reload(_options).Output.__metadata__[0].help
    assert changed == usual.replace(".xlsx, or", ".xlsx, .sheet, or")


def test_what_a_format_needs_is_said_before_it_is_read_or_written(with_sheets, tmp_path):
    (tmp_path / "a.sheet").write_text("{}")
    with_sheets(Format(**{**vars(SHEET), "needs": ("no_such_package", "sheets")}))
    message = r"needs no_such_package, .* pip install 'shortlist\[sheets\]'"
    with pytest.raises(MissingExtraError, match=message):
        read_table(tmp_path / "a.sheet")
    with pytest.raises(MissingExtraError, match=message):
        write.check_target(tmp_path / "b.sheet")


def test_each_ending_is_of_one_format(tmp_path):
    endings = [ending for each in FORMATS for ending in each.endings]
    assert len({*endings}) == len(endings)
    for each in FORMATS:
        for ending in each.endings:
            assert format_of(tmp_path / f"rows{ending.upper()}") is each
            assert format_of(tmp_path / f"rows{ending}.gz") is (each if each.gzip else None)
