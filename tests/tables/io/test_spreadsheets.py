"""Spreadsheets in and out: titles, sheets, types, text that looks like a formula."""

from __future__ import annotations

import zipfile
from datetime import date

import polars as pl
import pytest
import xlsxwriter

from shortlist.exceptions import MissingExtraError, TableError
from shortlist.tables import Roles, load_table, read_batches, read_table, write_table
from shortlist.tables.io import files

FRAME = pl.DataFrame(
    {"id": ["a", "b"], "amount": [3.5, None], "day": [date(2024, 1, 31), date(2024, 2, 1)], "seats": [4, 5]}
)


def book(path, **sheets):
    with xlsxwriter.Workbook(path) as new:
        for name, rows in sheets.items():
            sheet = new.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return path


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "rows.xlsx"
    write_table(FRAME, path)
    assert read_table(path).equals(FRAME)
    assert pl.concat(read_batches(path, batch_rows=1)).equals(FRAME)


def test_text_stays_text(tmp_path):
    path = tmp_path / "rows.xlsx"
    notes = ["=1+1", "@sum", "+3", "https://evil.example/x", "mailto:eve@evil.example", "file://host/share"]
    write_table(pl.DataFrame({"note": notes}), path)
    sheet = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet
    assert read_table(path)["note"].to_list() == notes


@pytest.mark.parametrize("above", [[["Claims of March"], []], [["Claims"], ["made by", "me"], []], []])
def test_names_are_found_below_a_title(tmp_path, above):
    rows = [*above, ["id", "amount", "fraud", "make"], [1, 2.5, "Y", "Audi"], [2, 7, "N", "Audi"]]
    table = load_table(book(tmp_path / "a.xlsx", Claims=rows), Roles(id="id", label="fraud"))
    assert table.frame.columns == ["id", "amount", "fraud", "make"]
    assert table.X[:, 0].tolist() == [2.5, 7.0]


def test_money_and_percents_as_text_are_numbers(tmp_path):
    rows = [["amount", "rate", "fraud"], ["1.234,50 €", "5 %", "Y"], ["7 €", "12,5 %", "N"]]
    table = load_table(book(tmp_path / "a.xlsx", Claims=rows), Roles(label="fraud"))
    assert table.X.tolist() == [[1234.5, pytest.approx(0.05)], [7.0, 0.125]]


def test_a_sheet_is_named_where_several_are_filled(tmp_path):
    path = book(
        tmp_path / "a.xlsx", Notes=[["to whom it may concern"]], Claims=[["x", "y"], [1, 2]], Empty=[]
    )
    with pytest.raises(TableError, match=r"2 sheets with something on them: Notes, Claims.*a\.xlsx::Notes"):
        read_table(path)
    assert read_table(f"{path}::Claims").rows() == [(1, 2)]
    with pytest.raises(TableError, match=r"no sheet 'Claim'\. Did you mean 'Claims'"):
        read_table(f"{path}::Claim")
    only = book(tmp_path / "b.xlsx", Claims=[["x", "y"], [1, 2]], Empty=[])
    assert read_table(only).rows() == [(1, 2)]


def test_what_is_wrong_with_a_file_is_said(tmp_path):
    with pytest.raises(TableError, match="is empty"):
        read_table(book(tmp_path / "empty.xlsx", Empty=[]))
    with pytest.raises(TableError, match="2 columns named 'x'"):
        read_table(book(tmp_path / "twice.xlsx", Claims=[["x", "x"], [1, 2]]))
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(b"PK\x03\x04 no book")
    with pytest.raises(TableError, match=r"cannot read .*broken\.xlsx"):
        read_table(broken)
    with pytest.raises(TableError, match=r"cannot tell the format of .*a\.xls by its ending; write"):
        write_table(FRAME, tmp_path / "a.xls")
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(TableError, match="only spreadsheets and databases"):
        read_table(f"{tmp_path}/a.csv::Claims")


def test_what_is_missing_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"shortlist\[excel\]"):
        read_table(book(tmp_path / "a.xlsx", Claims=[["x"], [1]]))
