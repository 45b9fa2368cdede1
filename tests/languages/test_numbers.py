"""Numbers are written as Babel writes them, in every locale, without asking it each time."""

from decimal import Decimal

import pytest
from babel import Locale, localedata
from babel.numbers import format_decimal
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.languages.values import patterned

PATTERNS = ["#,##0", "#,##0.#", "#,##0.##", "#,##0.######", "#,##0.00", "0", "0.0", "0.000"]
NUMBERS = st.one_of(
    st.floats(-1e15, 1e15, exclude_min=True, exclude_max=True).filter(lambda x: abs(x) > 1e-300),
    st.integers(-(10**14), 10**14),
    st.decimals(-(10**9), 10**9, places=4),
)


@given(
    NUMBERS, st.sampled_from(PATTERNS), st.sampled_from(["en", "de", "fr", "de_CH", "hi", "ar", "pl", "sv"])
)
@example(0.5, "#,##0", "en")
@example(1.5, "#,##0", "en")
@example(2.675, "#,##0.##", "de")
@example(-0.001, "#,##0.##", "sv")
@example(1e-7, "0.0", "en")
@example(1234567.0, "#,##0.00", "fr")
@example(Decimal("12345.6700"), "#,##0.######", "de_CH")
def test_a_number_is_written_as_babel_writes_it(value, pattern, locale):
    assert patterned(value, pattern, locale) == format_decimal(value or 0, pattern, locale=locale)


@pytest.mark.parametrize("value", [1234567.891, -1234.5, 0, 999, 1000])
def test_in_every_locale(value):
    for name in localedata.locale_identifiers():
        locale = Locale.parse(name)
        assert patterned(value, "#,##0.##", locale) == format_decimal(value, "#,##0.##", locale=locale), name
