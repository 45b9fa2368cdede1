"""Values are written by what their column is: as people would write them, and never as another number."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.exceptions import InvalidInputError
from shortlist.tables.columns.formats import Format


def column(name, values):
    return Format.learn(pl.Series(name, values))


@pytest.mark.parametrize(
    ("name", "values", "kind", "written"),
    [
        ("Year", [1994, 2005, 1996], "year", ["1994", "2005", "1996"]),
        ("model year", [2004, 2005, 20005], "year", ["2004", "2005", "20005"]),  # a slip of the pen is no count
        ("zip", [10115, 80331], "code", ["10115", "80331"]),
        ("Postleitzahl", [10115, 1067], "code", ["10115", "1067"]),
        ("policyNumber", [342868, 687698], "code", ["342868", "687698"]),
        ("accountnumber", [342868, 68769812], "code", ["342868", "68769812"]),
        ("rate", [4e-7, 0.037123, 0.5], "share", ["0.000040 %", "3.7 %", "50 %"]),
        ("holder", [*range(4400000001, 4400000401)], "code", ["4400000001"]),  # long, of one length, hardly repeated
        ("amount", [71_610.5, 5_070.25], "money", ["71,610.50", "5,070.25"]),
        ("amount", [71_610, 5_070], "money", ["71,610", "5,070"]),
        ("previous_claims", [3, 1200], "count", ["3", "1,200"]),
        ("number_of_cars", [3, 1200], "count", ["3", "1,200"]),
        ("share of repairs", [0.125, 0.5], "share", ["12.5 %", "50.0 %"]),
        ("strength", [4e-7, 0.037123, 1.5], "number", ["4e-7", "0.03712", "1.5"]),
    ],
)  # fmt: skip
def test_what_a_column_is_tells_how_its_values_are_written(name, values, kind, written):
    learned = column(name, values)
    assert learned.kind == kind
    assert [learned.write(value) for value in values[: len(written)]] == written


def test_one_locale_for_all_of_a_page():
    assert column("amount", [71_610.5]).write(71_610.5, "de") == "71.610,50"
    assert column("share", [0.125]).write(0.125, "de") == "12,5\xa0%"
    assert Format("money", 2, "EUR").write(1234.5) == "€1,234.50"


@pytest.mark.parametrize("said", ["money eur", "dollars", "count EUR", ""])
def test_what_is_no_format_is_refused_with_those_there_are(said):
    with pytest.raises(InvalidInputError, match="money EUR, with a currency"):
        Format.read(said, Format())


def as_number(text):
    return float(text.replace(",", "").replace(" %", "e-2"))


@given(
    numbers=st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=2, max_size=2).map(sorted),
    kind=st.sampled_from([("number", None), ("money", 2), ("count", 0), ("share", 3)]),
)
def test_a_range_as_it_is_written_holds_what_lay_in_it(numbers, kind):
    learned = Format(*kind)
    given_, ends = numbers, learned.write_range(*numbers)
    if learned.decimals is not None:  # values of such a column have no more digits
        given_ = [round(end, learned.decimals) for end in numbers]
    low, high = (as_number(end) for end in ends)
    assert low <= given_[0] + 1e-9 * abs(given_[0])
    assert high >= given_[1] - 1e-9 * abs(given_[1])


@given(
    value=st.floats(-1e14, 1e14, allow_subnormal=False),
    decimals=st.sampled_from([None, 0, 1, 2, 4]),
)
def test_a_number_as_it_is_written_is_near_the_number(value, decimals):
    value = value if decimals is None else round(value, decimals)
    written = Format("number", decimals).write(value)
    assert re.fullmatch(r"-?[\d,]+(\.\d+)?(e-?\d+)?", written)
    near = max(5e-4 * abs(value), 0 if decimals is None else 0.5 * 10.0**-decimals)
    assert abs(as_number(written) - value) <= near


def test_a_gap_is_a_dash_and_text_is_left_alone():
    learned = Format("count", 0)
    assert [learned.write(value) for value in (None, float("nan"), "n/a", np.inf)] == ["–", "–", "n/a", "inf"]
