"""Near copies agree in all columns but one in eight."""

import datetime as dt
from decimal import Decimal

import numpy as np
import polars as pl

from shortlist.review.casework.copies import PER_DIFFERENCE, near_copies
from shortlist.review.desk.rows import Rows
from shortlist.tables import Roles


def agrees(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 0.01 * abs(a)
    return a == b


def test_copies_are_those_that_a_plain_search_finds():
    rng = np.random.default_rng(3)
    base = {f"x{i}": float(v) for i, v in enumerate(rng.random(6) * 100)} | {
        "shop": "North",
        "kind": "a",
        "gap": None,
    }
    lines = []
    for i in range(120):
        line = dict(base)
        for name in rng.choice([*base], rng.integers(0, 3), replace=False):
            line[name] = rng.random() * 100 if name.startswith("x") else "other"
        line["x0"] = line["x0"] * (1 + rng.normal() * 0.004)
        lines.append({"id": f"r{i}", **line})
    frame = pl.DataFrame(lines, infer_schema_length=None)
    rows = Rows(frame, Roles(id="id"))
    columns, own = frame.columns[1:], rows.fields(5)
    most = len(columns) // PER_DIFFERENCE
    expected = {
        row
        for row in range(120)
        if row not in (5, 7) and sum(not agrees(own[c], rows.fields(row)[c]) for c in columns) <= most
    }
    found = near_copies(rows, 5, taken=[7])
    assert {copy.row for copy in found} == expected or len(found) == 50 <= len(expected)
    for copy in found:
        assert copy.differences == {c: v for c in columns if (v := rows.fields(copy.row)[c]) != own[c]}


def test_a_table_of_few_columns_has_exact_copies_only():
    frame = pl.DataFrame({"id": ["a", "b", "c"], "n": [1, 1, 2], "shop": ["x", "x", "x"]})
    assert [copy.id for copy in near_copies(Rows(frame, Roles(id="id")), 0)] == ["b"]


def test_columns_as_databases_and_parquet_files_have_them():
    amounts = pl.Series(["100.00", "100.50", "700.00"]).cast(pl.Decimal(10, 2))
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "amount": amounts,
            "count": pl.Series([200, 199, 1], dtype=pl.UInt8),
            "clock": [dt.time(14, 30)] * 3,
            "span": [dt.timedelta(days=1)] * 3,
            "items": [[1, 2]] * 3,
            "record": [{"x": 1}] * 3,
            "moment": pl.Series([dt.datetime(2025, 1, 1)] * 3).dt.replace_time_zone("Europe/Berlin"),
        }
    )
    copies = near_copies(Rows(frame, Roles(id="id")), 0)
    assert [(copy.id, copy.differences) for copy in copies] == [
        ("b", {"amount": Decimal("100.50"), "count": 199})
    ]
