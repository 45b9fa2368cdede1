"""Rows that stand (nearly) twice are found in little memory."""

import tracemalloc

import numpy as np
import polars as pl

from shortlist.tables import Roles, load_table
from shortlist.tables.guard.repeats import Near, nearly_repeated, repeated_rows


def test_near_copies_are_found_column_after_column():
    n_rows, n_columns = 5_000, 30
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns)).astype(np.float32)
    X[1], X[3] = X[0], X[2]
    X[1, 7] += 1
    X[3, 7] += 1
    frame = pl.DataFrame({"y": np.arange(n_rows) % 2, **{f"x{i}": X[:, i] for i in range(n_columns)}})
    table = load_table(frame, Roles(label="y"))
    nearly_repeated(table)  # what is loaded on the way does not count
    tracemalloc.start()
    found = nearly_repeated(table)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == Near(rows=4, column="x7")
    assert most < 10 * 8 * n_rows  # of 30 columns, not all hashes are held at once


def test_rows_that_stand_twice_are_those_that_a_comparison_of_all_finds():
    rng = np.random.default_rng(0)
    numbers = rng.choice([np.nan, -0.0, 0.0, 1.5, np.float64(np.nextafter(1.5, 2))], 300)
    frame = pl.DataFrame(
        {
            "y": np.arange(300) % 2,
            "amount": pl.Series(numbers).set(pl.Series(rng.random(300) < 0.2), None),
            "shop": pl.Series(rng.choice(["a", "b", ""], 300)).cast(pl.Categorical),
            "word": rng.choice(["x", "y"], 300),
            "day": pl.Series(rng.integers(0, 2, 300)).cast(pl.Date),
            "open": rng.random(300) < 0.5,
        }
    )
    table = load_table(frame, Roles(label="y"))
    all_at_once = ~table.frame.select(pl.struct(pl.all()).is_first_distinct()).to_series()
    assert 0 < all_at_once.sum() < 300
    assert repeated_rows(table).tolist() == all_at_once.to_list()
