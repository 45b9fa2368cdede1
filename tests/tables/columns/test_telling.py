"""Texts too many for a category: those that are kept tell what all of them tell, whatever the parts are."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shortlist.exceptions import TableError
from shortlist.tables import Roles, Schema
from shortlist.tables.columns import condense as condensing
from shortlist.tables.columns import learn
from shortlist.tables.columns.condense import bring_together, condense, joined
from shortlist.tables.columns.values import GAP_WORDS

MOST = 40
START = datetime(2015, 3, 1)


@pytest.fixture
def few(monkeypatch):
    """So few texts make a category here that small tables have more."""
    monkeypatch.setattr(learn, "MOST_VALUES", MOST)
    monkeypatch.setattr(condensing, "MOST_VALUES", MOST)
    monkeypatch.setattr(condensing, "_SAMPLE", 30)
    monkeypatch.setattr(condensing, "_AT_ONCE", 200)


def moments(written: str, n: int = 250, days: int = 12) -> list[str]:
    """Times of the first days of a month."""
    return [f"{START + timedelta(days=each % days, minutes=97 * each):{written}}" for each in range(n)]


THOUSANDS = [f"{1 + each % 9},{each:03d}" for each in range(150)]
EUROS = [f"{each // 7}.{each:03d},50 €" for each in range(10, 160)]
NAMES = [f"name {each}" for each in range(150)]
GAPS = [each.upper() if lower else each for each in GAP_WORDS for lower in (0, 1)]
#: What a column holds; the last values are what its kind hangs by, and not the first in the alphabet.
COLUMNS = {
    "numbers": [f"{each / 8}" for each in range(150)],
    "thousands or fractions": THOUSANDS,
    "fractions, as one value tells": [*THOUSANDS, "62,5"],
    "thousands, as one value tells": [*THOUSANDS, "5,234.5"],
    "points and commas": [*THOUSANDS, "62,5", "62.5"],
    "one with a zero in front": [*map(str, range(-1150, -1000)), "00124"],
    "thousands or a fraction, in one value": [*(f"{each} €" for each in range(100, 250)), "15.678 €"],
    "money": [*EUROS, "15"],
    "two currencies": [*EUROS, "15.678,50 $"],
    "percents, and one bare number": [*(f"{each} %" for each in range(150)), "55"],
    "a word for a gap": [*map(str, range(150)), "unknown", "Unknown", "?", " - "],
    "an odd word": [*map(str, range(150)), "12-13"],
    "twenty odd words": [*map(str, range(150)), *NAMES[:20]],
    "twenty odd words behind all for a gap": [
        *map(str, range(150)),
        *GAPS,
        *(f"z {each}" for each in range(20)),
    ],
    "too many odd words": [*map(str, range(150)), *NAMES[:21]],
    "day first, as one value tells": [*moments("%d/%m/%Y %H:%M"), "25/01/2015 10:00"],
    "month first, as one value tells": [*moments("%m/%d/%Y %H:%M"), "03/25/2015 10:00"],
    "either first": moments("%d/%m/%Y %H:%M"),
    "seconds, in one value": [*moments("%Y-%m-%d %H:%M"), "2015-01-25 10:00:05"],
    "a word among moments": [*moments("%d.%m.%Y %H:%M", days=28), "soon"],
    "another month among moments": [*moments("%d.%m.%Y %H:%M", days=28), "31.02.2015 10:00"],
    "days at midnight": [f"{START + timedelta(days=each):%Y-%m-%d %H:%M}" for each in range(150)],
    "flags and names": [*NAMES, "true", "false"],
    "names": [*NAMES, "", "NA", " ?"],
}


def told(learned) -> tuple:
    """What a table was learned to be, or why it was refused; a date for an example is any of them."""
    try:
        schema = learned()
    except TableError as refused:
        many = re.sub(r"has (more than )?\d+ different", "has many different", str(refused))
        return re.sub(r"written like '[^']+'", "written like this", many).replace(" and 149 more", ""), ()
    return schema, schema.notes


def parts_of(series: pl.Series, ends: list[int]) -> list[pl.Series]:
    cuts = [0, *sorted({each % len(series) for each in ends}), len(series)]
    return [series[a:b] for a, b in pairwise(cuts) if b > a]


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("seed", range(3))
def test_a_column_is_what_it_is_in_memory(few, name, seed):
    values = pl.Series(name, [*COLUMNS[name], *COLUMNS[name][:50]]).shuffle(seed)
    beside = pl.Series("beside", [f"{1 + each % 12}/5/2015" for each in range(len(values))])
    frame = pl.DataFrame([values, beside])
    batches = frame.iter_slices(7 + 30 * seed)
    by_batch = told(lambda: Schema.learn_by_batch(batches, frame.columns, Roles()))
    whole = told(lambda: Schema.learn(frame))
    assert by_batch[0] == whole[0]
    assert [each.replace("' - '", "'-'") for each in whole[1]] == [*by_batch[1]]


@given(
    name=st.sampled_from([*COLUMNS]),
    shuffled=st.integers(0, 99),
    ends=st.lists(st.integers(0, 10**6), max_size=6),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_kept_does_not_hang_on_the_parts(few, name, shuffled, ends, order):
    values = pl.Series("x", COLUMNS[name] * 2).shuffle(shuffled)
    parts = [condense(each) for each in parts_of(values, ends)]
    order.shuffle(parts)
    one_by_one = None
    for each in parts:
        one_by_one = joined(one_by_one, each)
    half = len(parts) // 2
    halves = bring_together([bring_together(each) for each in (parts[half:], parts[:half]) if each])
    expected = contents(condense(pl.Series("x", COLUMNS[name] * 2)))
    assert contents(one_by_one) == contents(bring_together(parts)) == contents(halves) == expected


def contents(column) -> tuple[dict, int]:
    return dict(zip(column.values, column.rows, strict=True)), column.more_rows


def test_a_large_partition_is_condensed_in_parts(few, monkeypatch):
    values = pl.Series("x", COLUMNS["an odd word"] * 2)
    at_once = contents(condense(values))
    longest = []
    counted = condensing._counted
    monkeypatch.setattr(condensing, "_ROWS_AT_ONCE", 50)
    monkeypatch.setattr(condensing, "_counted", lambda each: longest.append(len(each)) or counted(each))
    assert contents(condense(values)) == at_once
    assert max(longest) == 50
    assert sum(longest) == len(values)


def test_all_rows_are_counted(few):
    values = pl.Series("x", [*NAMES * 3, *[""] * 5, *[None] * 7, *["?"] * 2])
    column = condense(values)
    assert column.more_rows
    assert column.rows.sum() + column.more_rows == len(values)
    assert set(column.rows.filter(column.values.is_in(NAMES))) == {3}


def test_as_many_texts_as_a_category_may_have_are_kept_as_they_are(few):
    names = [f" name {each}" for each in range(MOST)]
    column = bring_together([condense(pl.Series("x", each)) for each in (names[:30], names[20:])])
    assert sorted(column.values) == sorted(names)
    assert column.more_rows == 0
    with_spaces = joined(column, condense(pl.Series("x", [f"{each} " for each in names])))
    assert with_spaces.more_rows == 0, "these are no other texts"
    assert joined(column, condense(pl.Series("x", ["one more"]))).more_rows > 0


def test_free_text_is_refused_with_all_its_rows(few):
    frame = pl.DataFrame({"note": NAMES * 10, "beside": range(1500)})
    with pytest.raises(TableError) as refused:
        Schema.learn_by_batch(frame.iter_slices(100), frame.columns, Roles())
    assert str(refused.value).startswith(
        "column 'note' has more than 40 different texts in 1,500 rows (such as 'name 0'): too many for a category, "
        "which needs 40 or fewer."
    )


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(NAMES)])
def test_a_type_that_says_category_is_refused_too(few, dtype):
    frame = pl.DataFrame({"name": pl.Series(NAMES, dtype=dtype)})
    by_batch = told(lambda: Schema.learn_by_batch(frame.iter_slices(20), frame.columns, Roles()))
    assert by_batch == told(lambda: Schema.learn(frame))
    assert by_batch[0].startswith("column 'name' has many")


def test_a_type_that_says_category_is_taken_at_its_word_in_parts(few):
    digits = pl.Series("name", [str(each) for each in range(MOST)], dtype=pl.Categorical)
    parts = bring_together([condense(digits[:10]), condense(digits[10:])])
    assert Schema.learn_condensed({"name": parts}) == Schema.learn(digits.to_frame())
    assert Schema.learn(digits.to_frame()).kinds == ("category",)


@pytest.mark.parametrize("n", [MOST, MOST + 1])
@pytest.mark.parametrize("step", [1, 0.5])
def test_numbers_that_are_names_have_the_room_of_other_names(few, n, step):
    frame = pl.DataFrame({"zone": [None, *(each * step for each in range(n))] * 2})
    roles = Roles(category=["zone"])
    by_batch = told(lambda: Schema.learn_by_batch(frame.iter_slices(10), frame.columns, roles))
    assert by_batch == told(lambda: Schema.learn(frame, roles))
    assert isinstance(by_batch[0], str) == (n > MOST)


def test_memory_does_not_grow_with_the_rows():
    known, most = None, 0
    for start in range(0, 300_000, 20_000):
        batch = pl.Series("x", [f"comment {each}" for each in range(start, start + 20_000)])
        known = joined(known, condense(batch))
        most = max(most, len(known.values))
    assert most <= learn.MOST_VALUES
    assert len(known.values) < 2 * condensing._SAMPLE
    assert known.rows.sum() + known.more_rows == 300_000


def test_one_odd_value_among_very_many():
    values = pl.Series("x", [f"{each}.25" for each in range(200_000)])
    values = pl.concat([values, pl.Series("x", ["12-13"])]).shuffle(1)
    with pytest.raises(TableError, match="holds numbers and also '12-13'"):
        Schema.learn_condensed({"x": condense(values)})
