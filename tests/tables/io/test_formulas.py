"""No CSV file of ours is run by a spreadsheet, and what was written is what is read."""

import csv

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.tables import read_batches, read_table, write_table
from shortlist.tables.io.formulas import marked, unmark, unmarked, unmarked_name

RUN = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "＝1+1",
    "'=1+1",
    "-",
    "--5",
]
PLAIN = ["fine", "'t Hart", "a=b", "-5", "+49,30", "-1.5e-3", "", "it's", "1-2"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
def test_what_a_spreadsheet_would_run_is_marked_and_nothing_else(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    write_table(pl.DataFrame({"note": [*RUN, *PLAIN], "=cmd()": 1, "amount": -1.5}), path)
    with path.open(newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t" if ending == "tsv" else ",")
    assert header == ["note", "'=cmd()", "amount"]
    assert [row[0] for row in rows] == [*("'" + text for text in RUN), *PLAIN]
    assert {row[2] for row in rows} == {"-1.5"}


def test_what_was_written_is_what_is_read(tmp_path):
    path = tmp_path / "rows.csv"
    told = pl.DataFrame({"note": [*RUN, *PLAIN[:3]], "=cmd()": 1})
    write_table(told, path)
    assert read_table(path).to_dict(as_series=False) == told.to_dict(as_series=False)
    assert next(iter(read_batches(path)))["note"].to_list() == told["note"].to_list()


def test_programs_may_have_text_as_it_is(tmp_path):
    path = tmp_path / "rows.csv"
    write_table(pl.DataFrame({"note": ["=1+1"]}), path, formula_safe=False)
    assert path.read_text() == "note\n=1+1\n"


@given(st.lists(st.text("='+-@＝ 5.e\t\na", max_size=5)))
def test_marks_are_taken_away_again(texts):
    frame = pl.DataFrame({"note": pl.Series(texts, dtype=pl.String)})
    shown = marked(frame.lazy()).collect()
    assert not any(text[:1] in tuple("=@＝\t\n") for text in shown["note"])
    assert unmarked(shown).equals(frame)
    assert shown.lazy().with_columns(unmark(pl.col("note"))).collect().equals(frame)


def test_names_of_columns_are_marked_alike():
    frame = marked(pl.LazyFrame({"=a": ["x"], "'=a": ["y"], "-1": ["z"], "b": ["w"]})).collect()
    assert frame.columns == ["'=a", "''=a", "-1", "b"]
    assert [unmarked_name(name) for name in frame.columns] == ["=a", "'=a", "-1", "b"]
