"""What is told of the columns of a row beside their values."""

import polars as pl
import pytest

from shortlist.review.telling.fields import Usual
from shortlist.tables import Roles


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"north": 30, "east": 25, "west": 25, "south": 20}, "north, east, west, …"),
        ({"north": 40, "east": 30, "west": 25, "south": 5}, "north, east, west"),
        ({"north": 40, "east": 35, "west": 25}, "north, east, west"),
        ({"north": 60, **{f"r{n}": 4 for n in range(10)}}, "north, …"),
        ({f"r{n}": 4 for n in range(25)}, ""),
    ],
)
def test_values_that_are_usual_and_not_told_are_hinted_at(counts, told):
    rows = [value for value, count in counts.items() for _ in range(count)]
    usual = Usual.learn(pl.DataFrame({"region": rows}), Roles())
    for value in counts:
        field = usual.fields({"region": value})[0]
        assert field.usual == told
        listed = field.usual.split(", ")
        assert field.is_unusual or not told or value in listed or "…" in listed
