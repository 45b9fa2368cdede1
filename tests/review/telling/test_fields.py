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


def test_what_few_rows_have_is_not_told_to_all_others():
    n = pl.int_range(300)
    frame = pl.select(
        amount=n.cast(pl.Float64),
        refund_iban=pl.when(n % 20 == 0).then("DE" + n.cast(pl.String).str.zfill(20)),
        remark=pl.when(n % 30 == 0).then("Customer " + n.cast(pl.String) + " told us about an illness"),
        shop=pl.when(n % 20 == 0).then(pl.lit("shop-04")),
    )
    usual = Usual.learn(frame, Roles())
    told = {field.name: field.usual for field in usual.fields(frame.row(1, named=True))}
    assert (told["refund_iban"], told["remark"]) == ("", "")
    assert told["shop"] == "shop-04"


def test_a_code_is_told_as_it_is_written():
    frame = pl.DataFrame({"plz": [f"{n:05}" for n in range(1, 61)], "claimnumber": range(100, 160)})
    usual = Usual.learn(frame, Roles())
    row = frame.row(4, named=True)
    assert [str(usual.message(usual.state_whole(name, row))) for name in frame.columns] == [
        "plz 00005",
        "claimnumber 104",
    ]
    assert str(usual.message(usual.state_whole("plz", {"plz": " "}))) == "plz missing"
