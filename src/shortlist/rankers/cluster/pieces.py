"""A table in pieces that lie on several machines: what is known of each, and what they are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, SchemaError
from shortlist.rankers.base import Ranker
from shortlist.rankers.classes import is_wanted, read_classes
from shortlist.rankers.cluster.part import Part
from shortlist.tables import Roles, Schema
from shortlist.tables.columns.condense import Condensed, bring_together, condense
from shortlist.tables.columns.values import blanked, kind_in_words
from shortlist.tables.io.frames import as_polars, is_frame
from shortlist.tables.row_keys import keys_of_ids
from shortlist.validation import check_impact, check_matrix, check_sample_weight, check_some_impact

#: All columns are features, and nothing is said of them.
EVERY_COLUMN = Roles()


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows, as they were given."""

    X: Any  # a data frame, or an array of numbers
    y: Any
    groups: Any = None
    sample_weight: Any = None
    ids: Any = None


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What is known of some rows before they are numbers."""

    n_rows: int
    kinds: dict[str, str] | None  # of the columns of a data frame; None: an array
    n_columns: int
    columns: dict[str, Condensed]


def describe_columns(X: Any, roles: Roles = EVERY_COLUMN) -> ColumnFacts:
    """What is known of rows; roles say which columns hold names, and which values mean that nothing is known."""
    frame = blanked(as_polars(X), roles.missing) if is_frame(X) else None
    return ColumnFacts(
        n_rows=len(X),
        kinds=None if frame is None else {name: kind_in_words(kind) for name, kind in frame.schema.items()},
        n_columns=X.shape[1],
        columns={} if frame is None else _condensed(frame, roles),
    )


@dataclass(frozen=True, eq=False)
class PieceFacts(ColumnFacts):
    """What is known of the rows of a piece, and of what goes with them."""

    sizes: dict[str, int]  # of what goes with the rows
    outcomes: NDArray  # the different values of y, or the sum of impacts
    lists: pl.DataFrame  # their names and how many rows they have


def describe(piece: Piece, takes_impact: bool, roles: Roles = EVERY_COLUMN) -> PieceFacts:
    """What is known of a piece."""
    y = np.asarray(piece.y)
    beside = {name: given for name, given in vars(piece).items() if name != "X"}
    return PieceFacts(
        **vars(describe_columns(piece.X, roles)),
        sizes={name: len(given) for name, given in beside.items() if given is not None},
        outcomes=check_impact(y).sum(keepdims=True) if takes_impact and y.size else _different(y),
        lists=_names(piece).value_counts(name="rows"),
    )


def _condensed(frame: pl.DataFrame, roles: Roles) -> dict[str, Condensed]:
    names = roles.settled(frame.columns).category
    return {each.name: condense(each, category=each.name in names) for each in frame.iter_columns()}


def _different(values: NDArray) -> NDArray:
    if values.dtype != object:
        return np.unique(values)
    return np.array(list(dict.fromkeys(values.tolist())), dtype=object)


def _names(piece: Piece) -> pl.Series:
    """The list of each row, by name; all rows are list 0 where none is given."""
    if piece.groups is None:
        return pl.Series("list", np.zeros(len(piece.X), dtype=np.int64))
    values = np.asarray(piece.groups)
    named = pl.Series("list", values.tolist() if values.dtype == object else values)
    missing = (named.fill_nan(None) if named.dtype.is_float() else named).null_count()
    if missing:
        raise InvalidInputError(
            f"groups is missing for {missing} rows. Every row belongs to a list: fill the gaps or drop those rows."
        )
    return named


class WholeTable:
    """What all pieces are together.

    lists : each list with its rows, and the number of pieces that have some of them; None: all rows are one list, whose
        rows may lie anywhere
    """

    def __init__(self, ranker: Ranker, facts: Sequence[PieceFacts], roles: Roles = EVERY_COLUMN) -> None:
        self.facts = facts
        self.n_rows = sum(each.n_rows for each in facts)
        _check_sizes(facts)
        check_alike(facts)
        self.schema = learn_schema(facts, roles)
        self.classes = _learn_classes(ranker, facts)
        self.lists = _learn_lists(facts, ranker._splits_a_list)

    @property
    def categorical(self) -> NDArray[np.bool_]:
        """Which columns of the encoded rows are category codes."""
        return np.zeros(self.facts[0].n_columns, bool) if self.schema is None else self.schema.categorical

    def encoders(self) -> list[Encoder]:
        """What makes numbers of each piece."""
        starts = np.cumsum([0, *(each.n_rows for each in self.facts)])[:-1]
        return [Encoder(self.schema, self.classes, int(start), self.lists is not None) for start in starts]


@dataclass(frozen=True, eq=False)
class Encoder:
    """Makes numbers of the rows of a piece, and tells their place in the table."""

    schema: Schema | None
    classes: NDArray | None  # None: y is an impact
    start: int  # the number of its first row
    in_lists: bool

    def __call__(self, piece: Piece) -> Part:
        """The piece as a machine learns from it."""
        n_rows, y = len(piece.X), np.asarray(piece.y)
        known = check_impact(y, n_rows) if self.classes is None else is_wanted(y, self.classes, n_rows)
        X = check_matrix(piece.X) if self.schema is None else self.schema.matrix(piece.X)
        return Part(
            X=X.astype(np.float32, copy=False),
            y=known,
            rows=np.arange(self.start, self.start + n_rows, dtype=np.uint64),
            lists=_names(piece).to_numpy() if self.in_lists else None,
            sample_weight=check_sample_weight(piece.sample_weight, n_rows),
            keys=None if piece.ids is None else keys_of_ids(piece.ids),
        )


def _check_sizes(facts: Sequence[PieceFacts]) -> None:
    for number, each in enumerate(facts):
        for name, size in each.sizes.items():
            if size != each.n_rows:
                raise InvalidInputError(
                    f"partition {number} has {each.n_rows} rows in X and {size} in {name}; give {name} as a column "
                    "of the same table, or repartition both alike."
                )
    if not any(each.n_rows for each in facts):
        raise no_rows()


def no_rows() -> InvalidInputError:
    """What is said of a table that is empty everywhere."""
    return InvalidInputError("the table has no rows in any of its partitions; give it some.")


def learn_schema(facts: Sequence[ColumnFacts], roles: Roles = EVERY_COLUMN) -> Schema | None:
    """How all pieces are encoded; None where they are arrays."""
    if facts[0].kinds is None:
        return None
    filled = [each for each in facts if each.n_rows]
    return Schema.learn_condensed(
        {name: bring_together([each.columns[name] for each in filled]) for name in filled[0].columns}, roles
    )


def _learn_classes(ranker: Ranker, facts: Sequence[PieceFacts]) -> NDArray | None:
    outcomes = np.concatenate([each.outcomes for each in facts if each.n_rows])
    if not ranker._takes_impact:
        return read_classes(outcomes, outcomes.size)
    check_some_impact(outcomes, outcomes.size)
    return None


def _learn_lists(facts: Sequence[PieceFacts], may_be_split: bool) -> pl.DataFrame | None:
    named = [each.lists for each in facts if each.n_rows]
    lists = (
        pl.concat(named, how="vertical_relaxed")
        .group_by("list", maintain_order=True)
        .agg(pl.col("rows").sum(), pieces=pl.len())
    )
    return None if may_be_split and lists.height == 1 else lists


def check_alike(facts: Sequence[ColumnFacts]) -> None:
    """Refuse pieces whose columns differ, naming the first that does."""
    first = facts[0].kinds
    for number, each in enumerate(facts):
        if (each.kinds is None) != (first is None) or (
            each.n_columns != facts[0].n_columns and first is None
        ):
            raise SchemaError(f"partition {number} has other columns than partition 0; make them alike.")
        if first is None or each.kinds is None:
            continue
        lacking, extra = first.keys() - each.kinds.keys(), each.kinds.keys() - first.keys()
        if lacking or extra:
            name = min(lacking or extra)
            has, lacks = (0, number) if lacking else (number, 0)
            raise SchemaError(
                f"partition {has} has a column {name!r} and partition {lacks} has not; all partitions need "
                "the same columns."
            )
    _check_kinds(facts)


def _check_kinds(facts: Sequence[ColumnFacts]) -> None:
    known: dict[str, tuple[str, int]] = {}
    for number, each in enumerate(facts):
        for name, kind in (each.kinds or {}).items():
            if kind == "missing" or not each.n_rows:
                continue
            told, where = known.setdefault(name, (kind, number))
            if told != kind:
                raise SchemaError(
                    f"column {name!r} holds {told} in partition {where} and {kind} in partition {number}; "
                    "make them alike."
                )
