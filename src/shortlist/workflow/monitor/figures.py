"""Figures of the runs by period, with intervals; recall only where it can be known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.profile import FEWEST_ROWS, stability_index
from shortlist.tables.checks import row_weights
from shortlist.workflow.history.intervals import LEVEL, draws, ratio_interval, share_interval
from shortlist.workflow.history.splits import choose_unit, ends_early, periods_of
from shortlist.workflow.monitor.runs import SETTLED, Outcomes

#: The first runs that hold this share of the rows are what the scores of later ones are compared with.
_FIRST = 0.25


def by_period(rows: pl.DataFrame, outcomes: Outcomes, every: str | float | None) -> pl.DataFrame:
    """One line per period; ``state`` says whether it is whole, still running, or waits for outcomes."""
    when = rows["when"].to_numpy()
    every = _unit(when) if every is None else every
    start, name_of = periods_of(when, every)
    beyond = _beyond(rows, outcomes)
    # A row without a day may have been missed in any period.
    dated = outcomes.is_dated and not beyond["when"].null_count()
    beyond_start = periods_of(beyond["when"].to_numpy(), every)[0] if dated and len(beyond) else None
    known = outcomes.is_whole and dated
    first = _first_runs(rows)
    lines = []
    for moment in np.unique(start):
        part = rows.filter(pl.Series(start == moment))
        others = None if beyond_start is None else beyond.filter(pl.Series(beyond_start == moment))
        lines.append(
            {
                "period": name_of(moment),
                **figures(part, others if others is not None else beyond.clear(), recall_known=known),
                "score drift": _score_drift(first, part),
                "state": _state(part, moment == start.max() and ends_early(when, every)),
            }
        )
    return pl.DataFrame(lines, infer_schema_length=None)


def _unit(when: NDArray) -> str:
    """The unit of periods, chosen once for shortlists and other outcomes; a run is a day, so none is shorter."""
    unit = choose_unit(when)
    return "day" if unit == "hour" else unit


def in_all(rows: pl.DataFrame, outcomes: Outcomes) -> dict[str, Any]:
    """The same figures over all runs."""
    return figures(rows, _beyond(rows, outcomes), recall_known=outcomes.is_whole)


def _beyond(rows: pl.DataFrame, outcomes: Outcomes) -> pl.DataFrame:
    """Outcomes of rows that no shortlist had; with chances, only of those that were drawn at random."""
    others = outcomes.frame.join(rows.select("id"), on="id", how="anti", maintain_order="left")
    if outcomes.is_dated:  # what came up before the first run or after the last was not missed by any
        days = rows["when"].dt.date()
        within = pl.col("when").dt.date().is_between(days.min(), days.max())
        others = others.filter(within.fill_null(True))
    return others.filter(pl.col("chance").is_not_null()) if "chance" in others.columns else others


def figures(rows: pl.DataFrame, beyond: pl.DataFrame, *, recall_known: bool) -> dict[str, Any]:
    """What was looked at and found; what was missed is weighed by one over the chance of having been looked at.

    A random check with chance c stands for 1/c rows, so found + Σ wanted/c estimates all wanted rows without bias
    (Horvitz and Thompson).
    """
    known = rows.filter(pl.col("known"))
    found = int(known["wanted"].sum())
    low, high = share_interval(found, known.height)
    line: dict[str, Any] = {
        "runs": rows["when"].dt.date().n_unique(),
        "rows": rows.height,
        "outcomes": known.height,
        "found": found,
        "precision": found / known.height if known.height else None,
        "precision low": low,
        "precision high": high,
        "expected": _expected(rows),
    }
    if "worth" in rows.columns:
        line |= _value(known)
    return line | (_recall(known, beyond) if recall_known else {})


def _expected(rows: pl.DataFrame) -> float | None:
    """The share of wanted rows that models expected, of the rows that they expected something of."""
    if "expected" not in rows.columns or rows["expected"].null_count() == rows.height:
        return None
    return float(rows["expected"].drop_nulls().to_numpy().mean())


def _value(known: pl.DataFrame) -> dict[str, Any]:
    worth = (known["worth"] * known["wanted"]).to_numpy().astype(np.float64)
    if not worth.size:
        return {"value found": 0.0, "value found low": None, "value found high": None}
    units = worth[np.argsort(worth)]  # rows are drawn anew, in any order
    drawn = _drawn(units.size) @ units
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"value found": float(worth.sum()), "value found low": float(low), "value found high": float(high)}


def _recall(known: pl.DataFrame, beyond: pl.DataFrame) -> dict[str, Any]:
    weight = row_weights(beyond["chance"]) if "chance" in beyond.columns else np.ones(beyond.height)
    found = known["wanted"].to_numpy().astype(np.float64)
    missed = beyond["wanted"].to_numpy().astype(np.float64) * weight
    parts, wholes = np.append(found, np.zeros(missed.size)), np.append(found, missed)
    rows = found.size + float(weight.sum())
    if not wholes.sum():
        return {"recall": None, "recall low": None, "recall high": None, "base rate": None}
    low, high = ratio_interval(parts, wholes, _drawn(parts.size))
    return {
        "recall": float(parts.sum() / wholes.sum()),
        "recall low": low,
        "recall high": high,
        "base rate": float(wholes.sum() / rows),
    }


def _drawn(n_units: int) -> NDArray[np.float64]:
    return draws(n_units, 0)


def _first_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Whole runs: rows of one run come in ranked order, so its first rows are no sample of it."""
    days = rows["when"].dt.date()
    last = days.sort()[max(1, round(_FIRST * rows.height)) - 1]
    return rows.filter(days <= last)


def _score_drift(first: pl.DataFrame, part: pl.DataFrame) -> float | None:
    """The stability index of the scores of later runs beside those of the first, by their tenths."""
    later = part.filter(pl.col("when").dt.date() > first["when"].dt.date().max())
    if "score" not in later.columns:
        return None
    old, new = (frame["score"].drop_nulls().to_numpy() for frame in (first, later))
    if min(old.size, new.size) < FEWEST_ROWS:
        return None
    edges = np.unique(np.quantile(old, np.arange(1, 10) / 10))
    counts = [np.bincount(np.searchsorted(edges, each), minlength=edges.size + 1) for each in (old, new)]
    return stability_index(*counts)


def _state(part: pl.DataFrame, is_running: bool) -> str:
    if part["known"].sum() < SETTLED * part.height:
        return "waits for outcomes"
    return "still running" if is_running else "whole"
