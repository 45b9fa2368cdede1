"""Rows with their roles and features, ready for a ranker."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, SchemaError, TableError
from shortlist.lists import Lists
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.part import encode_again, learn_again
from shortlist.tables.columns.schema import Encoded, Schema
from shortlist.tables.columns.values import as_numbers, clean_text, first_misfit, is_text, most_dates
from shortlist.tables.io.read import read_table
from shortlist.tables.label import labelled_rows, wanted_rows
from shortlist.tables.roles import OUTCOMES, Roles
from shortlist.validation import check_impact


@dataclass(frozen=True, eq=False, kw_only=True)
class RowFacts:
    """What is known of each row beside its features."""

    ids: NDArray
    y: NDArray[np.bool_] | None = None  # which rows are wanted
    impact: NDArray[np.float64] | None = None
    lists: Lists | None = None  # which rows are ranked against each other; None: all rows are one list
    time: NDArray | None = None  # datetime64 or numbers

    @cached_property
    def in_lists(self) -> Lists:
        """The lists, of which there is one where none are named."""
        return Lists.single(self.ids.size) if self.lists is None else self.lists

    @cached_property
    def wanted(self) -> NDArray[np.bool_]:
        """Which rows are wanted: by label, or those with any impact where there is no label."""
        if self.y is not None:
            return self.y
        if self.impact is None:
            raise TableError(
                "nothing says which rows are wanted; name a column: --label NAME or --impact NAME"
            )
        return self.impact > 0

    @cached_property
    def worth(self) -> NDArray[np.float64] | None:
        """The impact of wanted rows, 0 for the others; None where no impact is known."""
        return None if self.impact is None else np.where(self.wanted, self.impact, 0.0)

    @property
    def for_fit(self) -> dict[str, Any]:
        """What a ranker's ``fit`` takes of the rows beside X and y, by its name there."""
        return {"groups": self.lists}

    def take(self, rows: NDArray[np.int64]) -> RowFacts:
        """What is known of some of the rows, by position."""
        return RowFacts(**self._of(rows))

    def _of(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        known = {each.name: getattr(self, each.name) for each in fields(RowFacts) if each.name != "lists"}
        taken = {name: None if facts is None else facts[rows] for name, facts in known.items()}
        return {**taken, "lists": None if self.lists is None else self.lists.part(rows)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Table(RowFacts):
    """Rows as a ranker takes them, beside the frame they come from."""

    frame: pl.DataFrame
    features: Encoded  # a ranker's X that knows its schema
    notes: tuple[str, ...] = ()  # what a user should know

    @classmethod
    def of(
        cls, facts: RowFacts, frame: pl.DataFrame, features: Encoded, notes: tuple[str, ...] = ()
    ) -> Table:
        """What is known of rows, with their features."""
        known = {each.name: getattr(facts, each.name) for each in fields(RowFacts)}
        return cls(frame=frame, features=features, notes=notes, **known)

    @property
    def X(self) -> NDArray[np.float32]:
        """The features as numbers."""
        return self.features.matrix

    @property
    def schema(self) -> Schema:
        """What the features are."""
        return self.features.schema

    @property
    def roles(self) -> Roles:
        """Which columns are not features."""
        return self.schema.roles

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Some of the rows, by position, as a table of the same schema."""
        return Table(frame=self.frame[rows], features=self.features.take(rows), **self._of(rows))

    def learned_again(self) -> Table:
        """The same rows by what they alone teach of the columns: nothing of the table they were taken from."""
        return self.under(learn_again(self.features, self.frame))

    def under(self, schema: Schema) -> Table:
        """The same rows by the schema that other rows of the same table learned again."""
        return replace(self, features=encode_again(self.features, schema))

    def __len__(self) -> int:
        return self.frame.height


def load_table(
    source: Any,
    roles: Roles,
    *,
    schema: Schema | None = None,
    wanted: Any = None,
    query: str | None = None,
    labelled: bool = True,
    skip_empty_labels: bool = False,
) -> Table:
    """Read a table and make it ready for a ranker.

    Parameters
    ----------
    source, query : as in ``read_table``
    roles : which columns are not features
    schema : the one learned in training, for new rows; None: learn it from this table
    wanted : the label of wanted rows, where it is not 1, true, yes or y
    labelled : False for new rows: label and time may be absent, and the impact too or in part; all are then None
    skip_empty_labels : leave out rows whose label is empty, with a note, where they would be refused

    Examples
    --------
    >>> frame = pl.DataFrame({"claim": ["a", "b"], "fraud": [0, 1], "amount": [3.0, 5.0]})
    >>> load_table(frame, Roles(id="claim", label="fraud")).y.sum()
    np.int64(1)
    """
    frame = read_table(source, query=query)
    rows, skipped = labelled_part(frame, roles) if skip_empty_labels else (None, ())
    frame = frame if rows is None else frame[rows]
    # Cheap checks come before features are encoded.
    facts = read_facts(frame, roles, wanted=wanted, labelled=labelled)
    if rows is not None and roles.id is None:
        facts = replace(facts, ids=rows + 1)  # as in the file
    learned = schema or Schema.learn(frame, roles)
    encoded = learned.encode(frame)
    notes = (*skipped, *(encoded.notes if schema else learned.notes))
    return Table.of(facts, frame, encoded, notes)


def labelled_part(frame: pl.DataFrame, roles: Roles) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Positions of the rows whose label is known, and how many others there are, as a note."""
    if roles.label is None:
        raise TableError(
            "rows are left out by their label (skip_empty_labels); name its column: --label NAME"
        )
    Roles(label=roles.label).check(frame.columns)
    rows = labelled_rows(frame[roles.label])
    empty = frame.height - rows.size
    says = f"{empty:,} of {frame.height:,} rows are left out: their label ({roles.label}) is empty."
    return rows, (says,) if empty else ()


def read_facts(frame: pl.DataFrame, roles: Roles, *, wanted: Any = None, labelled: bool = True) -> RowFacts:
    """What the columns with a role say of each row; arguments as in ``load_table``.

    >>> frame = pl.DataFrame({"fraud": ["yes", "no"], "amount": [3.0, 5.0]})
    >>> read_facts(frame, Roles(label="fraud", impact="amount")).y
    array([ True, False])
    """
    roles.check(frame.columns, optional=() if labelled else (*OUTCOMES, "time", "ignore"))
    if labelled and roles.label is None and roles.impact is None:
        raise TableError("say which column holds the outcome: --label NAME (in Python: Roles(label=NAME)).")
    return RowFacts(
        ids=_ids(frame, roles),
        y=wanted_rows(frame[roles.label], wanted) if labelled and roles.label else None,
        impact=_impact(frame, roles, labelled=labelled),
        lists=_lists(frame, roles),
        time=_time(frame, roles) if labelled else None,
    )


def _ids(frame: pl.DataFrame, roles: Roles) -> NDArray:
    if roles.id is None:
        return np.arange(1, frame.height + 1)
    ids = frame[roles.id]
    if ids.null_count():
        raise TableError(
            f"id column {roles.id!r} is empty in {ids.null_count()} rows; every row needs an id."
        )
    if ids.n_unique() < len(ids):
        repeated = ids.filter(ids.is_duplicated())
        raise TableError(
            f"id column {roles.id!r} names several rows alike, {repeated[0]!r} for one; make ids unique, "
            f"or train and rank with --ignore {roles.id}: rows are numbered then."
        )
    return _as_array(ids)


def _as_array(names: pl.Series) -> NDArray:
    """Names of rows or lists; words and whole numbers beyond 64 bits, which NumPy has not, as text."""
    as_text = is_text(names.dtype) or names.dtype == pl.Int128
    return (names.cast(pl.String) if as_text else names).to_numpy()


def _impact(frame: pl.DataFrame, roles: Roles, *, labelled: bool) -> NDArray[np.float64] | None:
    if roles.impact is None or (not labelled and roles.impact not in frame.columns):
        return None
    values = read_numbers(frame[roles.impact], "impact")
    missing = values.null_count()
    if missing and not labelled:
        return None
    if missing:
        raise TableError(
            f"impact column {roles.impact!r} is empty in {missing} rows; write 0 for rows that do not matter."
        )
    try:
        return check_impact(values.cast(pl.Float64).to_numpy())
    except InvalidInputError as error:
        raise TableError(f"impact column {roles.impact!r}: {error}") from None


def read_numbers(series: pl.Series, role: str) -> pl.Series:
    """A column as numbers, null where missing; ``role`` names it in the message where it holds something else."""
    if series.dtype.is_numeric():
        return series.fill_nan(None) if series.dtype.is_float() else series
    text = clean_text(series) if is_text(series.dtype) else series.cast(pl.String, strict=False)
    numbers = as_numbers(text)
    example = first_misfit(text, numbers)
    if example is not None:
        raise TableError(f"{role} column {series.name!r} must hold numbers; found {example!r}.")
    return numbers


def _lists(frame: pl.DataFrame, roles: Roles) -> Lists | None:
    """Checked and numbered here, once: all that ranks, measures or splits rows uses these."""
    if roles.list is None:
        return None
    names = frame[roles.list]
    missing = (names.fill_nan(None) if names.dtype.is_float() else names).null_count()
    if missing:
        raise TableError(
            f"list column {roles.list!r} is empty in {missing} rows. Every row belongs to a list: fill "
            "the gaps or leave those rows out."
        )
    return Lists.from_groups(_as_array(names))


def _time(frame: pl.DataFrame, roles: Roles) -> NDArray | None:
    if roles.time is None:
        return None
    series = frame[roles.time]
    if series.null_count():
        raise TableError(
            f"time column {roles.time!r} is empty in {series.null_count()} rows; fill or drop those rows."
        )
    if series.dtype.is_numeric():
        return series.to_numpy()
    try:
        return Feature(roles.time, "date").dates(series).to_numpy()
    except SchemaError:
        text = clean_text(series)
        raise TableError(
            f"time column {roles.time!r} must hold numbers, or dates written alike such as 2024-12-31; "
            f"found {first_misfit(text, most_dates(text)) or text[0]!r}."
        ) from None
