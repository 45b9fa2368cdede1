"""A table as people have them, made at random."""

import datetime as dt

import numpy as np
import polars as pl

ODD = np.array(
    ["shop-04", "is and", "a, usually 3", " north ", "München", "", "NA", None, "x > 3"], dtype=object
)


def with_gaps(rng, values, share):
    gone = rng.random(len(values)) < share
    return [None if empty else value for value, empty in zip(values, gone, strict=True)]


def random_table(seed, n_rows):
    """Gaps, ties, categories with odd names, dates as dates and as text, whole numbers, flags, numbers as text."""
    rng = np.random.default_rng(seed)
    days = [dt.date(2023, 1, 1) + dt.timedelta(int(d)) for d in rng.gamma(2, 90, n_rows)]
    columns = {
        "previous_claims": rng.poisson(0.6, n_rows),
        "Year": rng.integers(1994, 1997, n_rows),
        "amount": np.round(rng.lognormal(6, 1.5, n_rows), 2),
        "measured": rng.normal(size=n_rows) * 10.0 ** rng.integers(-7, 7),
        "rate": np.round(rng.beta(1, 8, n_rows), 4),
        "balance": np.round(rng.normal(0, 5000, n_rows)),
        "constant": np.full(n_rows, 7.0),
        "shop": ODD[rng.integers(0, ODD.size, n_rows)],
        "region": rng.choice(["north", "south", "east"], n_rows, p=[0.9, 0.08, 0.02]),
        "police": rng.random(n_rows) < 0.3,
        "flag as text": np.where(rng.random(n_rows) < 0.1, "true", "false"),
        "digits as text": rng.integers(0, 40, n_rows).astype(str),
        "day": days,
        "moment": [
            dt.datetime.combine(d, dt.time(int(h), int(m)))
            for d, h, m in zip(days, rng.integers(0, 24, n_rows), rng.integers(0, 60, n_rows), strict=True)
        ],
        "day as text": [str(day) for day in days],
    }
    chosen = rng.permutation([*columns])[: rng.integers(4, len(columns) + 1)]
    gaps = {name: rng.choice([0.0, 0.05, 0.6]) for name in chosen}
    frame = pl.DataFrame(
        {name: pl.Series(with_gaps(rng, list(columns[name]), gaps[name]), strict=False) for name in chosen}
    )
    return frame.insert_column(0, pl.Series("claim", [f"C-{i}" for i in range(n_rows)]))
