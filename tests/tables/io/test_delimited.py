"""CSV as people have it: separators, encodings, decimal commas, ragged rows."""

from __future__ import annotations

import gzip
from datetime import date, datetime

import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import read_batches, read_table, scan_table


@pytest.mark.parametrize(
    ("name", "separator"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.txt", "|")]
)
def test_separator_is_found_out(put, name, separator):
    path = put(name, "id,amount,make\n1,2.5,x\n2,3.5,y\n".replace(",", separator))
    assert read_table(path).rows() == [(1, 2.5, "x"), (2, 3.5, "y")]


def test_separator_inside_quotes_does_not_mislead(put):
    path = put("a.csv", 'id;text\n1;"a,b,c"\n2;"d,e,f"\n3;"g,h,i"\n')
    assert read_table(path)["text"].to_list() == ["a,b,c", "d,e,f", "g,h,i"]


def test_one_column(put):
    assert read_table(put("a.csv", "amount\n1\n2\n"))["amount"].to_list() == [1, 2]


def test_decimal_commas_in_semicolon_files(put):
    frame = read_table(put("a.csv", "id;amount\n1;2,5\n2;1000,25\n"))
    assert frame["amount"].to_list() == [2.5, 1000.25]


def test_decimal_points_in_semicolon_files(put):
    assert read_table(put("a.csv", "id;amount\n1;2.5\n2;3.5\n"))["amount"].to_list() == [2.5, 3.5]


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("utf-8", "Müller €"),
        ("utf-8-sig", "Müller"),
        ("latin-1", "Müller"),
        ("cp1252", "5 €"),
        ("utf-16", "Müller"),
        ("utf-16-le", "Müller"),
        ("utf-16-be", "Müller"),
    ],
)
def test_encodings(put, encoding, word):
    path = put("a.csv", f"näme,n\n{word},1\n".encode(encoding))
    assert read_table(path).to_dicts() == [{"näme": word, "n": 1}]
    assert scan_table(path).collect().to_dicts() == [{"näme": word, "n": 1}]


def test_latin_1_far_down_in_the_file(put):
    path = put("a.csv", b"name,n\n" + b"plain,1\n" * 200_000 + "Zoë,2\n".encode("latin-1"))
    assert read_table(path)["name"][-1] == "Zoë"


def test_lines_that_end_in_carriage_returns_alone(put):
    path = put("a.csv", "x,y\r1,ü\r\r3,\r")
    assert read_table(path).rows() == [(1, "ü"), (3, None)]
    assert pl.concat(read_batches(path, batch_rows=1)).rows() == [(1, "ü"), (3, None)]


def test_quoted_newlines_are_values(put):
    frame = read_table(put("a.csv", 'id,text,n\n1,"two\nlines",\n2,"say ""hi""",5\n'))
    assert frame["text"].to_list() == ["two\nlines", 'say "hi"']


def test_gzip(put):
    path = put("a.csv.gz", gzip.compress(b"id;amount\n1;2,5\n"))
    assert read_table(path).rows() == [(1, 2.5)]
    assert scan_table(path).collect().rows() == [(1, 2.5)]


def test_truncated_gzip_says_so(put):
    path = put("a.csv.gz", gzip.compress(b"id,amount\n" + bytes(range(48, 58)) * 5000)[:60])
    with pytest.raises(TableError, match=r"a\.csv\.gz.*complete"):
        read_table(path)


def test_words_for_missing_values(put):
    frame = read_table(put("a.csv", "x,y\n1,a\nNA,N/A\nnull,b\n,NaN\n2.5,c\n"))
    assert frame["x"].to_list() == [1.0, None, None, None, 2.5]
    assert frame["y"].to_list() == ["a", None, "b", None, "c"]


def test_text_far_below_numbers_makes_the_column_text(put):
    path = put("a.csv", "x,y\n" + "1,2\n" * 10_500 + "house,3\n")
    assert read_table(path)["x"][-1] == "house"


def test_zeros_before_digits_are_kept(put):
    frame = read_table(put("a.csv", "zip,n\n01234,1\n99999,2\n"))
    assert frame["zip"].to_list() == ["01234", "99999"]


def test_iso_dates(put):
    frame = read_table(put("a.csv", "day,at,n\n2024-02-29,2024-02-29T10:30:00,1\n,,2\n"))
    assert frame.rows()[0] == (date(2024, 2, 29), datetime(2024, 2, 29, 10, 30), 1)
    assert frame.rows()[1] == (None, None, 2)


@pytest.mark.parametrize("bad", ["3\n", "3,4,5\n"], ids=["short", "long"])
def test_ragged_rows_are_named_by_line(put, bad):
    path = put("a.csv", f'x,y\n"1\n1",2\n3,4\n{bad}5,6\n')
    with pytest.raises(TableError, match=r"a\.csv, line 5: \d fields where the header has 2"):
        read_table(path)
    with pytest.raises(TableError, match=r"cannot read|line 5"):
        list(read_batches(path))


def test_short_row_in_batches_is_named_by_line(put):
    with pytest.raises(TableError, match="line 3: 1 fields"):
        list(read_batches(put("a.csv", "x,y\n1,2\n3\n")))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_blank_lines_are_no_rows_and_empty_rows_are(put, newline, encoding):
    path = put("a.csv", "x,y\n1,ü\n\n3,\n,\n\n".replace("\n", newline).encode(encoding))
    assert read_table(path).rows() == [(1, "ü"), (3, None), (None, None)]
    assert pl.concat(read_batches(path, batch_rows=2)).rows() == [(1, "ü"), (3, None), (None, None)]


def test_empty_last_column_is_not_ragged(put):
    assert read_table(put("a.csv", "x,y\n1,\n2,\n")).rows() == [(1, None), (2, None)]


def test_unclosed_quote(put):
    with pytest.raises(TableError, match=r"a\.csv"):
        read_table(put("a.csv", 'x,y\n1,"a\n2,b\n3,c\n'))
    with pytest.raises(TableError, match=r"lines 3 to 5.* Is a closing quote missing in line 3\?"):
        read_table(put("a.csv", 'x,y,z\n0,0,0\n1,"a,1\n2,b,2\n3,c,3\n'))


def test_a_title_above_the_names_is_left_out(put):
    path = put("a.csv", "Report of March\n\nx,y\n1,2\n")
    assert read_table(path).rows() == [(1, 2)]
    assert scan_table(path).collect().rows() == [(1, 2)]


def test_names_that_are_fewer_than_the_values_are_no_title(put):
    with pytest.raises(TableError, match=r"line 2: 4 fields where the header has 3"):
        read_table(put("a.csv", "x,y,z\n1,2,3,\n4,5,6,\n"))


def test_all_ragged_lines_are_named(put):
    with pytest.raises(TableError, match=r"line 2: 3 fields .* in 2 more \(lines 4, 5\)"):
        read_table(put("a.csv", "x,y\n1,2,3\n4,5\n6\n7,8,9\n"))


def test_names_that_are_blank_get_a_number(put):
    assert read_table(put("a.csv", ",x\n0,5\n")).columns == ["column_1", "x"]


@pytest.mark.parametrize("content", ["", "\n\n", "  \n"])
def test_empty_file(put, content):
    with pytest.raises(TableError, match="is empty; it needs a line of column names"):
        read_table(put("a.csv", content))


def test_header_without_rows(put):
    with pytest.raises(TableError, match=r"a\.csv has no rows"):
        read_table(put("a.csv", "x,y\n"))


def test_repeated_names(put):
    with pytest.raises(TableError, match="2 columns named 'x'; rename"):
        read_table(put("a.csv", "x,y,x\n1,2,3\n"))
