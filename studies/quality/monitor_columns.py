"""How often a column of shortlists is named that has not moved, and how often one that has.

A year of daily shortlists is written as in ``quality.monitor``, and looks are at days drawn from it at random, so that
nothing can have changed between the first days of a look and its last. In some looks amounts of the later half are
twice as large.

    python -m studies quality.monitor_columns --json > studies/results/quality.monitor_columns.json
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shortlist.workflow.history.intervals import share_interval
from shortlist.workflow.monitor.columns import FALSE_LOOKS, column_drift, other_columns
from studies.quality.monitor import DAYS, FIRST, claims_of, learned, shortlists
from studies.running import study_parser, tell

#: Days in a look at columns.
LOOK_DAYS = 90


def looks(lists: pl.DataFrame, number: int, years: int) -> dict[str, Any]:
    """In how many looks a column is named: of days drawn from unchanged years, and with amounts twice as large.

    The rate of false alarms is small, so that it takes many looks to know it. Whoever looks each month looks twelve
    times: in how many years a column is named at all is counted too.
    """
    rng = np.random.default_rng(1)
    year = pl.col("claim_id").str.split("-").list.first()
    lists = lists.with_columns(place=pl.struct(year, "day").rank("dense").cast(pl.Int64) - 1)
    lists = lists.sort("place", maintain_order=True).drop("day")
    ends = np.cumsum(lists["place"].value_counts().sort("place")["count"].to_numpy())
    days = np.split(np.arange(lists.height), ends[:-1])
    drawn = [[days[place] for place in rng.integers(0, len(days), LOOK_DAYS)] for _ in range(number)]
    longer = [[days[place] for place in rng.integers(0, len(days), DAYS)] for _ in range(years)]
    named = sum(bool(_moved(lists, each, 1.0)) for each in drawn)
    noticed = sum("amount" in _moved(lists, each, 2.0) for each in drawn[:years])
    again = sum(any(_moved(lists, each[:day], 1.0) for day in range(30, DAYS, 30)) for each in longer)
    return {
        "looks": number,
        "days": LOOK_DAYS,
        "named a column": named,
        "named low, high": [round(end, 4) for end in share_interval(named, number) if end is not None],
        "stated": FALSE_LOOKS,
        "looks with amounts twice as large": min(years, number),
        "noticed amounts twice as large": noticed,
        "unchanged years with a look each month": years,
        "named a column in any of them": again,
    }


def _moved(lists: pl.DataFrame, days: Sequence[np.ndarray], larger: float) -> list[str]:
    """The columns that are named, with the amounts of the later half so much larger."""
    place = np.repeat(np.arange(len(days)), [day.size for day in days])
    late = pl.Series(np.where(place >= LOOK_DAYS // 2, larger, 1.0))
    rows = lists[np.concatenate(days)].with_columns(pl.col("amount") * late)
    described = other_columns(rows, {"claim_id", "place"})
    when = pl.Series(np.datetime64(FIRST) + place).cast(pl.Datetime("us"))
    found, _ = column_drift(pl.DataFrame({"when": when, **described}))
    return found.filter("moved")["column"].to_list() if found.height else []


def show(found: dict[str, Any]) -> None:
    print("; ".join(f"{name}: {value}" for name, value in found.items()))


def main(arguments: Sequence[str]) -> None:
    """Write shortlists, and look at their columns."""
    parser = study_parser(__name__, __doc__, "two years and ten looks")
    parser.add_argument("--years", type=int, default=100, help="years that are looked at each month")
    parser.add_argument("--looks", type=int, default=2_000, help="looks at unchanged days")
    options = parser.parse_args(arguments)
    days, number, years = (100, 10, 2) if options.quick else (DAYS, options.looks, options.years)
    lists = shortlists(learned(claims_of(60, 1_000)), claims_of(days, 0))
    tell(looks(lists, number, years), options.json, show)
