"""The answers of backtest and compare, as one sentence that a manager reads."""

from __future__ import annotations

from typing import Any

import polars as pl

from shortlist.tables.columns.words import percent
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import CHANCE


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
