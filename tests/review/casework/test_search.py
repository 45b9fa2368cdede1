"""The queue as a list: every page beside a plain search of the same rows."""

import datetime as dt
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.languages.catalogues import language
from shortlist.languages.words import ENGLISH
from shortlist.review.casework.index import Index, index_of
from shortlist.review.casework.search import PAGE_ROWS, Asked, Desk, Standing, Test, find
from shortlist.review.desk.rows import Rows
from shortlist.review.errors import BadRequestError
from shortlist.review.log.events import Event, Imported
from shortlist.tables import Roles
from shortlist.verdicts import Verdict

NOBODY = Desk({}, {})


def make(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "id": [f"C-{i:03d}" for i in range(n_rows)],
            "amount": pl.Series(rng.integers(0, 50, n_rows) / 4).set(
                pl.Series(rng.random(n_rows) < 0.1), None
            ),
            "count": rng.integers(0, 5, n_rows),
            "shop": rng.choice(["North 1", "north 2", "South", None], n_rows).tolist(),
            "story": [f"Car {i % 97} at the North gate" for i in range(n_rows)],
            "day": [dt.date(2024, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 9, n_rows)],
            "police": rng.random(n_rows) < 0.5,
        },
        strict=False,
    )
    return Rows(frame, Roles(id="id"))


ROWS = make()


def in_order(rows, n):
    return rows.tolist()[:n]


def all_pages(rows, desk=NOBODY, **asked):
    pages, number = [], 1
    while True:
        page = find(index_of(rows), Asked(**asked, page=number), desk, in_order)
        assert len(page.rows) <= PAGE_ROWS
        pages += page.rows
        if number == page.pages:
            assert len(pages) == page.total
            return pages
        number += 1


def plain(rows, holds):
    return [row for row in range(len(rows)) if holds(rows.fields(row))]


@settings(deadline=None, max_examples=60)
@given(
    text=st.sampled_from(
        ["north", "NORTH 2", "car 3", "C-01", "3", "2.5", "2024-01-03", "yes", "nothing", "(.*"]
    )
)
def test_text_is_found_anywhere(text):
    def holds(values):
        texts = (values["id"], values["shop"], values["story"])
        if any(text.lower() in each.lower() for each in texts if each is not None):
            return True
        number = float(text) if text.replace(".", "").isdigit() else None
        numbers = [values["amount"], values["count"]]
        is_number = number is not None and any(each == number for each in numbers)
        return is_number or text == values["day"].isoformat() or (text == "yes" and values["police"])

    assert all_pages(ROWS, text=text) == plain(ROWS, holds)


@settings(deadline=None, max_examples=60)
@given(
    condition=st.sampled_from(
        [
            ("amount", Test.FROM, "5", lambda v: v is not None and v >= 5),
            ("amount", Test.TO, "5.25", lambda v: v is not None and v <= 5.25),
            ("amount", Test.MISSING, "", lambda v: v is None),
            ("count", Test.IS, "3", lambda v: v == 3),
            ("count", Test.FROM, "2.5", lambda v: v >= 2.5),
            ("shop", Test.IS, "South", lambda v: v == "South"),
            ("shop", Test.CONTAINS, "north", lambda v: v is not None and "north" in v.lower()),
            ("shop", Test.MISSING, "", lambda v: v is None),
            ("story", Test.IS, "Car 5 at the North gate", lambda v: v == "Car 5 at the North gate"),
            ("day", Test.FROM, "2024-01-05", lambda v: v >= dt.date(2024, 1, 5)),
            ("police", Test.IS, "no", lambda v: not v),
            ("count", Test.CONTAINS, "4", lambda v: "4" in str(v)),
        ]
    ),
    sort=st.sampled_from(["", "amount", "story", "day"]),
    down=st.booleans(),
)
def test_conditions_and_order(condition, sort, down):
    column, test, value, holds = condition
    found = all_pages(ROWS, column=column, test=test, value=value, sort=sort, down=down)
    expected = plain(ROWS, lambda values: holds(values[column]))
    assert sorted(found) == expected
    if sort:
        keys = [ROWS.fields(row)[sort] for row in found]
        known = [key for key in keys if key is not None]
        assert known == sorted(known, reverse=down)
        assert keys[len(known) :] == [None] * (len(keys) - len(known))


def said(*verdicts):
    return {
        row: Event(i + 1, float(i), who, Imported(row, verdict))
        for i, (row, verdict, who) in enumerate(verdicts)
    }


def test_standings():
    desk = Desk(
        said((4, Verdict.WANTED, "ann"), (9, Verdict.NOT_WANTED, "bob"), (2, Verdict.WANTED, "ann")),
        {7: 90.0, 5: 30.0},
        who="ann",
        midnight=1.0,
    )
    assert all_pages(ROWS, desk, standing=Standing.WANTED) == [2, 4]  # newest first
    assert all_pages(ROWS, desk, standing=Standing.NOT_WANTED) == [9]
    assert all_pages(ROWS, desk, standing=Standing.UNSURE) == []
    assert all_pages(ROWS, desk, standing=Standing.MINE) == [2]  # 4 was before midnight
    assert all_pages(ROWS, desk, standing=Standing.LATER) == [5, 7]
    assert all_pages(ROWS, desk, standing=Standing.OPEN) == [r for r in range(300) if r not in (2, 4, 9)]
    assert len(all_pages(ROWS, desk, standing=Standing.ALL)) == 300


def test_open_rows_come_as_they_are_ranked_and_a_page_too_far_is_the_last():
    def backwards(rows, n):
        return rows.tolist()[::-1][:n]

    page = find(index_of(ROWS), Asked(page=99), NOBODY, backwards)
    assert (page.number, page.pages, page.rows[-1]) == (6, 6, 0)


def test_what_cannot_be_asked_is_told():
    for asked, words in [
        (Asked(column="amount", value="much"), "amount holds numbers"),
        (Asked(column="day", value="May"), "day holds dates"),
        (Asked(column="police", value="perhaps"), "police holds yes or no"),
        (Asked(column="nope", value="1"), "there is no column 'nope'"),
        (Asked(sort="nope"), "there is no column 'nope'"),
    ]:
        with pytest.raises(BadRequestError, match=words):
            find(index_of(ROWS), asked, NOBODY, in_order)


@pytest.mark.parametrize(
    ("language", "column", "test", "value", "same"),
    [
        (ENGLISH, "money", Test.FROM, "20,000", "20000"),
        (ENGLISH, "money", Test.IS, "1,250.5", "1250.5"),
        (ENGLISH, "day", Test.FROM, "Jan 4, 2024", "2024-01-04"),
        (ENGLISH, "police", Test.IS, "Yes", "true"),
        (language("de"), "money", Test.FROM, "20.000", "20000"),
        (language("de"), "money", Test.TO, "1.250,5", "1250.5"),
        (language("de"), "money", Test.FROM, "1250.5", "1250.5"),
        (language("de"), "day", Test.IS, "04.01.2024", "2024-01-04"),
        (language("de"), "day", Test.TO, "4.1.2024", "2024-01-04"),
        (language("de"), "police", Test.IS, "nein", "false"),
    ],
)
def test_values_may_be_asked_for_as_the_page_shows_them(language, column, test, value, same):
    rows = make()
    frame = rows.table.with_columns(money=pl.Series([1250.5, 20_000.0, 20.0] * 100))
    index = Index(Rows(frame, Roles(id="id")))

    def found(value, language):
        asked = Asked(column=column, test=test, value=value, standing=Standing.ALL)
        return find(index, asked, NOBODY, None, language)

    assert found(value, language) == found(same, None)
    assert 0 < found(value, language).total < 300


def test_links_of_a_german_page_still_find_what_a_program_wrote():
    index = Index(Rows(pl.DataFrame({"id": ["a", "b"], "rate": [1.234, 5.0]}), Roles(id="id")))
    for text in (Asked(column="rate", value="1.234"), Asked(text="1.234", standing=Standing.ALL)):
        assert find(index, text, NOBODY, lambda rows, n: rows.tolist(), language("de")).rows == (0,)


def test_what_a_german_cannot_ask_is_told_in_german():
    with pytest.raises(BadRequestError) as told:
        find(Index(make()), Asked(column="amount", value="viel"), NOBODY, None, language("de"))
    assert language("de").say(told.value.args[0]) == "amount enthält Zahlen wie 1250.5; angegeben ist 'viel'."


def odd_columns():
    """Columns as Parquet files have them."""
    start = dt.datetime(2025, 1, 1)
    table = {
        "zoned": pl.Series([start, dt.datetime(2025, 3, 1)]).dt.replace_time_zone("Europe/Berlin"),
        "bare": [start, dt.datetime(2025, 3, 1)],
        "clock": [dt.time(1), dt.time(14, 30)],
        "span": [dt.timedelta(1), dt.timedelta(2)],
        "list": [[1], [2]],
        "record": [{"a": 1}, {"a": 2}],
        "bytes": [b"\xff", b"1"],
        "nothing": pl.Series([None, None]),
        "exact": pl.Series([1, 2]).cast(pl.Decimal(10, 2)),
    }
    return Index(Rows(pl.DataFrame({"id": ["a", "b"], **table}), Roles(id="id")))


@pytest.mark.parametrize("text", ["foo", "1", "20250301", "2025-03-01", "2025-03-01T00:00:00Z", "14:30", ""])
@pytest.mark.parametrize("spoken", [None, ENGLISH])
def test_no_column_makes_a_search_fail(text, spoken):
    index = odd_columns()
    by_rank = lambda rows, n: rows.tolist()  # noqa: E731
    find(index, Asked(text=text), NOBODY, by_rank, spoken)
    for column in index.columns:
        for test in Test:
            with suppress(BadRequestError):  # what cannot be read is told
                find(index, Asked(column=column, test=test, value=text), NOBODY, by_rank, spoken)


@pytest.mark.parametrize(
    ("column", "test", "value", "rows"),
    [
        ("zoned", Test.FROM, "2025-02-01", (1,)),
        ("zoned", Test.IS, "2024-12-31T23:00:00Z", (0,)),
        ("zoned", Test.TO, "Feb 1, 2025", (0,)),
        ("bare", Test.IS, "Mar 1, 2025", (1,)),
        ("clock", Test.FROM, "02:00", (1,)),
        ("exact", Test.IS, "2", (1,)),
    ],
)
def test_moments_and_exact_numbers_are_compared(column, test, value, rows):
    asked = Asked(column=column, test=test, value=value)
    assert find(odd_columns(), asked, NOBODY, lambda rows, n: rows.tolist(), ENGLISH).rows == rows


def test_rows_that_arrive_are_found():
    rows = make(60)
    assert index_of(rows) is index_of(rows)
    rows.append(rows.table.head(1).with_columns(id=pl.lit("NEW"), shop=pl.lit("West")))
    assert all_pages(rows, text="west") == [60]


def test_columns_of_few_words_are_searched_word_by_word():
    index = Index(ROWS)
    assert index._words("shop") is not None
    assert index._words("story") is None or len(index._words("story")[0]) == 97
    assert index._words("amount") is None
