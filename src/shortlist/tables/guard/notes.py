"""What a user is told of a history that may be too good to be true."""

from __future__ import annotations

from shlex import quote

import numpy as np

from shortlist.tables.columns.words import listed, percent
from shortlist.tables.guard.leaks import find_leaks
from shortlist.tables.guard.repeats import can_differ, known_rows, nearly_repeated, repeated_rows, row_names
from shortlist.tables.table import Table

#: With fewer wanted rows than this, what is learned rests on single rows.
FEW_WANTED = 5
#: From this share of repeated rows on they are told.
MANY_REPEATS = 0.01
#: The same for rows that repeat another but for one column.
MANY_NEAR = 0.05
#: Where rows at random find this share of all that can be found, finding all of it is no wonder.
_MUCH_LUCK = 0.8


def guard_notes(table: Table) -> tuple[str, ...]:
    """Columns that give the label away, names of rows among features, rows that stand (nearly) twice, few wanted rows.

    >>> import polars as pl
    >>> from shortlist.tables import Roles, load_table
    >>> rows = pl.DataFrame({"fraud": [0, 1] * 20, "paid": [0.0, 7.5] * 20, "age": range(40)})
    >>> [note.split(".")[0] for note in guard_notes(load_table(rows, Roles(label="fraud")))]
    ["column 'paid' is other than 0 in 20 rows, and all of them are wanted"]
    """
    found = find_leaks(table)
    notes = [
        f"column {leak.column!r} {leak.says}. Known only afterwards? {_way_out(leak.column, table)}"
        for leak in found.leaks
    ]
    if found.easy:
        names = listed(
            [repr(leak.column) for leak in sorted(found.easy, key=lambda each: -each.strength)], most=3
        )
        notes.append(
            f"{len(found.easy)} columns separate the label nearly alone ({names}): it is easy, or made from them."
        )
    notes += [
        f"column {name!r} has another whole number in every row, as names of rows have. If it is one: --id "
        f"{quote(name)}; to leave it out: --ignore {quote(name)}"
        for name in row_names(table)
    ]
    return (*notes, *_on_repeats(table), *_on_near(table), *_on_few_wanted(int(table.wanted.sum())))


def _way_out(column: str, table: Table) -> str:
    if column == table.roles.value:
        return f"Give it as --impact {quote(column)}, not as --value"
    return f"Leave it out: --ignore {quote(column)}"


def known_notes(new: Table, history: Table) -> tuple[str, ...]:
    """New rows that stand in the history, as a note: their outcome is known, and a model knows it by heart."""
    known = int(np.count_nonzero(known_rows(new, history)))
    if not known or (new.roles.id is None and not can_differ(history)):
        return ()
    how = "by their id" if new.roles.id is not None else "with the same values"
    return (
        f"{known:,} of {len(new):,} new rows stand in the history too ({how}): their outcome was learned from.",
    )


def too_good(name: str, found: float, possible: float, *, by_luck: float = 0.0) -> tuple[str, ...]:
    """A caution where a ranking found all that could be found within the budget, which luck would hardly.

    >>> too_good("ap-boost", 12, 40), too_good("ap-boost", 40, 40)[0].split(":")[0]
    ((), 'ap-boost found all 40 wanted rows that could be found')
    >>> too_good("ap-boost", 40, 40, by_luck=39.0)
    ()
    """
    if possible < FEW_WANTED or found < possible - 1e-9 or by_luck > _MUCH_LUCK * possible:
        return ()
    return (
        f"{name} found all {possible:,.0f} wanted rows that could be found: that is too good to be true more often "
        "than not. Look for columns that are known only afterwards (--ignore), and for rows that stand twice.",
    )


def _on_repeats(table: Table) -> list[str]:
    twice = int(np.count_nonzero(repeated_rows(table)))
    if twice < max(2, MANY_REPEATS * len(table)) or not can_differ(table):
        return []
    return [
        f"{twice:,} rows ({percent(twice / len(table))}) repeat another row in every column: a model may be measured "
        "on rows that it has learned from, which flatters it. Leave repeated rows out."
    ]


def _on_near(table: Table) -> list[str]:
    near = nearly_repeated(table)
    if near is None or near.rows < max(2, MANY_NEAR * len(table)):
        return []
    return [
        f"{near.rows:,} rows ({percent(near.rows / len(table))}) nearly repeat another: they differ from it in one "
        f"column only, most often in {near.column!r}. If they are the same case, a model may be measured on cases that "
        "it has learned from, which flatters it: keep one row of each."
    ]


def _on_few_wanted(wanted: int) -> list[str]:
    if wanted >= FEW_WANTED:
        return []
    rows = "one row is" if wanted == 1 else f"{wanted} rows are"
    return [f"only {rows} wanted: a model learns that much of them, and whether it is right cannot be told."]
