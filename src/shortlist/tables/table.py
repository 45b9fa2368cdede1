"""Rows with their roles and features, ready for a ranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.counts import counted
from shortlist.exceptions import InvalidInputError, TableError
from shortlist.lists import Lists
from shortlist.tables.checks import on_checks, read_chances, row_weights
from shortlist.tables.columns.dates import slash_order
from shortlist.tables.columns.part import encode_again, learn_again
from shortlist.tables.columns.schema import Encoded, Schema
from shortlist.tables.columns.times import read_times
from shortlist.tables.columns.values import blanked, is_text
from shortlist.tables.io.read import read_table
from shortlist.tables.label import labelled_rows, wanted_rows
from shortlist.tables.numbers import read_numbers
from shortlist.tables.problems import Problems, listening
from shortlist.tables.roles import OUTCOMES, Roles
from shortlist.tables.row_keys import keys_of_ids
from shortlist.tables.texts import encode_texts, learn_texts, left_open, with_texts
from shortlist.tables.totals import without_totals
from shortlist.validation import check_impact


@dataclass(frozen=True, eq=False, kw_only=True)
class RowFacts:
    """What is known of each row beside its features."""

    ids: NDArray
    keys: NDArray[np.uint64] | None = (
        None  # of ids that come from a column: they name rows wherever these lie
    )
    y: NDArray[np.bool_] | None = None  # which rows are wanted
    impact: NDArray[np.float64] | None = None
    lists: Lists | None = None  # which rows are ranked against each other; None: all rows are one list
    time: NDArray | None = None  # datetime64 or numbers
    weight: NDArray[np.float64] | None = None  # how many rows each stands for, where some are random checks

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

    @cached_property
    def drawn_lists(self) -> Lists:
        """The lists, whose rows are drawn by their ids where a column has some, and else by their places."""
        return self.in_lists if self.keys is None else replace(self.in_lists, keys=self.keys)

    @property
    def for_fit(self) -> dict[str, Any]:
        """What a ranker's ``fit`` takes of the rows beside X and y, by its name there."""
        if self.weight is None:
            return {"groups": self.drawn_lists}
        # Weights say what rows stand for, not how many were looked at: in all they count as that many.
        return {"groups": self.drawn_lists, "sample_weight": self.weight / self.weight.mean()}

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
        schema, texts = learn_texts(learn_again(self.features, self.frame), self.frame, self.wanted)
        return replace(self, features=with_texts(encode_again(self.features, schema), texts))

    def left_open(self) -> Table:
        """The same rows before anybody has decided which texts help: parts that learn again decide for themselves."""
        kinds = {feature.kind for feature in self.schema.features}
        if self.roles.ignore_text or not ("text" in kinds or self.schema.dropped):
            return self
        with listening():  # what is told of columns has been told
            schema = left_open(Schema.learn(self.frame, self.roles, texts=True))
            return replace(self, features=schema.encode(self.frame))

    def under(self, schema: Schema) -> Table:
        """The same rows by the schema that other rows of the same table learned again."""
        return replace(self, features=encode_texts(encode_again(self.features, schema), self.frame))

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
    by_parts: bool = False,
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
    by_parts : parts of the table will learn for themselves (``Table.learned_again``), also whether a text helps

    Examples
    --------
    >>> frame = pl.DataFrame({"claim": ["a", "b"], "fraud": [0, 1], "amount": [3.0, 5.0]})
    >>> load_table(frame, Roles(id="claim", label="fraud")).y.sum()
    np.int64(1)
    """
    problems = Problems()
    with listening() as told:
        frame = without_totals(
            blanked(read_table(source, query=query, may_be_empty=not labelled), roles.missing)
        )
        skips = skip_empty_labels or (labelled and roles.checked is not None)
        rows, skipped = labelled_part(frame, roles) if skips else (None, ())
        frame = frame if rows is None else frame[rows]
        # Cheap checks come before features are encoded; what is wrong with either is told at once.
        with problems.collected():
            facts = read_facts(frame, roles, wanted=wanted, labelled=labelled)
            if rows is not None and roles.id is None:
                facts = replace(facts, ids=rows + 1)  # as in the file
        with problems.collected():
            learned = schema or Schema.learn(frame, roles, texts=labelled)
            encoded = learned.encode(frame) if schema else None
        problems.check()
        if encoded is None:
            texts: dict[str, NDArray[np.float64]] = {}
            if by_parts and not roles.ignore_text:
                learned = left_open(learned)
            elif labelled:
                learned, texts = learn_texts(learned, frame, facts.wanted)
            encoded = with_texts(learned.encode(frame), texts)
    notes = (*told, *skipped, *(encoded.notes if schema else learned.notes))
    return Table.of(facts, frame, encoded, notes)


def labelled_part(frame: pl.DataFrame, roles: Roles) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Positions of the rows whose label is known, and as notes how many others there are and what is known of them."""
    if roles.label is None:
        raise TableError(
            "rows are left out by their label (skip_empty_labels); name its column: --label NAME"
        )
    Roles(label=roles.label, checked=roles.checked).check(frame.columns)
    rows = labelled_rows(frame[roles.label])
    empty = frame.height - rows.size
    says = f"{empty:,} of {frame.height:,} rows are left out: their label ({roles.label}) is empty."
    if roles.checked is not None:
        checks = on_checks(read_chances(frame[roles.checked][rows]), frame.height)
        return rows, (says, *checks) if empty else checks
    only = " If nobody looked at them, what is learned or measured holds for rows like those looked at, not for all."
    return rows, (says + only,) if empty else ()


def read_facts(frame: pl.DataFrame, roles: Roles, *, wanted: Any = None, labelled: bool = True) -> RowFacts:
    """What the columns with a role say of each row; arguments as in ``load_table``.

    >>> frame = pl.DataFrame({"fraud": ["yes", "no"], "amount": [3.0, 5.0]})
    >>> read_facts(frame, Roles(label="fraud", impact="amount")).y
    array([ True, False])
    """
    roles.check(frame.columns, optional=() if labelled else (*OUTCOMES, "time", "ignore"))
    if labelled and roles.label is None and roles.impact is None:
        raise TableError("say which column holds the outcome: --label NAME (in Python: Roles(label=NAME)).")
    read: dict[str, Callable[[], Any]] = {
        "ids": lambda: _ids(frame, roles),
        "keys": lambda: keys_of_ids(frame[roles.id]) if labelled and roles.id else None,
        "y": lambda: wanted_rows(frame[roles.label], wanted) if labelled and roles.label else None,
        "impact": lambda: _impact(frame, roles, labelled=labelled),
        "lists": lambda: _lists(frame, roles),
        "time": lambda: _time(frame, roles) if labelled else None,
        "weight": lambda: (
            row_weights(read_chances(frame[roles.checked])) if labelled and roles.checked else None
        ),
    }
    facts, problems = {}, Problems()
    for name, reading in read.items():
        with problems.collected():
            facts[name] = reading()
    problems.check()
    return RowFacts(**facts)


def _ids(frame: pl.DataFrame, roles: Roles) -> NDArray:
    if roles.id is None:
        return np.arange(1, frame.height + 1)
    ids = frame[roles.id]
    if ids.null_count():
        raise TableError(
            f"id column {roles.id!r} is empty in {counted(ids.null_count(), 'row')}; every row needs an id."
        )
    if ids.n_unique() < len(ids):
        raise repeated_id(roles.id, ids.filter(ids.is_duplicated())[0])
    return _as_array(ids)


def repeated_id(column: str, name: object) -> TableError:
    """What is wrong where two rows have one name."""
    return TableError(
        f"id column {column!r} names several rows alike, {name!r} for one; make ids unique, take another id "
        "column, or none (for a model: when it is trained). Without one, rows are numbered."
    )


def _as_array(names: pl.Series) -> NDArray:
    """Names of rows or lists; words and whole numbers beyond 64 bits, which NumPy has not, as text."""
    as_text = is_text(names.dtype) or names.dtype == pl.Int128
    return (names.cast(pl.String) if as_text else names).to_numpy()


def _impact(frame: pl.DataFrame, roles: Roles, *, labelled: bool) -> NDArray[np.float64] | None:
    if roles.impact is None or (not labelled and roles.impact not in frame.columns):
        return None
    role = "value" if roles.impact_known else "impact"
    values = read_numbers(frame[roles.impact], role)
    missing = values.null_count()
    if missing and labelled:
        raise TableError(
            f"{role} column {roles.impact!r} is empty in {counted(missing, 'row')}; write 0 where none matters."
        )
    known = values.cast(pl.Float64).fill_null(0.0).to_numpy()
    if (known < 0).any():
        row = int(np.argmax(known < 0))
        raise TableError(
            f"{role} column {roles.impact!r} must not be negative; row {row + 1:,} has {known[row]:g}. Write 0 where a "
            "row does not matter."
        )
    infinite = np.isinf(known)
    if infinite.any():
        raise TableError(
            f"{role} column {roles.impact!r} is infinite in {counted(int(infinite.sum()), 'row')}, the first of them "
            f"row {int(np.argmax(infinite)) + 1:,}; replace these by a number, or write 0 where none matters."
        )
    try:
        check_impact(known, name=role)
    except InvalidInputError as error:
        raise TableError(f"{role} column {roles.impact!r}: {error}") from None
    return None if missing else known


def _lists(frame: pl.DataFrame, roles: Roles) -> Lists | None:
    """Checked and numbered here, once: all that ranks, measures or splits rows uses these."""
    if roles.list is None:
        return None
    names = frame[roles.list]
    missing = (names.fill_nan(None) if names.dtype.is_float() else names).null_count()
    if missing:
        raise TableError(
            f"list column {roles.list!r} is empty in {counted(missing, 'row')}. Every row belongs to a list: fill "
            "the gaps or leave those rows out."
        )
    return Lists.from_groups(_as_array(names))


def _time(frame: pl.DataFrame, roles: Roles) -> NDArray | None:
    if roles.time is None:
        return None
    moments = read_times(frame[roles.time], slash_order(frame.iter_columns()))
    if moments.null_count():
        raise TableError(
            f"time column {roles.time!r} is empty in {counted(moments.null_count(), 'row')}; fill or drop those rows."
        )
    return moments.to_numpy()
