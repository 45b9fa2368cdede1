"""What reviews cost, beside what they find: several budgets at once, and up to which budget they pay for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shortlist.metrics.profit import best_budget, gains_by_place
from shortlist.workflow.history.intervals import LEVEL, Floats
from shortlist.workflow.history.tally import Tally


def by_budget(tally: Tally, budgets: Sequence[int]) -> pl.DataFrame:
    """What each ranking finds within each budget, with 95 % intervals; budgets from small to large."""
    parts = [
        replace(tally, budget=budget)
        .totals()
        .insert_column(0, pl.Series("budget", [budget]).new_from_index(0, n))
        for budget in sorted(set(budgets))
        for n in [len(tally.trials.rankings)]
    ]
    return pl.concat(parts, how="diagonal").drop("fit seconds")


def with_net_values(table: pl.DataFrame, tally: Tally, budget: int) -> pl.DataFrame:
    """Beside what each ranking found within a budget, its net value, where reviews have a cost."""
    if tally.review_cost is None:
        return table
    net = replace(tally, budget=budget).net_values(tally.review_cost)
    place = table.columns.index("impact share") + 1
    joined = table.join(net, on="ranking", how="left", maintain_order="left")
    return joined.select(*table.columns[:place], *net.columns[1:], *table.columns[place:])


def paying_budgets(tally: Tally) -> pl.DataFrame | None:
    """Up to which budget the reviews of each ranking pay for themselves, and their net value there.

    It is the budget, for each list of each period, at which the net value is largest: the next reviews cost more than
    they find. The interval draws periods anew, or rows where periods are few, as all intervals of a backtest do.
    None where reviews have no cost.
    """
    cost = tally.review_cost
    if cost is None:
        return None
    rows = [{"ranking": name, **_pays(tally, name, cost)} for name in tally.trials.rankings]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.sort("net value", descending=True, maintain_order=True)


def _pays(tally: Tally, ranking: str, cost: float) -> dict[str, Any]:
    unit, place, net = _rows_of(tally, ranking, cost)
    curve = _net_curve(place, net)
    budget = best_budget(curve)
    drawn = [best_budget(_net_curve(place, weight[unit] * net)) for weight in tally.draws]
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {
        "pays up to": budget,
        "pays up to low": int(np.floor(low)),
        "pays up to high": int(np.ceil(high)),
        "net value": float(curve[budget - 1]) if budget else 0.0,
    }


def _net_curve(place: Any, net: Any) -> Floats:
    """The sum over places up to each."""
    return np.cumsum(np.bincount(place, net).astype(np.float64))


def _rows_of(tally: Tally, ranking: str, cost: float) -> tuple[Any, Any, Any]:
    """Of each row that was ranked: its unit, its place from 0, and what looking at it brings less what it costs."""
    units, places, nets = [], [], []
    for trial, unit in zip(tally.trials.of(ranking), tally.units, strict=True):
        facts = tally.trials.tested(trial.split)
        assert facts.worth is not None  # costs are refused where nothing has a value
        order, place, gain = gains_by_place(facts.worth, trial.score, facts.in_lists)
        units.append(unit[order])
        places.append(place)
        nets.append(gain - cost)
    return np.concatenate(units), np.concatenate(places), np.concatenate(nets)
