"""Measure a ranking by what it puts within the budget, beside what chance and a simple rule would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError
from shortlist.question import EvaluateQuestion
from shortlist.question.answer import answers
from shortlist.tables import read_table
from shortlist.tables.columns.values import clean_text
from shortlist.tables.table import RowFacts, labelled_part, read_facts
from shortlist.validation import check_budget, check_score
from shortlist.workflow.history.measures import measures
from shortlist.workflow.history.trials import CHANCE


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures of one or more rankings of the same rows."""

    table: pl.DataFrame  # one row per ranking, the last one picking at random
    rows: int
    wanted: int
    budget: int
    notes: tuple[str, ...] = ()  # what the user should know of the rows

    def side_by_side(self) -> pl.DataFrame:
        """The measures as rows and the rankings as columns, which is how people compare them."""
        return self.table.transpose(include_header=True, header_name="measure", column_names="ranking")

    def _repr_html_(self) -> str:
        return self.side_by_side()._repr_html_()


@answers(EvaluateQuestion)
def evaluate(question: EvaluateQuestion) -> Evaluation:
    """Measure the ranking in column ``score`` once outcomes are known.

    With ``label`` alone: how many wanted rows the budget finds. With ``impact`` too: what those wanted rows are
    worth. With ``impact`` alone a row is wanted if its impact is above 0. With ``list`` the budget holds for
    each list, and what is found counts over all lists together.

    Examples
    --------
    >>> claims = pl.DataFrame({"score": [4, 3, 2, 1], "fraud": [1, 1, 0, 0]})
    >>> evaluate(claims, label="fraud", budget=2).table["precision"].to_list()
    [1.0, 0.5]
    """
    frame, notes = _rows_with_outcomes(question)
    roles, budget = question.roles, question.budget
    if question.skip_empty_labels:
        labelled, skipped = labelled_part(frame, roles)
        frame, notes = frame[labelled], (*notes, *skipped)
    facts = read_facts(frame, roles, wanted=question.wanted)
    y = facts.wanted
    _check(y, budget, facts)
    rankings = {name: _scores(frame, name) for name in dict.fromkeys((question.score, *question.against))}
    rankings[CHANCE] = np.zeros(y.size)
    rows = [{"ranking": name, **measures(facts, values, budget)} for name, values in rankings.items()]
    return Evaluation(pl.DataFrame(rows, infer_schema_length=None), y.size, int(y.sum()), budget, notes)


def _rows_with_outcomes(question: EvaluateQuestion) -> tuple[pl.DataFrame, tuple[str, ...]]:
    frame = read_table(question.scored)
    if question.outcomes is None:
        return frame, ()
    known = read_table(question.outcomes)
    joined = _join(frame, known, question.id)
    return joined, _notes_on(known.height - joined.height)


def _notes_on(unranked: int) -> tuple[str, ...]:
    """A shortlist alone makes every ranking look perfect: all that it could find is in it."""
    if unranked <= 0:
        return ()
    return (
        f"{unranked:,} rows of the outcomes are not in the ranking, and recall and chance leave them out. "
        "To measure against all rows, rank them all: --all",
    )


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
    if frame[id].dtype != fresh[id].dtype:  # one file may hold the ids as numbers, the other as text
        frame, fresh = (table.with_columns(clean_text(table[id])) for table in (frame, fresh))
    joined = frame.join(fresh, on=id, how="inner", maintain_order="left")
    if joined.height < frame.height:
        raise InvalidInputError(
            f"{frame.height - joined.height} of {frame.height} scored rows have no outcome: their ids are such as "
            f"{_first_id(frame, id, without=fresh)}, those of the outcomes such as {fresh[id][0]!r}. Leave those rows "
            "out, add their outcomes, or write ids alike."
        )
    return joined


def _first_id(frame: pl.DataFrame, id: str, *, without: pl.DataFrame) -> str:
    unmatched = frame.join(without, on=id, how="anti", maintain_order="left")
    return repr(unmatched[id][0])


def _check(y: NDArray[np.bool_], budget: int, facts: RowFacts) -> None:
    check_budget(budget, int(facts.in_lists.sizes.max()))
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
