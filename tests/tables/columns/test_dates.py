"""Names of months are looked up only where a word could be one."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.tables.columns import dates


def test_no_month_begins_otherwise_than_is_looked_for():
    assert {name[:3] for name in dates._month_names()} <= set(dates._MONTHS_BEGIN.split())


def test_words_that_are_no_months_need_no_names_of_them(monkeypatch):
    monkeypatch.setattr(dates, "_month_names", None)
    assert dates.date_formats(pl.Series(["shop-04", "shop-11"])) == []
    with pytest.raises(TypeError):
        dates.date_formats(pl.Series(["Mai-04", "Juni-11"]))


@settings(deadline=None, max_examples=40)
@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2049, 12, 31)),
    st.sampled_from(dates.DATE_FORMATS),
    st.booleans(),
)
def test_no_format_that_fits_is_left_out_for_the_marks_that_it_has(moment, date_format, spaced):
    """Whatever polars reads by a format, with white space or without, has the marks of the format."""
    text = moment.strftime(date_format.replace("%.f", ""))
    value = dates._plain(pl.Series([text if spaced else text.replace(" ", "")]))[0]
    for each in dates.DATE_FORMATS:
        if dates._parse(pl.Series([value]), each).null_count() == 0:
            assert dates._has_marks(value, each)
