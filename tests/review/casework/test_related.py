"""What is said of related rows is true of them, on random tables."""

import datetime as dt

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.review.casework.related import COMMON, related
from shortlist.review.desk.rows import Rows
from shortlist.tables import Roles
from shortlist.verdicts import Verdict


def make(seed, n_rows):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": range(n_rows),
            "shop": rng.choice(["a", "b", "c", "d", None], n_rows).tolist(),
            "phone": [str(i) for i in rng.integers(0, n_rows, n_rows)],
            "age": rng.integers(18, 30, n_rows),
            "day": [dt.date(2024, 1, int(d)) for d in rng.integers(1, 9, n_rows)],
            "police": rng.random(n_rows) < 0.5,
            "amount": np.round(rng.random(n_rows) * 100, 2),
        },
        strict=False,
    )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(2, 400))
def test_counts_and_worth_are_those_of_the_rows(seed, n_rows):
    frame = make(seed, n_rows)
    rows, row = Rows(frame, Roles(id="id"), "amount"), seed % n_rows
    said = {other: [*Verdict][(other + seed) % 3] for other in range(0, n_rows, 2)}
    for each in related(rows, said, row):
        value = frame[row, each.column]
        same = [r for r in range(n_rows) if r != row and frame[r, each.column] == value]
        told = [said[r] for r in same if r in said]
        assert value is not None
        assert each.others == len(same) > 0
        assert (each.wanted, each.not_wanted) == (told.count(Verdict.WANTED), told.count(Verdict.NOT_WANTED))
        assert (
            each.worth == np.float64(frame["amount"][same].sum())
            or abs(each.worth - frame["amount"][same].sum()) < 1e-6
        )
        assert each.is_common == (len(same) > COMMON * n_rows)


def test_chosen_columns_come_in_their_order_also_without_others():
    frame = make(0, 50)
    rows = Rows(frame, Roles(id="id"))
    found = related(rows, {}, 0, ["amount", "age"])
    assert [each.column for each in found] == ["amount", "age"]
    assert found[0].others == 0
    assert found[0].worth is None
