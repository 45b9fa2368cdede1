"""The answers of backtest and compare, said plainly: what would have been found, and which model to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shortlist.tables.columns.words import percent
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import CHANCE

#: A model that fits this much quicker and is as good is worth naming.
_MUCH_QUICKER = 3.0
_WORDS = {"precision": "precision within the budget", "impact share": "share of the impact within the budget"}


def conclusion(
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


def amount(value: float) -> str:
    """A count or an amount: whole, with thousands apart; small ones with a digit after the point where it is not 0.

    >>> amount(12345.6), amount(3.25), amount(51.025)
    ('12,346', '3.2', '51')
    """
    value = round(value, 1)
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"


def backtest_answer(tally: Tally, table: pl.DataFrame, setup: dict[str, Any]) -> str:
    """What the best ranking would have found, and how that compares with the rule in use or with chance."""
    best, first = table["ranking"][0], table.row(0, named=True)
    wanted = sum(int(tally.trials.facts.wanted[split.test].sum()) for split in tally.trials.splits)
    says = (
        f"Looking at {amount(tally.budget)} rows {_per(setup)}, {tally.reviewed:,} in all, {best} would have found "
        f"{amount(first['found'])} of {wanted:,} wanted rows ({percent(first['recall'])}; 95 % interval "
        f"{percent(first['recall low'])} to {percent(first['recall high'])})"
    )
    if first.get("impact share") is not None:
        says += f", worth {amount(first['impact found'])} ({percent(first['impact share'])} of all impact)"
    return says + f"{_against(tally, table, best)}."


def _per(setup: dict[str, Any]) -> str:
    unit = "period" if "time" in setup else "fold"
    every = setup.get("every")
    named = every if isinstance(every, str) and not every.replace(".", "").isdigit() else unit
    each = f"each {named}" if named.isalpha() else f"every {named}"
    return f"of each list {each}" if "list" in setup else each


def _against(tally: Tally, table: pl.DataFrame, best: str) -> str:
    """How much more that is than the best rule finds; where a rule is best, than the best model finds."""
    models = tally.trials.models
    others = [name for name in table["ranking"] if (name in models) != (best in models)]
    if best == CHANCE:
        return "; no model did better than chance"
    more, low, high = tally.difference(best, others[0])
    kind = "of impact" if tally.goal != "found" else "row" if more == 1 else "rows"
    name = "chance" if others[0] == CHANCE else others[0]
    clear = "" if low > 0 else ", which may be luck"
    return f"; {amount(more)} {kind} more than {name} ({amount(low)} to {amount(high)}{clear})"
