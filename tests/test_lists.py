"""Lists: how rows fall into them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.lists import Lists


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_lists_hold_their_rows_in_input_order(groups):
    lists = Lists.from_groups(groups)
    names = list(dict.fromkeys(groups))
    expected = [[row for row, name in enumerate(groups) if name == wanted] for wanted in names]
    assert [rows.tolist() for rows in lists] == expected
    assert len(lists) == len(names)
    assert lists.n_rows == len(groups)
    assert lists.sizes.tolist() == [len(rows) for rows in expected]
    assert lists.of_row.tolist() == [names.index(name) for name in groups]


def test_renaming_lists_changes_nothing():
    groups = np.array([3, 1, 3, 2, 1])
    renamed = np.array(["c", "z", "c", "a", "z"], dtype=object)
    first, second = Lists.from_groups(groups), Lists.from_groups(renamed)
    assert np.array_equal(first.order, second.order)
    assert np.array_equal(first.starts, second.starts)


def test_single():
    lists = Lists.single(3)
    assert [rows.tolist() for rows in lists] == [[0, 1, 2]]
    assert lists.of_row.tolist() == [0, 0, 0]


def test_one_list_takes_no_memory_by_the_row():
    lists = Lists.single(10**15)  # whose positions alone would take 8 petabytes
    assert lists.n_rows == 10**15
    assert lists.sizes.tolist() == [10**15]
    assert lists.is_one
