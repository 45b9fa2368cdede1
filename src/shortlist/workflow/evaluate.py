"""Measure a ranking by what it puts within the budget, beside what chance and a simple rule would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError
from shortlist.lists import Lists
from shortlist.tables import Roles, RowFacts, read_facts, read_table
from shortlist.validation import check_budget, check_groups, check_score
from shortlist.workflow.measures import measures


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

    Examples
    --------
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
    rankings["at random"] = np.zeros(y.size)
    rows = [{"ranking": name, **measures(facts, values, budget)} for name, values in rankings.items()]
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
