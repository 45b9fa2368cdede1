"""Synthetic insurance claims, of which about 3 % are fraudulent."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

from shortlist.validation import make_generator

REGIONS = ["north", "south", "east", "west", "centre"]
CHANNELS = ["agent", "broker", "phone", "web"]
VEHICLES = ["small", "family", "van", "luxury", "motorcycle"]
N_SHOPS = 40
#: Repair shops that take part in staged accidents.
CROOKED_SHOPS = (7, 19, 33)
FIRST_DAY = dt.date(2024, 1, 1)


def make_claims(n_rows: int = 20_000, *, random_state: int = 0, fraud_rate: float = 0.03) -> pl.DataFrame:
    """Claims with numbers, categories, dates, missing values, an outcome ``fraud`` and an ``amount``.

    Fraud follows rules that an investigator would recognise, with plenty of noise: young policies with large
    claims, late reports without a police report, a few crooked repair shops, many earlier claims. No single
    column gives it away, and the largest amounts are mostly honest.

    >>> claims = make_claims(1_000, random_state=0)
    >>> claims.shape, claims["fraud"].sum()
    ((1000, 15), 30)
    """
    rng = make_generator(random_state)
    columns = _honest_columns(rng, n_rows)
    risk = _risk(columns) + rng.logistic(scale=0.7, size=n_rows)
    fraud = np.zeros(n_rows, dtype=bool)
    fraud[np.argsort(-risk, kind="stable")[: max(1, round(fraud_rate * n_rows))]] = True
    # Fraudsters ask for more than the damage, though less than the largest honest claims.
    columns["amount"] = np.round(columns["amount"] * np.where(fraud, 1.6, 1.0), 2)
    claims = pl.DataFrame(columns).with_columns(
        pl.Series("claim_id", [f"C-{i:06d}" for i in range(1, n_rows + 1)]),
        pl.Series("date", _dates(n_rows)),
        pl.Series("fraud", fraud.astype(np.int8)),
    )
    return _with_gaps(claims, rng).select("claim_id", "date", *columns, "fraud")


def _honest_columns(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    vehicle = rng.choice(VEHICLES, size=n, p=[0.3, 0.4, 0.12, 0.08, 0.1])
    size_of_damage = np.where(vehicle == "luxury", 8.4, 7.4)
    return {
        "amount": np.exp(rng.normal(size_of_damage, 0.9, n)),
        "policy_age_days": np.round(rng.gamma(1.5, 500, n)).astype(int),
        "driver_age": np.clip(np.round(rng.normal(44, 14, n)), 18, 92).astype(int),
        "vehicle_age": rng.poisson(6, n),
        "days_to_report": rng.geometric(0.25, n) - 1,
        "previous_claims": rng.poisson(0.6, n),
        "witnesses": rng.binomial(3, 0.25, n),
        "police_report": rng.random(n) < 0.55,
        "region": rng.choice(REGIONS, size=n, p=[0.25, 0.2, 0.2, 0.2, 0.15]),
        "channel": rng.choice(CHANNELS, size=n, p=[0.4, 0.25, 0.15, 0.2]),
        "vehicle": vehicle,
        "repair_shop": np.array([f"shop-{i:02d}" for i in rng.integers(0, N_SHOPS, n)]),
    }


def _risk(c: dict[str, np.ndarray]) -> np.ndarray:
    """How suspicious a claim is to somebody who knows everything but the truth."""
    young_policy = c["policy_age_days"] < 90
    large = np.log(c["amount"]) > 8.2
    crooked = np.isin(c["repair_shop"], [f"shop-{i:02d}" for i in CROOKED_SHOPS])
    return (
        2.2 * (young_policy & large)
        + 1.5 * ((c["days_to_report"] > 7) & ~c["police_report"])
        + 2.4 * (crooked & (c["witnesses"] == 0))
        + 0.6 * np.minimum(c["previous_claims"], 4)
        + 0.8 * ((c["channel"] == "web") & (c["driver_age"] < 28))
        + 0.5 * ((c["vehicle"] == "luxury") & (c["vehicle_age"] > 10))
    )


def _dates(n: int) -> list[dt.date]:
    """Claims arrive evenly over two years, in the order of their ids."""
    return [FIRST_DAY + dt.timedelta(days=int(day)) for day in np.arange(n) * 730 // n]


def _with_gaps(claims: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Leave out what people forget to write down."""
    gaps = {"driver_age": 0.05, "days_to_report": 0.08, "police_report": 0.1, "repair_shop": 0.12}
    return claims.with_columns(
        pl.when(pl.Series(rng.random(claims.height) >= share)).then(pl.col(name)).alias(name)
        for name, share in gaps.items()
    )
