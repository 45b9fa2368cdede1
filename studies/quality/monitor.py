"""Whether alarms come as seldom and as soon as they say, on years of daily shortlists of generated claims.

A model is trained on 60 days of claims; its precision on the shortlists of 60 more is the promise. Then years of 365
daily shortlists are written and monitored as a user does. In half of the years the claims change on day 181: half of
the frauds no longer look like fraud. Beside the years that are played from end to end, a hundred unchanged ones and a
hundred with the change are drawn day by day from the days of those, which is fair since days are generated alike.

    python -m studies quality.monitor --json > studies/results/quality.monitor.json
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shortlist.datasets import make_claims
from shortlist.models.trained import TrainedModel
from shortlist.workflow import monitor, score, train
from shortlist.workflow.monitor.alarms import FALL, FALSE_YEARS
from shortlist.workflow.monitor.monitor import watch
from shortlist.workflow.monitor.runs import Daily
from studies.running import study_parser, tell

CLAIMS_A_DAY, BUDGET, DAYS, CHANGE = 200, 10, 365, 181
FIRST = dt.date(2025, 1, 1)


def claims_of(days: int, seed: int) -> pl.DataFrame:
    """Claims of so many days, with the number of their day."""
    rows = make_claims(days * CLAIMS_A_DAY, random_state=seed).with_columns(
        day=pl.int_range(pl.len()) // CLAIMS_A_DAY
    )
    return rows.with_columns(pl.format("{}-{}", pl.lit(seed), "claim_id").alias("claim_id"))


def changed(claims: pl.DataFrame, seed: int) -> pl.DataFrame:
    """From the day of the change on, half of the frauds are others, drawn at random."""
    rng = np.random.default_rng(seed)
    fraud, late = claims["fraud"].to_numpy().copy(), claims["day"].to_numpy() >= CHANGE
    gone = late & (fraud == 1) & (rng.random(fraud.size) < 0.5)
    fraud[gone] = 0
    fraud[rng.choice(np.flatnonzero(late & (fraud == 0)), int(gone.sum()), replace=False)] = 1
    return claims.with_columns(fraud=pl.Series(fraud))


def shortlists(model: TrainedModel, claims: pl.DataFrame) -> pl.DataFrame:
    """The shortlist of each day, as ``score`` writes it: days are lists."""
    found = score(model, claims.drop("fraud"), budget=BUDGET).frame
    moments = pl.lit(FIRST) + pl.duration(days=pl.col("day"))
    return found.with_columns(day=moments).drop("date")


def played(model: TrainedModel, promise: float, seed: int, *, change: bool) -> dict[str, Any]:
    """One year from end to end."""
    claims = claims_of(DAYS, seed)
    claims = changed(claims, seed) if change else claims
    lists = shortlists(model, claims)
    came_up = claims.with_columns(day=pl.lit(FIRST) + pl.duration(days=pl.col("day")))
    result = monitor(
        lists, outcomes=came_up, id="claim_id", label="fraud", time="day", promise=promise, complete=True
    )
    starts = [(day - FIRST).days for day in result.alarms["from"].to_list()]
    return {
        "columns moved": int(result.columns["moved"].sum()),
        "found": result.runs["found"].to_list(),
        "alarms": starts,
        "delay": _delay(result.setup["alarms"]),
        "expected": float(result.table["expected"][0]),
        "recall": float(result.table["recall"][0]),
    }


def _delay(says: str) -> int:
    """The delay that was stated, in days; a year where it says that a fall may not be noticed within one."""
    return max((int(days) for days in re.findall(r"within (\d+) runs", says)), default=DAYS)


def drawn(
    found: np.ndarray, promise: float, expected: float, rng: np.random.Generator
) -> tuple[list[int], int]:
    """A year of days drawn from those that were played: when alarms began, and the delay that was stated."""
    days = np.datetime64(FIRST) + np.arange(DAYS)
    counts = np.full(DAYS, BUDGET)
    _, alarms, plans = watch(Daily(days, counts, counts, found, np.full(DAYS, expected)), promise, 0)
    delay = max(plan.delay or DAYS for plan in plans.values())
    return [(day - FIRST).days for day in alarms["from"].to_list()], delay


def learned(claims: pl.DataFrame) -> TrainedModel:
    """The model of the first 60 days."""
    known = claims.filter(pl.col("day") < 60)
    return train(
        known, label="fraud", id="claim_id", list="day", ignore=["date"], budget=BUDGET, model="ap-boost"
    )


def measure(years: int, ends: int) -> dict[str, Any]:
    """The rates of false alarms and of alarms in time, end to end and drawn."""
    claims = claims_of(120, 1_000)
    model = learned(claims)
    later = claims.filter(pl.col("day") >= 60)
    listed = shortlists(model, later).join(later.select("claim_id", "fraud"), on="claim_id")
    promise = float(listed["fraud"].to_numpy().mean())
    even = [played(model, promise, seed, change=False) for seed in range(ends)]
    late = [played(model, promise, 50 + seed, change=True) for seed in range(ends)]
    return {
        "promise": round(promise, 3),
        "fall that alarms are made for": round(FALL, 3),
        "end to end": {
            "unchanged years": ends,
            "with a false alarm": sum(bool(year["alarms"]) for year in even),
            "changed years": ends,
            "alarm in time": sum(_in_time(year["alarms"], year["delay"]) for year in late),
            "days until the alarm": [
                min((d - CHANGE for d in year["alarms"] if d >= CHANGE), default=None) for year in late
            ],
            "stated delay": max(year["delay"] for year in late),
            "found before, after": [_before_after(late)],
            "recall": round(float(np.mean([year["recall"] for year in even])), 3),
            "unchanged years with a column named": sum(year["columns moved"] > 0 for year in even),
        },
        "drawn": _drawn(even, late, promise, years),
    }


def _before_after(years: list[dict[str, Any]]) -> list[float]:
    found = np.array([year["found"] for year in years]) / BUDGET
    return [round(float(part.mean()), 3) for part in (found[:, :CHANGE], found[:, CHANGE:])]


def _in_time(alarms: Sequence[int], delay: int) -> bool:
    return any(CHANGE <= day < CHANGE + delay for day in alarms)


def _drawn(
    even: list[dict[str, Any]], late: list[dict[str, Any]], promise: float, years: int
) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    expected = float(np.mean([year["expected"] for year in even]))
    usual = np.concatenate([year["found"] for year in even])
    after = np.concatenate([year["found"][CHANGE:] for year in late])
    false = [drawn(rng.choice(usual, DAYS), promise, expected, rng)[0] for _ in range(years)]
    noticed = [
        drawn(np.append(rng.choice(usual, CHANGE), rng.choice(after, DAYS - CHANGE)), promise, expected, rng)
        for _ in range(years)
    ]
    return {
        "unchanged years": years,
        "with a false alarm": sum(map(bool, false)),
        "stated": FALSE_YEARS * years,
        "changed years": years,
        "alarm in time": sum(_in_time(alarms, delay) for alarms, delay in noticed),
        "stated in time": 0.9 * years,
        "stated delay": max(delay for _, delay in noticed),
    }


def show(found: dict[str, Any]) -> None:
    print(f"promised precision {found['promise']}")
    for how in ("end to end", "drawn"):
        print(f"{how}: " + "; ".join(f"{name}: {value}" for name, value in found[how].items()))


def main(arguments: Sequence[str]) -> None:
    """Play years, and count alarms."""
    parser = study_parser(__name__, __doc__, "one year of each kind from end to end, five drawn ones")
    parser.add_argument("--years", type=int, default=100, help="years drawn from days")
    parser.add_argument("--ends", type=int, default=3, help="years of each kind from end to end")
    options = parser.parse_args(arguments)
    years, ends = (5, 1) if options.quick else (options.years, options.ends)
    tell(measure(years, ends), options.json, show)
