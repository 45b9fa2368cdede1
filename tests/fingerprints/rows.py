"""The rows that fingerprints are taken on: small, with a column of each kind, gaps, ties and lists."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.datasets import make_claims, make_outages


@cache
def claims(n_rows: int, seed: int) -> pl.DataFrame:
    """Claims with few repair shops and two more dates, one with a time of day."""
    start = pl.col("date") - pl.duration(days=pl.col("policy_age_days"))
    return make_claims(n_rows, random_state=seed, fraud_rate=0.12).with_columns(
        repair_shop=pl.col("repair_shop").str.slice(0, 6),
        policy_start=start.dt.strftime("%d.%m.%Y"),
        reported=pl.col("date").cast(pl.Datetime("us")) + pl.duration(hours=7 * pl.col("witnesses") + 3),
    )


@cache
def outages() -> pl.DataFrame:
    """Networks hit by a few storms, of which a few rows each are kept."""
    rows = make_outages(24, random_state=0).drop("network")
    return rows.group_by("storm", maintain_order=True).head(25)


@cache
def numbers(n_rows: int = 240) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """X with gaps and ties, which rows are wanted, what they are worth, and their lists."""
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(n_rows, 5)), 1)
    risk = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    wanted = risk > np.quantile(risk, 0.8)
    worth = np.where(wanted, np.round(np.exp(1 + rng.normal(size=n_rows)), 2), 0.0)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, wanted, worth, np.sort(rng.integers(0, 8, n_rows))
