import datetime as dt

import polars as pl
import pytest

from shortlist.exceptions import TableError
from shortlist.tables import Roles, Schema, load_table, read_table, write_table
from shortlist.tables.label import wanted_rows


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([*map(str, range(40)), "old"], "holds numbers and also 'old'.*--missing old.*--category.*--ignore"),
        ([*map(str, range(4)), "old", "new"], "also 'new', 'old'"),
        (
            ["01/02/2024", "30/11/2024", "28/12/2024", "12/31/2024"],
            "dates, written like .* also '12/31/2024'",
        ),
        (["1.5", "1.234,5", "2.5"], "with decimal points and with decimal commas"),
        (["$5", "€7", "$6"], r"mixes \$ and €"),
        (["5 %", "0.07", "6 %"], "mixes numbers without a sign and %"),
        ([f"{i}'000.- Lei" for i in range(40)], r"average\. If it names the rows"),
        ([f"claim {i}" for i in range(40)], r"average\. If it names the rows"),
        ([f"C-{i:06}" for i in range(40)], r"average\. If it names the rows"),
        ([f"A{i}" for i in range(40)], r"average\. If it names the rows"),
    ],
)
def test_what_is_no_category_is_refused_with_the_advice_that_fits(values, words):
    with pytest.raises(TableError, match=words):
        Schema.learn(pl.DataFrame({"amount due": values}))


def test_option_in_advice_can_be_pasted():
    with pytest.raises(TableError, match="--ignore 'amount due'"):
        Schema.learn(pl.DataFrame({"amount due": [f"n{i}" for i in range(40)]}))


def test_month_names_are_dates():
    frame = pl.DataFrame({"day": ["01-Apr-2024", "28-feb-2024"]})
    first, second = Schema.learn(frame).matrix(frame)[:, 0]
    assert first - second == (dt.date(2024, 4, 1) - dt.date(2024, 2, 28)).days


def test_the_rarer_value_is_proposed_as_wanted():
    with pytest.raises(TableError, match="--wanted fraud"):
        wanted_rows(pl.Series("outcome", ["legit", "legit", "fraud"]))


def test_whole_numbers_beyond_64_bits_are_names(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,fraud,x\n" + "".join(f"9999999999999999999999999{i},{i % 2},{i}\n" for i in range(4)))
    table = load_table(path, Roles(id="id", label="fraud"))
    assert table.ids[3] == "99999999999999999999999993"


def test_a_database_table_is_read_as_it_is_written(tmp_path):
    target = f"sqlite:///{tmp_path}/claims.db::history"
    write_table(pl.DataFrame({"amount": [3, 5]}), target)
    assert read_table(target)["amount"].to_list() == [3, 5]


@pytest.mark.parametrize(
    ("ending", "column"), [("csv", pl.Series([[1], [2]])), ("jsonl", pl.Series([b"a", b"b"]))]
)
def test_what_a_line_of_text_cannot_hold_is_named(tmp_path, ending, column):
    with pytest.raises(TableError, match=r"column 'odd' .* Write \.parquet"):
        write_table(pl.DataFrame({"odd": column}), tmp_path / f"rows.{ending}")
    assert list(tmp_path.iterdir()) == []
