"""A museum of odd files: each is read right, or refused with all that is wrong and what to do about it.

Every exhibit is a table of a few rows. ``read`` says which numbers a column becomes, ``refused`` what the message has
to say: never may a number or a date silently become a category, or another number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import ShortlistError
from shortlist.tables import Roles, Schema, load_table

FRAUD = ["Y", "N", "N", "Y"]
DAYS = [date(2015, 1, 25), date(2015, 1, 21), date(2014, 2, 22), date(2015, 12, 3)]
AMOUNTS = [71610.0, 5070.0, 340.5, -12.0]
WHOLE = [71610.0, 5070.0, 340.0, 12.0]


@dataclass
class Exhibit:
    """A file, or a column that stands in one with commas; and what is to become of it."""

    name: str
    values: list[str] = field(default_factory=list)
    text: str = ""
    encoding: str = "utf-8"
    read: list | None = None  # numbers of the column x, or dates
    says: str = ""  # a note that must be there
    refused: tuple[str, ...] = ()
    roles: dict = field(default_factory=dict)

    def content(self) -> str:
        if self.text:
            return self.text
        cells = (f'"{value}"' for value in self.values)
        return "x,fraud\n" + "".join(f"{cell},{label}\n" for cell, label in zip(cells, FRAUD, strict=True))


def semicolons(*values: str, head: str = "x;fraud") -> str:
    return head + "\n" + "".join(f"{each};{label}\n" for each, label in zip(values, FRAUD, strict=True))


MUSEUM = [
    # Dates.
    Exhibit("day-mon-yy", ["25-Jan-15", "21-Jan-15", "22-Feb-14", "03-Dec-15"], read=DAYS, says="two digits"),
    Exhibit("day-mon-yyyy", ["25-JAN-2015", "21-jan-2015", "22-Feb-2014", "3-Dec-2015"], read=DAYS),
    Exhibit("long", ["January 25, 2015", "January 21, 2015", "February 22, 2014", "December 3, 2015"], read=DAYS),
    Exhibit("long-short", ["Jan 25, 2015", "Jan. 21, 2015", "Feb 22, 2014", "Dec 3, 2015"], read=DAYS),
    Exhibit("german-words", ["25. Januar 2015", "21. Januar 2015", "22. Feb. 2014", "3. Dez. 2015"], read=DAYS),
    Exhibit("french-words", ["25 janvier 2015", "21 janv. 2015", "22 février 2014", "3 déc. 2015"], read=DAYS),
    Exhibit("spanish-words", ["25 enero 2015", "21 ene 2015", "22 feb 2014", "3 dic 2015"], read=DAYS),
    Exhibit("mail", ["Sun, 25 Jan 2015", "Wed, 21 Jan 2015", "Sat, 22 Feb 2014", "Thu, 3 Dec 2015"], read=DAYS),
    Exhibit("year-month", ["2015-01", "2014-12", "2014-02", "2015-12"],
            read=[date(2015, 1, 1), date(2014, 12, 1), date(2014, 2, 1), date(2015, 12, 1)]),
    Exhibit("month-year", ["01/2015", "12/2014", "02/2014", "12/2015"],
            read=[date(2015, 1, 1), date(2014, 12, 1), date(2014, 2, 1), date(2015, 12, 1)]),
    Exhibit("mon-yy", ["Jan-15", "Dec-14", "Feb-14", "Dec-15"],
            read=[date(2015, 1, 1), date(2014, 12, 1), date(2014, 2, 1), date(2015, 12, 1)]),
    Exhibit("digits", ["20150125", "20150121", "20140222", "20151203"], read=DAYS, says="read as dates"),
    Exhibit("american", ["1/25/2015", "1/21/2015", "2/22/2014", "12/3/2015"], read=DAYS),
    Exhibit("american-short", ["1/25/15", "1/21/15", "2/22/14", "12/3/15"], read=DAYS, says="two digits"),
    Exhibit("british", ["25/01/2015", "21/01/2015", "22/02/2014", "03/12/2015"], read=DAYS),
    Exhibit("day-or-month", ["1/2/2015", "3/4/2015", "5/6/2014", "7/8/2015"],
            read=[date(2015, 2, 1), date(2015, 4, 3), date(2014, 6, 5), date(2015, 8, 7)], says="other way round"),
    Exhibit("dots", ["25.01.2015", "21.01.2015", "22.02.2014", "3.12.2015"], read=DAYS),
    Exhibit("dots-short", ["25.01.15", "21.01.15", "22.02.14", "03.12.15"], read=DAYS),
    Exhibit("am-pm", ["1/25/2015 12:30 AM", "1/21/2015 1:30 PM", "2/22/2014 11:00 AM", "12/3/2015 12:00 PM"],
            read=DAYS),
    Exhibit("zone", ["2015-01-25T00:00:00+02:00", "2015-01-21T10:00:00+02:00", "2014-02-22T23:59:59+01:00",
                     "2015-12-03T01:00:00+02:00"], read=DAYS),
    Exhibit("zone-plain", ["2015-01-25T00:00:00+0200", "2015-01-21T10:00:00+0200", "2014-02-22T23:59:59+0200",
                           "2015-12-03T01:00:00+0200"], read=DAYS),
    Exhibit("zulu", ["2015-01-25T00:00:00Z", "2015-01-21T10:00:00Z", "2014-02-22T23:59:59.5Z", "2015-12-03T01:00:00Z"],
            read=DAYS),
    Exhibit("zone-name", ["2015-01-25 10:00:00 CET", "2015-01-21 10:00:00 CET", "2014-02-22 10:00:00 CET",
                          "2015-12-03 10:00:00 CET"], read=DAYS),
    Exhibit("dates-and-unknown", ["2015-01-25", "unknown", "2014-02-22", "?"], read=[DAYS[0], None, DAYS[2], None],
            says="read as missing"),
    Exhibit("two-orders", ["25/01/2015", "21/01/2015", "22/02/2014", "12/31/2015"],
            refused=("'x' holds dates", "also '12/31/2015'", "--category x", "--ignore x")),
    # Numbers.
    Exhibit("dollars", ["$71,610.00", "$5,070.00", "$340.50", "-$12.00"], read=AMOUNTS),
    Exhibit("accounting", ["$71,610.00", "$5,070.00", "$340.50", "($12.00)"], read=AMOUNTS),
    Exhibit("euros", ["71.610,00 €", "5.070,00 €", "340,50 €", "-12,00 €"], read=AMOUNTS),
    Exhibit("euro-code", ["EUR 71.610,00", "EUR 5.070,00", "EUR 340,50", "EUR -12,00"], read=AMOUNTS),
    Exhibit("swiss", ["CHF 71'610.00", "CHF 5'070.00", "CHF 340.50", "CHF -12.00"], read=AMOUNTS),
    Exhibit("french-spaces", ["71\u202f610,00\u00a0€", "5\u202f070,00\u00a0€", "340,50\u00a0€", "-12,00\u00a0€"],
            read=AMOUNTS),
    Exhibit("minus-behind", ["71610.00", "5070.00", "340.50", "12.00-"], read=AMOUNTS),
    Exhibit("typeset-minus", ["71,610", "5,070", "340.5", "−12"], read=AMOUNTS),
    Exhibit("thousands", ["71,610", "5,070", "340", "12"], read=WHOLE, says="'5,070' is read as 5070"),
    Exhibit("indian", ["₹71,610.00", "₹12,05,070.00", "₹340", "₹12"], read=[71610.0, 1205070.0, 340.0, 12.0]),
    Exhibit("percent", ["20%", "0%", "12.5%", "100%"], read=[0.2, 0.0, 0.125, 1.0]),
    Exhibit("percent-comma", ["20 %", "0 %", "12,5 %", "100 %"], read=[0.2, 0.0, 0.125, 1.0]),
    Exhibit("question-marks", ["71610", "?", "340", "?"],
            read=[71610.0, None, 340.0, None], says="'?' is read as missing"),
    Exhibit("spreadsheet-errors", ["71610", "#DIV/0!", "340", "#REF!"],
            read=[71610.0, None, 340.0, None], says="missing"),
    Exhibit("words-for-nothing", ["71610", "unknown", "340", "n.a."],
            read=[71610.0, None, 340.0, None], says="'n.a.', 'unknown'"),
    Exhibit("own-word", ["71610", "no idea", "340", "-1"], read=[71610.0, None, 340.0, None],
            roles={"missing": ["no idea", "-1"]}),
    Exhibit("numbers-and-a-word", ["71610", "5070", "340", "high"],
            refused=("'x' holds numbers and also 'high'", "--missing high", "--category x", "--ignore x")),
    Exhibit("two-currencies", ["$71,610", "€5,070", "$340", "€12"], refused=("mixes \\$ and €", "--ignore x")),
    Exhibit("percent-and-share", ["20%", "0.3", "12%", "1%"], refused=("mixes numbers without a sign and %",)),
    Exhibit("points-and-commas", ["1.234,50", "1,234.50", "340", "12"],
            refused=("decimal points and with decimal commas",)),
    # Files.
    Exhibit("semicolon-thousands", text=semicolons("71.610", "5.070", "340", "12"),
            read=WHOLE, says="between thousands"),
    Exhibit("semicolon-comma", text=semicolons("71.610,00", "5.070,00", "340,50", "-12,00"), read=AMOUNTS),
    Exhibit("semicolon-point", text=semicolons("71610.00", "5070.0", "340.5", "-12"), read=AMOUNTS),
    Exhibit("sep-line", text="sep=;\n" + semicolons("71610", "5070", "340", "12"), read=WHOLE),
    Exhibit("sep-line-bom", text="\ufeffsep=;\r\n" + semicolons("71610", "5070", "340", "12").replace("\n", "\r\n"),
            read=WHOLE),
    Exhibit("title", text="Claims of March;\n;\n" + semicolons("71610", "5070", "340", "12"),
            read=WHOLE, says="line 3"),
    Exhibit("title-alone", text="Claims of March\n\n" + semicolons("71610", "5070", "340", "12"),
            read=WHOLE, says="line 3"),
    Exhibit("total", text="x,make,town,fraud\n71610,Saab,Ulm,Y\n5070,Audi,Ulm,N\n340,Saab,Bonn,N\n"
            "12,Audi,Bonn,Y\n77032,Total,,\n",
            read=WHOLE, says="holds sums"),
    Exhibit("excel-german", text=semicolons("71.610,00 €", "5.070,00 €", "340,50 €", "-12,00 €", head="x;fraud"),
            encoding="cp1252", read=AMOUNTS),
    Exhibit("excel-french", text=semicolons("25/01/2015", "21/01/2015", "22/02/2014", "03/12/2015"), encoding="cp1252",
            read=DAYS),
    Exhibit("excel-unicode", text=semicolons("71610", "5070", "340", "12").replace(";", "\t"), encoding="utf-16",
            read=WHOLE),
    Exhibit("excel-american",
            text="\ufeff" + 'x,fraud\r\n"$71,610.00 ",Y\r\n"$5,070.00 ",N\r\n$340.50 ,N\r\n-$12.00 ,Y\r\n',
            read=AMOUNTS),
    Exhibit("names-twice", text="x,x,y,y,fraud\n1,2,3,4,Y\n5,6,7,8,N\n",
            refused=("2 columns named 'x'", "2 columns named 'y'")),
    Exhibit("ragged", text="x,fraud\n1,Y,9\n2,N\n3,N,9\n4,Y\n",
            refused=("line 2: 3 fields where the header has 2", "lines? 4")),
]  # fmt: skip


def put(exhibit: Exhibit, folder) -> str:
    path = folder / f"{exhibit.name}.csv"
    path.write_bytes(exhibit.content().encode(exhibit.encoding))
    return str(path)


def as_numbers(values: list) -> np.ndarray:
    numbers = [(each - date(1970, 1, 1)).days if isinstance(each, date) else each for each in values]
    return np.array([np.nan if each is None else each for each in numbers], dtype=np.float32)


def test_there_are_forty_and_each_has_a_name_of_its_own():
    assert len({each.name for each in MUSEUM}) == len(MUSEUM) >= 40
    assert all((each.read is None) != (each.refused == ()) for each in MUSEUM)


@pytest.mark.parametrize("exhibit", [each for each in MUSEUM if each.read], ids=lambda each: each.name)
def test_read_right(exhibit, tmp_path):
    table = load_table(put(exhibit, tmp_path), Roles(label="fraud", **exhibit.roles))
    feature = table.schema.features[0]
    assert feature.kind == ("date" if isinstance(exhibit.read[0], date) else "number")
    np.testing.assert_array_equal(table.X[:, 0], as_numbers(exhibit.read))
    assert exhibit.says in " ".join(table.notes)
    assert table.y.tolist() == [True, False, False, True]


@pytest.mark.parametrize("exhibit", [each for each in MUSEUM if each.read], ids=lambda each: each.name)
def test_new_rows_are_read_by_the_stored_schema_as_in_training(exhibit, tmp_path):
    path = put(exhibit, tmp_path)
    table = load_table(path, Roles(label="fraud", **exhibit.roles))
    stored = Schema.from_dict(table.schema.to_dict())
    again = load_table(path, stored.roles, schema=stored, labelled=False)
    np.testing.assert_array_equal(again.X, table.X)


@pytest.mark.parametrize("exhibit", [each for each in MUSEUM if each.refused], ids=lambda each: each.name)
def test_refused_with_all_problems_and_remedies(exhibit, tmp_path):
    with pytest.raises(ShortlistError) as refusal:
        load_table(put(exhibit, tmp_path), Roles(label="fraud", **exhibit.roles))
    for words in exhibit.refused:
        assert refusal.match(words)


def test_all_problems_of_a_table_are_told_at_once(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(
        "id,day,amount,rate,made,fraud,due\n1,2015-01-25,5,3%,1999,Y,1\n1,2015-01-26,6,4%,2001,,x\n"
        "3,soon,many,0.5,2002,N,3\n4,2015-01-28,7,2%,old,N,4\n"
    )
    with pytest.raises(ShortlistError) as refusal:
        load_table(path, Roles(id="id", label="fraud", time="day", impact="due"))
    said = str(refusal.value)
    for words in ("id column 'id' names several", "label column 'fraud' is empty in 1 of 4", "impact column 'due'",
                  "time column 'day'", "'soon' in 1 row", "'amount' holds numbers and also 'many'", "'rate' mixes",
                  "'made' holds numbers and also 'old'"):  # fmt: skip
        assert words in said
    assert "the table has 7 problems" in said


@pytest.mark.parametrize(
    ("times", "first", "says"),
    [
        ([1422144000, 1422144001], datetime(2015, 1, 25), "seconds since 1970"),
        ([1422144000000, 1422144000500], datetime(2015, 1, 25), "milliseconds since 1970"),
        ([20150125, 20150126], datetime(2015, 1, 25), ""),
        ([201501, 201502], datetime(2015, 1, 1), ""),
        (["2015-01-25 00:00 EST", "2015-01-25 00:00 CET"], datetime(2015, 1, 25, 5), "all are read as UTC"),
        (["2015-01-25T00:00:00+02:00", "2015-07-25T00:00:00+03:00"], datetime(2015, 1, 25), ""),
        (["1/2/2015", "1/3/2015"], datetime(2015, 2, 1), "other way round"),
    ],
)
def test_times_of_all_kinds(times, first, says):
    frame = pl.DataFrame({"at": times, "fraud": ["Y", "N"], "x": [1, 2]})
    table = load_table(frame, Roles(label="fraud", time="at"))
    assert table.time[0] == np.datetime64(first)
    assert says in " ".join(table.notes)


@pytest.mark.parametrize(
    ("trained", "new", "error"),
    [
        (["$5", "$7"], ["€5", "€7"], r"with \$ in training and is written with € now"),
        (["5%", "7%"], ["5", "7"], "with % in training and is written without a sign now"),
        (["5%", "7%"], [5.0, 7.0], "with % in training and is written without a sign now"),
        (["5", "7"], ["5%", "7%"], "without a sign in training and is written with % now"),
    ],
)
def test_new_rows_in_another_unit_are_refused(trained, new, error):
    schema = Schema.learn(pl.DataFrame({"x": trained}))
    with pytest.raises(ShortlistError, match=error):
        schema.encode(pl.DataFrame({"x": new}))


@pytest.mark.parametrize(
    ("trained", "new", "number"),
    [
        (["$1,234.50", "$7"], ["1234.5"], 1234.5),
        (["1.234,50 €", "7 €"], ["2.000 €"], 2000),
        (["1.234,50 €", "7 €"], ["2,000.50 €"], 2000.5),
        (["5%", "7%"], [0.05], 0.05),
        ([5, 7], ["$1,000"], 1000),
    ],
)
def test_new_rows_may_be_written_in_another_way(trained, new, number):
    schema = Schema.learn(pl.DataFrame({"x": trained}))
    assert schema.matrix(pl.DataFrame({"x": new}))[0, 0] == np.float32(number)


def test_the_schema_says_what_a_number_is():
    frame = pl.DataFrame({"due": ["$5", "$7"], "rate": ["5%", "7%"], "zip": ["00123", "04567"]})
    due, rate, code = Schema.learn(frame).features
    assert (due.unit, rate.unit, code.code) == ("$", "%", True)
    named = Schema.learn(frame, Roles(category=["zip"])).features[2]
    assert named.categories == ("00123", "04567")
