"""Which model to use, said plainly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shortlist.workflow.history.trials import CHANCE

#: A model that fits this much quicker and is as good is worth naming.
_MUCH_QUICKER = 3.0
_WORDS = {"precision": "precision within the budget", "impact share": "share of the impact within the budget"}


def verdict(
    table: pl.DataFrame, differences: pl.DataFrame, pick: str, goal: str, *, models: Sequence[str]
) -> str:
    """The pick and why; which differences are noise; what a simpler choice would cost."""
    rows = {row["ranking"]: row for row in table.to_dicts()}
    by_kind: dict[str, list[dict[str, Any]]] = {"noise": [], "better": [], "worse": []}
    for row in differences.to_dicts():
        by_kind[row["says"]].append(row)
    value = f"{_WORDS[goal]} is {rows[pick][goal]:.3f} on average over the folds."
    if any(row["other"] == CHANCE for row in by_kind["better"]):
        says = [f"Use {pick}: {value}"]
    else:
        says = [f"No model is clearly better than chance here; {pick} comes first: {value}"]
    if by_kind["better"]:
        says.append(f"It is clearly better than {_listed(by_kind['better'], goal, rows)}.")
    if by_kind["worse"]:
        says.append(f"Yet {_listed(by_kind['worse'], goal, rows)} does clearly better without a model.")
    if by_kind["noise"]:
        says.append(_on_noise(by_kind["noise"], goal, rows))
    says += _quicker([row["other"] for row in by_kind["noise"] if row["other"] in models], pick, rows)
    return " ".join(says)


def _listed(found: list[dict[str, Any]], goal: str, rows: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{row['other']} ({rows[row['other']][goal]:.3f})" for row in found)


def _on_noise(found: list[dict[str, Any]], goal: str, rows: dict[str, dict[str, Any]]) -> str:
    which = "The difference to {} is" if len(found) == 1 else "The differences to {} are"
    return f"{which.format(_listed(found, goal, rows))} within noise: these folds cannot tell them apart."


def _quicker(equals: list[str], pick: str, rows: dict[str, dict[str, Any]]) -> list[str]:
    """A sentence on the quickest model that is as good, where it is much quicker."""
    if not equals:
        return []
    seconds = {name: max(rows[name]["fit seconds"], 1e-3) for name in [*equals, pick]}
    quickest = min(equals, key=lambda name: seconds[name])
    factor = seconds[pick] / seconds[quickest]
    if factor < _MUCH_QUICKER:
        return []
    return [f"If time matters, {quickest} trains {factor:.0f} times quicker and may serve as well."]
