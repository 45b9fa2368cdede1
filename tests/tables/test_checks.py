"""Random checks among rows that were looked at for their rank."""

import numpy as np
import polars as pl
import pytest

from shortlist.exceptions import InvalidInputError
from shortlist.tables import Roles, load_table
from shortlist.tables.checks import on_checks, read_chances, row_weights

ROLES = Roles(label="fraud", checked="chance")


def test_sums_with_these_weights_are_those_of_all_rows():
    rng = np.random.default_rng(0)
    worth = rng.lognormal(size=2_000)
    looked = worth > np.quantile(worth, 0.9)  # for their rank
    sums = []
    for _ in range(400):
        checked = ~looked & (rng.random(worth.size) < 0.1)
        chances = pl.Series(
            [None if looked[i] else 0.1 for i in np.flatnonzero(looked | checked)], dtype=pl.Float64
        )
        sums.append(row_weights(chances) @ worth[looked | checked])
    assert np.mean(sums) == pytest.approx(worth.sum(), rel=0.01)


@pytest.mark.parametrize("chance", [0.0, -0.1, 1.5])
def test_what_is_no_chance_is_refused(chance):
    with pytest.raises(InvalidInputError, match="above 0 and at most 1"):
        read_chances(pl.Series("chance", [0.5, chance]))


def test_without_a_check_nothing_is_known_of_the_others():
    with pytest.raises(InvalidInputError, match="nobody knows what the rows are like"):
        on_checks(pl.Series("chance", [None, None], dtype=pl.Float64), 10)


@pytest.mark.parametrize(("chance", "far_off"), [(0.1, False), (0.9, True)])
def test_chances_that_cannot_be_right_are_told(chance, far_off):
    looked = pl.Series("chance", [None] * 20 + [chance] * 100, dtype=pl.Float64)
    notes = on_checks(looked, 1_020)
    assert "20 rows looked at for their rank and 100 random checks" in notes[0]
    assert [("far from" in note) for note in notes[1:]] == [True] * far_off


def test_a_table_with_checks_leaves_out_what_nobody_looked_at():
    rows = pl.DataFrame(
        {"fraud": [1, 0, None, 1], "chance": [None, 0.5, None, 0.25], "amount": [1.0, 2.0, 3.0, 4.0]}
    )
    table = load_table(rows, ROLES)
    assert table.weight.tolist() == [1.0, 2.0, 4.0]
    assert table.for_fit["sample_weight"].mean() == pytest.approx(1.0)
    assert [feature.name for feature in table.schema.features] == ["amount"]
    assert table.take(np.array([2])).weight.tolist() == [4.0]
    new = load_table(rows.drop("fraud", "chance"), ROLES, schema=table.schema, labelled=False)
    assert new.weight is None
