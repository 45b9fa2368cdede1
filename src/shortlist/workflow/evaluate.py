"""Measure a ranking by what it puts within the budget, beside what chance and a simple rule would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError
from shortlist.lists import Lists
from shortlist.rankers.base import top_rows
from shortlist.tables import Roles, RowFacts, read_facts, read_table
from shortlist.validation import check_budget, check_groups, check_score


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures of one or more rankings of the same rows."""

    table: pl.DataFrame  # one row per ranking, the last one picking at random
    rows: int
    wanted: int
    budget: int

    def side_by_side(self) -> pl.DataFrame:
        """The measures as rows and the rankings as columns, which is how people compare them."""
        return self.table.transpose(include_header=True, header_name="measure", column_names="ranking")

    def _repr_html_(self) -> str:
        return self.side_by_side()._repr_html_()


def evaluate(
    scored: Any,
    *,
    label: str | None = None,
    impact: str | None = None,
    list: str | None = None,
    id: str | None = None,
    score: str = "score",
    against: Sequence[str] = (),
    outcomes: Any = None,
    wanted: Any = None,
    budget: int = 50,
) -> Evaluation:
    """Measure the ranking in column ``score`` once outcomes are known.

    With ``label`` alone: how many wanted rows the budget finds. With ``impact`` too: what those wanted rows are
    worth. With ``impact`` alone a row is wanted if its impact is above 0. With ``list`` the budget holds for
    each list, and what is found counts over all lists together.

    Parameters
    ----------
    scored : file or data frame with a score per row
    outcomes : where the columns named above are, if they are not in ``scored``; joined by ``id``
    against : other columns to rank by, largest first, for comparison

    >>> claims = pl.DataFrame({"score": [4, 3, 2, 1], "fraud": [1, 1, 0, 0]})
    >>> evaluate(claims, label="fraud", budget=2).table["precision"].to_list()
    [1.0, 0.5]
    """
    frame = read_table(scored)
    if outcomes is not None:
        frame = _join(frame, read_table(outcomes), id)
    facts = read_facts(frame, Roles(id=id, label=label, impact=impact, list=list), wanted=wanted)
    y = facts.wanted
    lists = check_groups(facts.groups, y.size)
    _check(y, budget, lists, facts)
    rankings = {name: _scores(frame, name) for name in dict.fromkeys((score, *against))}
    rows = [{"ranking": name, **_measures(facts, values, budget)} for name, values in rankings.items()]
    rows.append({"ranking": "at random", **_by_chance(facts, lists, budget)})
    return Evaluation(pl.DataFrame(rows, infer_schema_length=None), y.size, int(y.sum()), budget)


def _join(frame: pl.DataFrame, outcomes: pl.DataFrame, id: str | None) -> pl.DataFrame:
    """The scored rows with their outcomes; columns that both have come from the scored rows."""
    if id is None:
        raise InvalidInputError("outcomes are joined by id; name the column: --id COLUMN")
    for name, table in (("scores", frame), ("outcomes", outcomes)):
        if id not in table.columns:
            raise SchemaError(
                f"the {name} have no column {id!r}; their columns are {', '.join(table.columns)}."
            )
    fresh = outcomes.select(id, *(name for name in outcomes.columns if name not in frame.columns))
    joined = frame.join(fresh, on=id, how="inner", maintain_order="left")
    if joined.height < frame.height:
        raise InvalidInputError(
            f"{frame.height - joined.height} of {frame.height} scored rows have no outcome. "
            "Leave them out, or add their outcomes."
        )
    return joined


def _check(y: NDArray[np.bool_], budget: int, lists: Lists, facts: RowFacts) -> None:
    check_budget(budget, y.size if facts.groups is None else int(lists.sizes.max()))
    if not y.any():
        raise NoWantedRowsError(f"none of the {y.size} rows is wanted, so there is nothing to find.")


def _scores(frame: pl.DataFrame, column: str) -> NDArray[np.float64]:
    if column not in frame.columns:
        raise SchemaError(
            f"there is no column {column!r} to rank by; the columns are {', '.join(frame.columns)}."
        )
    if not frame[column].dtype.is_numeric():
        raise SchemaError(f"column {column!r} holds no numbers, so rows cannot be ranked by it.")
    return check_score(frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy())


def _measures(facts: RowFacts, score: NDArray[np.float64], budget: int) -> dict[str, float]:
    y, worth = facts.wanted, facts.worth
    top = top_rows(score, budget, facts.groups)
    row = _found(y[top].sum(), y, top.size)
    if facts.groups is None:
        row |= {"average precision": metrics.average_precision(y, score), "AUC": metrics.roc_auc(y, score)}
    if worth is not None:
        saved = metrics.cost_saved_at_k(worth, score, budget, groups=facts.groups)
        row |= _worth_found(float(worth[top].sum()), worth, saved)
    return row


def _by_chance(facts: RowFacts, lists: Lists, budget: int) -> dict[str, float]:
    """What a random order finds on average: each list gives the share of it that is looked at."""
    y, worth, no_order = facts.wanted, facts.worth, np.zeros(facts.wanted.size)
    looked_at = np.minimum(budget, lists.sizes)
    share = (looked_at / lists.sizes)[lists.of_row]
    row = _found(float(share @ y), y, int(looked_at.sum()))
    if facts.groups is None:
        row |= {"average precision": metrics.average_precision(y, no_order), "AUC": 0.5}
    if worth is not None:
        saved = metrics.cost_saved_at_k(worth, no_order, budget, groups=facts.groups)
        row |= _worth_found(float(share @ worth), worth, saved)
    return row


def _found(hits: float, y: NDArray[np.bool_], reviewed: int) -> dict[str, float]:
    return {"found": float(hits), "precision": float(hits / reviewed), "recall": float(hits / y.sum())}


def _worth_found(found: float, worth: NDArray[np.float64], saved: float) -> dict[str, float]:
    return {"impact found": found, "impact share": found / float(worth.sum()), "cost saved": saved}
