"""Measure a ranking by what it puts within the budget, beside what chance and a simple rule would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, NoWantedRowsError, SchemaError
from shortlist.question import EvaluateQuestion
from shortlist.question.answer import answers
from shortlist.tables import read_table, scan_table
from shortlist.tables.columns.values import blanked, clean_text
from shortlist.tables.columns.words import figure
from shortlist.tables.memory import columns_of, plan_for
from shortlist.tables.table import labelled_part, read_facts
from shortlist.validation import check_budget, check_score
from shortlist.workflow.history.measures import measures
from shortlist.workflow.history.sentences.words import Words
from shortlist.workflow.history.trials import CHANCE

Flags = NDArray[np.bool_]
_QUIET = "the ranking has no rows, as on a quiet day, so there is nothing to measure."


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
        if self.table.is_empty():
            return pl.DataFrame(schema={"measure": pl.String})
        return self.table.transpose(include_header=True, header_name="measure", column_names="ranking")

    def in_words(self, words: Words | None = None) -> pl.DataFrame:
        """As ``side_by_side``, for people: how many were found as they say it, measures with as many digits."""
        table = (words or Words()).named(self.table)
        names = [name for name in table.columns if name != "ranking"]
        columns = {row["ranking"]: [_said(row[name]) for name in names] for row in table.to_dicts()}
        return pl.DataFrame({"measure": names, **columns})

    def _repr_html_(self) -> str:
        return self.in_words()._repr_html_()


def _said(value: str | float | None) -> str:
    return value if isinstance(value, str) else figure(np.nan if value is None else value)


@answers(EvaluateQuestion)
def evaluate(question: EvaluateQuestion) -> Evaluation:
    """Measure the ranking in column ``score`` once outcomes are known.

    With ``label`` alone: how many wanted rows the budget finds. With ``impact`` too: what those wanted rows are
    worth. With ``impact`` alone a row is wanted if its impact is above 0. With ``list`` the budget holds for
    each list, and what is found counts over all lists together. Of a ranking without rows, as on a quiet day, nothing
    is measured: its table is empty.

    Examples
    --------
    >>> claims = pl.DataFrame({"score": [4, 3, 2, 1], "fraud": [1, 1, 0, 0]})
    >>> evaluate(claims, label="fraud", budget=2).table["precision"].to_list()
    [1.0, 0.5]
    """
    roles, budget = question.roles, check_budget(question.budget)
    scored, notes = _read_scored(question)
    if scored.is_empty():
        return Evaluation(pl.DataFrame(schema={"ranking": pl.String}), 0, 0, 0, (*notes, _QUIET))
    frame, ranked, notes = _with_outcomes(scored, question, notes)
    if question.skip_empty_labels:
        labelled, skipped = labelled_part(frame, roles)
        frame, ranked, notes = frame[labelled], ranked[labelled], (*notes, *skipped)
    if not ranked.any():
        raise NoWantedRowsError(
            "no outcome of a ranked row has come back yet, so there is nothing to measure."
        )
    facts = read_facts(frame, roles, wanted=question.wanted)
    y = facts.wanted
    if not y.any():
        raise NoWantedRowsError(f"none of the {y.size} rows is wanted, so there is nothing to find.")
    ranked_rows = int(np.bincount(facts.in_lists.of_row, ranked).max())
    if budget > ranked_rows:
        notes = (
            *notes,
            f"the budget is {budget:,}, but no more than {counted(ranked_rows, 'row')} ranked: that many count.",
        )
    budget = min(budget, ranked_rows)
    rankings = {
        name: _scores(frame, name, ranked) for name in dict.fromkeys((question.score, *question.against))
    }
    rankings[CHANCE] = np.zeros(y.size)
    rows = [
        {"ranking": name, **measures(facts, values, budget, ranked if name == question.score else None)}
        for name, values in rankings.items()
    ]
    return Evaluation(pl.DataFrame(rows, infer_schema_length=None), y.size, int(y.sum()), budget, notes)


def _with_outcomes(
    frame: pl.DataFrame, question: EvaluateQuestion, notes: tuple[str, ...]
) -> tuple[pl.DataFrame, Flags, tuple[str, ...]]:
    """The rows, which of them were ranked, and what to know: outcomes may be of rows that no shortlist has."""
    if question.outcomes is None:
        return frame, np.ones(frame.height, dtype=np.bool_), notes
    known = blanked(read_table(question.outcomes), question.missing)
    joined, others = _join(frame, known, question.id)
    roles = question.roles
    lacking = [name for name in (roles.impact, roles.list) if name is not None and name not in known.columns]
    if others.height and lacking:
        # Nobody knows what the others are worth, or in which list they would have been.
        ranked = np.ones(joined.height, dtype=np.bool_)
        return joined, ranked, (*notes, *_notes_without(others.height, lacking))
    whole = pl.concat([joined, others], how="diagonal_relaxed")
    ranked = np.arange(whole.height) < frame.height
    return whole, ranked, (*notes, *_notes_on(others.height, frame.height, question))


def _read_scored(question: EvaluateQuestion) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows with what is asked of them; other columns are left unread where a file lets them lie."""
    needed = [*question.roles.names, question.score, *question.against]
    columns = columns_of(question.scored, needed)
    plan = plan_for("evaluate", question.scored, question.memory, columns=columns)
    source = question.scored if columns is None else scan_table(question.scored).select(columns)
    return blanked(read_table(source, may_be_empty=True), question.missing), plan.notes


def _notes_without(unranked: int, lacking: list[str]) -> tuple[str, ...]:
    return (
        f"{counted(unranked, 'outcome')} not in the ranking, which recall and chance leave out: the outcomes "
        f"have no column {' and no column '.join(map(repr, lacking))}. Add it to measure against all rows.",
    )


def _notes_on(unranked: int, ranked: int, question: EvaluateQuestion) -> tuple[str, ...]:
    if unranked:
        return (
            f"{unranked:,} of {ranked + unranked:,} outcomes are of rows that are not in the ranking: they count for "
            "recall and for chance, and as last where rows are ordered.",
        )
    if ranked > question.budget:
        return ()
    return (
        "all outcomes are of rows in the ranking: which share of all rows is wanted, and so recall and what chance "
        "finds, cannot be known from them. Give outcomes of other rows too, such as random checks.",
    )


def _join(frame: pl.DataFrame, outcomes: pl.DataFrame, id: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The scored rows with their outcomes, and the other outcomes; columns that both have come from the scored rows."""
    if id is None:
        raise InvalidInputError("outcomes are joined by id; name the column: --id COLUMN")
    for name, table in (("scores", frame), ("outcomes", outcomes)):
        if id not in table.columns:
            raise SchemaError(
                f"the {name} have no column {id!r}; their columns are {', '.join(table.columns)}."
            )
    if frame[id].dtype != outcomes[id].dtype:  # one file may hold the ids as numbers, the other as text
        frame, outcomes = (table.with_columns(clean_text(table[id])) for table in (frame, outcomes))
    fresh = outcomes.select(id, *(name for name in outcomes.columns if name not in frame.columns))
    joined = frame.join(fresh, on=id, how="inner", maintain_order="left")
    if joined.height < frame.height:
        raise InvalidInputError(
            f"{frame.height - joined.height} of {frame.height} scored rows have no outcome: their ids are such as "
            f"{_first_id(frame, id, without=fresh)}, those of the outcomes such as {fresh[id][0]!r}. Leave those rows "
            "out, add their outcomes, or write ids alike."
        )
    others = outcomes.join(frame, on=id, how="anti", maintain_order="left")
    return joined, others.select(pl.selectors.by_name(*joined.columns, require_all=False))


def _first_id(frame: pl.DataFrame, id: str, *, without: pl.DataFrame) -> str:
    unmatched = frame.join(without, on=id, how="anti", maintain_order="left")
    return repr(unmatched[id][0])


def _scores(frame: pl.DataFrame, column: str, ranked: Flags) -> NDArray[np.float64]:
    """The column to rank by; rows that were not ranked and have no value come last."""
    if column not in frame.columns:
        raise SchemaError(
            f"there is no column {column!r} to rank by; the columns are {', '.join(frame.columns)}."
        )
    if not frame[column].dtype.is_numeric():
        raise SchemaError(f"column {column!r} holds no numbers, so rows cannot be ranked by it.")
    values = frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    check_score(values[ranked])
    return np.where(np.isnan(values), values[ranked].min() - 1, values)
