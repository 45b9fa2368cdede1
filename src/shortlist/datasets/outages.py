"""Synthetic power outages: storms are lists, the networks they hit are rows."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.validation import check_budget, make_generator

N_NETWORKS = 500
#: A storm hits between so many networks.
HIT = (5, 500)

Columns = dict[str, NDArray]


def make_outages(n_storms: int = 200, *, random_state: int = 0) -> pl.DataFrame:
    """Customers who lose power, for each network that each storm hits.

    The shape of the data that utilities rank: about nine in ten networks come through unharmed, the others
    lose from one customer to tens of thousands, and a few storms hold most of the damage. What makes an
    outage likely (trees beside long overhead lines, gusts, wet soil) is not what makes it large (customers
    behind few switches, old lines in dense areas), and how hard a storm blows says little about which of its
    networks will suffer most.

    Columns: ``storm``, ``network``, six of weather, eight of the network, ``customers_out``.

    >>> outages = make_outages(50, random_state=0)
    >>> outages.shape[1], outages["storm"].n_unique(), outages["customers_out"].max() > 1_000
    (17, 50, True)
    """
    check_budget(n_storms, name="n_storms")
    rng = make_generator(random_state)
    networks = _networks(rng)
    sizes = rng.integers(HIT[0], HIT[1], n_storms, endpoint=True)
    storm = np.repeat(np.arange(n_storms), sizes)
    network = np.concatenate([rng.choice(N_NETWORKS, size, replace=False) for size in sizes])
    columns = {
        **_weather(rng, storm, n_storms),
        **{name: values[network] for name, values in networks.items()},
    }
    return pl.DataFrame(
        {
            "storm": [f"storm-{number:04d}" for number in storm],
            "network": [f"network-{number:03d}" for number in network],
            **{name: np.round(values, 3) for name, values in columns.items()},
            "customers_out": _customers_out(rng, columns),
        }
    )


def _networks(rng: np.random.Generator) -> Columns:
    """What stays the same from storm to storm."""
    density = rng.beta(1.2, 2.5, N_NETWORKS)  # 0: farmland, 1: city
    cable_km = np.exp(rng.normal(4.2 - 1.8 * density, 0.5))
    return {
        "customers": np.round(np.exp(rng.normal(5.5 + 3.5 * density, 0.6))),
        "cable_km": cable_km,
        "underground_share": np.clip(density + rng.normal(-0.15, 0.2, N_NETWORKS), 0, 1),
        "poles": np.round(cable_km * rng.uniform(12, 25, N_NETWORKS)),
        "vegetation": np.clip(0.9 - 0.6 * density + rng.normal(0, 0.2, N_NETWORKS), 0, 1),
        "line_age": rng.gamma(4, 7, N_NETWORKS),
        "switches": rng.poisson(2 + 6 * rng.random(N_NETWORKS)),
        "elevation": rng.gamma(1.5, 200, N_NETWORKS),
    }


def _weather(rng: np.random.Generator, storm: NDArray[np.int64], n_storms: int) -> Columns:
    """What differs between storms, and a little between the networks of one."""
    severity = rng.gamma(3, 4, n_storms)[storm] + rng.normal(0, 1.5, storm.size)
    wind = np.maximum(6 + severity, 1)
    return {
        "wind": wind,
        "gust": wind * rng.uniform(1.2, 2.0, storm.size),
        "rain": np.maximum(rng.gamma(2, 9, n_storms)[storm] + rng.normal(0, 5, storm.size), 0),
        "humidity": np.clip(rng.normal(78, 8, n_storms)[storm] + rng.normal(0, 5, storm.size), 20, 100),
        "soil_moisture": np.clip(rng.beta(4, 4, n_storms)[storm] + rng.normal(0, 0.1, storm.size), 0, 1),
        "temperature": rng.normal(6, 7, n_storms)[storm] + rng.normal(0, 1, storm.size),
    }


def _customers_out(rng: np.random.Generator, c: Columns) -> NDArray[np.int64]:
    """Whether a network fails, and then which share of its customers is behind the fault."""
    overhead = c["cable_km"] * (1 - c["underground_share"])
    trees = c["vegetation"] * np.log1p(overhead) * c["soil_moisture"]
    chance = 0.14 * (c["gust"] - 24) + 1.1 * trees + 0.02 * c["line_age"] - 5.9
    fails = rng.logistic(size=chance.size) < chance
    share = 0.03 * c["line_age"] + 1.5 * c["vegetation"] - 0.35 * c["switches"] + 0.02 * c["rain"] - 2.5
    reach = np.exp(rng.normal(share, 1.0)) * c["customers"]
    return np.where(fails, np.ceil(np.minimum(reach, c["customers"])), 0).astype(np.int64)
