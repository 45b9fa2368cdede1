"""The columns learned in training: how a table becomes numbers, and whether a new table fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.exceptions import SchemaError, TableError
from shortlist.tables.columns.condense import Condensed, condense, joined
from shortlist.tables.columns.dates import slash_order, with_slashes
from shortlist.tables.columns.encode import Remark, encode_columns
from shortlist.tables.columns.feature import Feature
from shortlist.tables.columns.learn import learn_feature
from shortlist.tables.columns.values import blanked, is_text
from shortlist.tables.columns.words import in_words, listed
from shortlist.tables.io.frames import as_polars
from shortlist.tables.problems import Problems, listening
from shortlist.tables.roles import Roles, did_you_mean

_VERSION = 1


@dataclass(frozen=True)
class Schema:
    """The features of a table, in the order of its columns.

    ``encode`` gives float32 rows with NaN for missing: numbers as they are, flags as 0 / 1, categories as
    codes 0, 1, ... (NaN for a category that training did not have), dates as days since 1970, month, weekday
    and, where times of day differ, hour.

    >>> frame = pl.DataFrame({"amount": [9.5, None], "make": ["Fiat", "Audi"]})
    >>> Schema.learn(frame).encode(frame).matrix.tolist()
    [[9.5, 1.0], [nan, 0.0]]
    """

    features: tuple[Feature, ...]
    roles: Roles = field(default_factory=Roles)
    #: Columns without any value in training: known, and not used.
    dropped: tuple[str, ...] = ()
    #: What a user should know of the training table.
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def learn(cls, frame: Any, roles: Roles | None = None, *, texts: bool = False) -> Schema:
        """Learn the schema of a data frame (pandas, polars, pyarrow, ...).

        texts : whether free text is a feature; its weights are learned later, from the rows that are wanted
        """
        table = as_polars(frame)
        if table.is_empty() and table.columns:
            raise TableError("the table has no rows; give one with at least one row to learn from.")
        roles = roles or Roles()
        table = blanked(table, roles.missing)
        return cls._of_columns(
            table.columns, table.get_column, roles, slash_order(table.iter_columns()), texts
        )

    @classmethod
    def learn_by_batch(cls, batches: Iterable[pl.DataFrame], names: list[str], roles: Roles) -> Schema:
        """Learn the schema of a table larger than memory from its rows, some at a time; ``names`` are all columns.

        >>> frame = pl.DataFrame({"amount": [9.5, None], "make": ["Fiat", "Audi"]})
        >>> Schema.learn_by_batch(frame.iter_slices(1), frame.columns, Roles()) == Schema.learn(frame)
        True
        """
        roles.check(names)
        settled = roles.settled(names)
        columns: dict[str, Condensed] = {}
        for batch in batches:
            for series in blanked(batch, roles.missing).iter_columns():
                hidden = series.name in settled.hidden
                if hidden and not is_text(series.dtype):
                    continue
                # In memory hidden columns, too, are asked for the order of day and month.
                fresh = condense(
                    with_slashes(series) if hidden else series, category=series.name in settled.category
                )
                columns[series.name] = joined(columns.get(series.name), fresh)
        if not columns and names:
            raise TableError("the table has no rows; give one with at least one row to learn from.")
        order = slash_order(column.values for column in columns.values())
        return cls._of_columns(names, columns.__getitem__, roles, order)

    @classmethod
    def learn_condensed(cls, columns: Mapping[str, Condensed], roles: Roles | None = None) -> Schema:
        """Learn the schema of a table in parts, from its columns as ``condense`` and ``bring_together`` made them.

        >>> from shortlist.tables.columns.condense import condense
        >>> Schema.learn_condensed({"make": condense(pl.Series("make", ["Fiat", "Fiat"]))}).kinds
        ('category',)
        """
        order = slash_order(column.values for column in columns.values())
        return cls._of_columns([*columns], columns.__getitem__, roles or Roles(), order)

    @classmethod
    def _of_columns(
        cls,
        names: list[str],
        read: Callable[[str], pl.Series | Condensed],
        roles: Roles,
        order: str | None,
        texts: bool = False,
    ) -> Schema:
        roles.check(names)
        roles = roles.settled(names)
        learned: dict[str, Feature | None] = {}
        problems = Problems()
        with listening() as notes:
            for name in names:
                if name not in roles.hidden:
                    with problems.collected():
                        given = read(name)
                        column = given if isinstance(given, Condensed) else Condensed(given)
                        learned[name] = learn_feature(
                            column.values,
                            rows=column.rows,
                            more_rows=column.more_rows,
                            order=order,
                            category=column.named or name in roles.category,
                            texts=texts,
                        )
        problems.check()
        return cls.of_features(learned, roles, names, notes)

    @classmethod
    def of_features(
        cls, learned: dict[str, Feature | None], roles: Roles, names: list[str], told: Sequence[str] = ()
    ) -> Schema:
        """What was learned of each column that may be a feature, None where it is empty; ``names`` are all columns."""
        features = tuple(feature for feature in learned.values() if feature)
        dropped = tuple(name for name, feature in learned.items() if not feature)
        if not features:
            raise TableError("the table has no column to learn from; give it one beside " + listed(names))
        notes = [f"column {name!r} has no values and is not used." for name in dropped]
        return cls(features, roles, dropped, (*notes, *told))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the matrix."""
        return tuple(column for feature in self.features for column in feature.columns)

    @cached_property
    def feature_of_column(self) -> tuple[Feature, ...]:
        """The feature that each column of the matrix comes from."""
        return tuple(feature for feature in self.features for _ in feature.columns)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of feature that each column of the matrix comes from."""
        return tuple(feature.kind for feature in self.feature_of_column)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """What each column of the matrix holds: its kind, or a part of a date."""
        return tuple(part for feature in self.features for part in feature.parts)

    @cached_property
    def categorical(self) -> NDArray[np.bool_]:
        """Which columns of the matrix are category codes."""
        return np.array([kind == "category" for kind in self.kinds], dtype=bool)

    def label(self, column: int) -> str:
        """What people call a column of the matrix; the days of a date are the date itself."""
        name, part = self.columns[column], self.parts[column]
        return self.feature_of_column[column].name if part == "days" else name

    def value_text(self, column: int, value: float) -> str:
        """A value of the matrix in the words of the table: a category by name, a flag as true or false, a date.

        >>> Schema.learn(pl.DataFrame({"amount": [1.5, 20_000.0]})).value_text(0, 12_345.6)
        '12,345.6'
        """
        if np.isnan(value):
            return "missing"
        return in_words(self.feature_of_column[column], self.parts[column], value)

    def encode(self, frame: Any) -> Encoded:
        """The rows of a data frame as numbers, and what a user should know of them, in one pass.

        Raises SchemaError where they do not fit.
        """
        table = blanked(as_polars(frame), self.roles.missing)
        self._check_columns(table.columns)
        matrix, remarks = encode_columns(self.features, table)
        known = {*self.roles.names, *self.dropped, *(feature.name for feature in self.features)}
        extra = [name for name in table.columns if name not in known]
        unused = (f"columns that training did not have are not used: {listed(extra)}.",) if extra else ()
        return Encoded(matrix, self, unused, remarks)

    def matrix(self, frame: Any) -> NDArray[np.float32]:
        """The numbers of ``encode`` alone."""
        return self.encode(frame).matrix

    def without_words(self, words: Mapping[str, Iterable[str]]) -> Schema:
        """The same schema, in which some categories, by column, have no name any more; their codes stay.

        Notes go, too: they may quote a value.

        >>> schema = Schema.learn(pl.DataFrame({"shop": ["North", "South"]}))
        >>> schema.without_words({"shop": ["North"]}).features[0].categories
        ('erased 0', 'South')
        """
        left = (each.without_words([*words.get(each.name, ())]) for each in self.features)
        return replace(self, features=tuple(left), notes=())

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain values for JSON."""
        return {
            "version": _VERSION,
            "features": [feature.to_dict() for feature in self.features],
            "roles": self.roles.to_dict(),
            "dropped": [*self.dropped],
            "notes": [*self.notes],
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Schema:
        """The schema that ``to_dict`` stored."""
        if stored.get("version") != _VERSION:
            raise SchemaError(
                f"the stored schema has version {stored.get('version')!r} and this Shortlist reads version "
                f"{_VERSION}; update Shortlist, or train anew."
            )
        features = tuple(Feature.from_dict(each) for each in stored["features"])
        return cls(
            features, Roles.from_dict(stored["roles"]), tuple(stored["dropped"]), tuple(stored["notes"])
        )

    def _check_columns(self, columns: list[str]) -> None:
        missing = [feature.name for feature in self.features if feature.name not in columns]
        if missing:
            raise SchemaError(
                f"the table lacks columns that training had: {listed(missing)}."
                f"{did_you_mean(missing[0], columns)} Add them (empty where unknown), or train "
                "without them."
            )


@dataclass(frozen=True, eq=False)
class Encoded:
    """Rows that are encoded already: a ranker takes them as X without learning a schema of its own."""

    matrix: NDArray[np.float32]
    schema: Schema
    #: What a user should know of the rows beside what training had: of the table, and of its columns.
    unused: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """The same in words."""
        return (*self.unused, *(note for remark in self.remarks for note in remark.notes))

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns of the matrix."""
        return self.matrix.shape

    def take(self, rows: NDArray | slice) -> Encoded:
        """Some of the rows, by position, mask or slice."""
        return Encoded(self.matrix[rows], self.schema)
