"""The answers of backtest and compare, said plainly: what would have been found, and which model to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shortlist.counts import about, counted, nearly
from shortlist.tables.columns.words import percent
from shortlist.workflow.history.sentences.words import Words, part_of
from shortlist.workflow.history.tally import Tally
from shortlist.workflow.history.trials import CHANCE

#: A model that fits this much quicker and is as good is worth naming.
_MUCH_QUICKER = 3.0


def conclusion(
    table: pl.DataFrame,
    differences: pl.DataFrame,
    pick: str,
    goal: str,
    *,
    models: Sequence[str],
    parts: str,
    worth: str = "impact",
) -> str:
    """The pick and why; which differences are noise; what a simpler choice would cost.

    ``parts``: what the history was cut into, folds or periods. ``worth``: what wanted rows bring, where they do.
    """
    goals = {"precision": "precision", "impact share": f"share of the {worth}"}
    rows = {row["ranking"]: row for row in table.to_dicts()}
    by_kind: dict[str, list[dict[str, Any]]] = {"noise": [], "better": [], "worse": []}
    for row in differences.to_dicts():
        by_kind[row["says"]].append(row)
    value = f"{goals[goal]} within the budget is {rows[pick][goal]:.3f} on average over the {parts}."
    if any(row["other"] == CHANCE for row in by_kind["better"]):
        says = [f"Use {pick}: {value}"]
    else:
        says = [f"No model is clearly better than chance here; {pick} comes first: {value}"]
    if by_kind["better"]:
        says.append(f"It is clearly better than {_listed(by_kind['better'], goal, rows)}.")
    if by_kind["worse"]:
        says.append(f"Yet {_listed(by_kind['worse'], goal, rows)} does clearly better without a model.")
    if by_kind["noise"]:
        says.append(_on_noise(by_kind["noise"], goal, rows, parts))
    says += _quicker([row["other"] for row in by_kind["noise"] if row["other"] in models], pick, rows)
    return " ".join(says)


def _listed(found: list[dict[str, Any]], goal: str, rows: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{row['other']} ({rows[row['other']][goal]:.3f})" for row in found)


def _on_noise(found: list[dict[str, Any]], goal: str, rows: dict[str, dict[str, Any]], parts: str) -> str:
    which = "The difference to {} is" if len(found) == 1 else "The differences to {} are"
    return f"{which.format(_listed(found, goal, rows))} within noise: these {parts} cannot tell them apart."


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


def backtest_answer(
    tally: Tally, table: pl.DataFrame, setup: dict[str, Any], pays: pl.DataFrame | None = None
) -> str:
    """What the best ranking would have found, and how that compares with the rule in use or with chance."""
    best, first, words = table["ranking"][0], table.row(0, named=True), Words.of(setup)
    wanted = sum(int(tally.trials.facts.wanted[split.test].sum()) for split in tally.trials.splits)
    says = (
        f"Looking at {counted(tally.budget, 'row')} {per(setup)}, {tally.reviewed:,} in all, {best} would have found "
        f"{about(first['found'])} of {words.counted(wanted)} ({percent(first['recall'])}; 95 % interval "
        f"{percent(first['recall low'])} to {percent(first['recall high'])})"
    )
    if first.get("impact share") is not None:
        share = f"{percent(first['impact share'])} of the {words.whole_worth}"
        says += f", worth {words.money(first['impact found'])} ({share})"
    says += f"{_against(tally, table, best, words)}."
    return says if pays is None else f"{says} {profit(' that is', first, pays, setup)}"


def profit(which: str, found: dict[str, Any], pays: pl.DataFrame, setup: dict[str, Any]) -> str:
    """What is left of the worth found when reviews are paid for, and up to which budget they pay for themselves.

    ``which``: how the sentence names what a ranking found within the budget, such as " that is".
    """
    row, words = pays.row(by_predicate=pl.col("ranking") == found["ranking"], named=True), Words.of(setup)
    cost = words.money(setup["review_cost"])
    net = f"At {cost} a review{which} {words.money(found['net value'])} net"
    if not row["pays up to"]:
        return f"{net}; no budget would have paid for itself."
    return (
        f"{net}; reviews pay for themselves up to {counted(row['pays up to'], 'row')} {per(setup)} (95 % interval "
        f"{row['pays up to low']:,} to {row['pays up to high']:,}), {words.money(row['net value'])} net there."
    )


def which_model(tally: Tally, table: pl.DataFrame) -> tuple[str, ...]:
    """How to train the model that came first, and whether the one behind it may be as good."""
    first, *others = (row for row in table.to_dicts() if row["ranking"] in tally.trials.models)
    if not others:
        return ()
    name, other = first["ranking"], others[0]["ranking"]
    _, low, _ = tally.difference(name, other)
    unclear = "within noise of it: another sample may turn them" if low <= 0 else "clearly behind"
    found = f"{about(others[0]['found'])} found"
    return (
        f"of {len(others) + 1} models {name} came first (to train it: --model {name}); {other} ({found}) is {unclear}.",
    )


def per(setup: dict[str, Any]) -> str:
    """What a budget holds for, as sentences have it: each month, of each list each fold."""
    unit = part_of(setup)
    every = setup.get("every")
    named = every if isinstance(every, str) and not every.replace(".", "").isdigit() else unit
    each = f"each {named}" if named.isalpha() else f"every {named}"
    return f"of each list {each}" if "list" in setup else each


def _against(tally: Tally, table: pl.DataFrame, best: str, words: Words) -> str:
    """How much more that is than the best rule finds; where a rule is best, than the best model finds."""
    models = tally.trials.models
    others = [name for name in table["ranking"] if (name in models) != (best in models)]
    if best == CHANCE:
        return "; no model did better than chance"
    more, low, high = tally.difference(best, others[0])
    name = "chance" if others[0] == CHANCE else others[0]
    clear = "" if low > 0 else ", which may be luck"
    if tally.goal == "found":
        kind = words.one if more == 1 else words.many
        return f"; {about(more)} {kind} more than {name} ({nearly(low)} to {nearly(high)}{clear})"
    ends = f"{words.money(low)} to {words.money(high)}{clear}"
    return f"; {words.money(more)} of {words.worth} more than {name} ({ends})"
