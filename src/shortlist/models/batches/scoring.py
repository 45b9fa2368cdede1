"""The shortlist of a table larger than memory: what ``TrainedModel.score`` gives, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.models.abilities import Floats, Scored, chances
from shortlist.models.batches.names import NamesSeen
from shortlist.models.batches.reading import new_batches
from shortlist.models.batches.sample import MOST_ROWS, EvenSample
from shortlist.models.batches.top import RunningTop
from shortlist.models.by_value import ByValue, value_of_rows
from shortlist.models.profile import Profile, drift_notes
from shortlist.models.shortlist import Shortlist, few_notes
from shortlist.rankers.base import Ranker
from shortlist.tables import Encoded, Schema, Table
from shortlist.tables.batches import row_batches
from shortlist.tables.columns.encode import Remark
from shortlist.tables.memory import BATCH_ROWS
from shortlist.tables.problems import listening
from shortlist.tables.table import RowFacts, repeated_id


class Model(Protocol):
    """What is asked of a trained model while rows go by."""

    @property
    def schema(self) -> Schema:
        """The columns it learned from."""

    @property
    def ranker(self) -> Ranker:
        """What scores rows."""

    @property
    def profile(self) -> Profile | None:
        """What was usual in training."""

    @property
    def by_value(self) -> ByValue | None:
        """How chances and values make one score."""

    def scored(self, table: Table) -> Scored:
        """What it says of each row."""

    @property
    def answer(self) -> Callable[..., Shortlist]:
        """Gives the kept rows of a table, with reasons."""


class BatchScoring:
    """The running answer: the first rows of each list, a sample of all rows, and what a user should know."""

    def __init__(self, model: Model, budget: int, sample_rows: int) -> None:
        self.model, self.roles = model, model.schema.roles
        self.top, self.sample, self.names = RunningTop(budget), EvenSample(sample_rows), NamesSeen()
        self.kept: Table | None = None
        self.remarks: tuple[Remark, ...] = ()
        self.unused: tuple[str, ...] = ()
        self.n_rows = self.gaps = 0

    def add(self, start: int, table: Table) -> None:
        """Take in a batch."""
        scored = self.model.scored(table)

        def chance_of(rows: NDArray[np.int64]) -> Floats | None:
            if scored.chance is not None:
                return scored.chance[rows]
            return chances(self.model.ranker, scored.score[rows])

        at = self.top.add(start, scored.score, chance_of, self._lists(table))
        self.kept = _gathered(self.kept, table, at)
        self._remember(start, table)

    def _lists(self, table: Table) -> pl.Series | None:
        """The list of each row, by name; None where all rows are one."""
        if self.roles.list is None:
            return None
        names = table.frame[self.roles.list]
        return names if names.dtype.is_numeric() else names.cast(pl.String)

    def _remember(self, start: int, table: Table) -> None:
        """What the user should know of the batch."""
        self.n_rows += len(table)
        self.sample.add(start, table.frame)
        remarks = table.features.remarks
        joined = zip(self.remarks, remarks, strict=True) if self.remarks else ()
        self.remarks = tuple(old.joined(new) for old, new in joined) or remarks
        self.unused = table.features.unused
        if self.roles.id is not None:
            self.names.add(table.frame[self.roles.id])
        if self.model.by_value is not None:
            self.gaps += int(np.isnan(value_of_rows(table)).sum())

    def check_names(self, again: Callable[[], Iterator[pl.Series]]) -> None:
        """Refuse a table in which two rows have one name."""
        if self.roles.id is not None and (name := self.names.repeated(again)) is not None:
            raise repeated_id(self.roles.id, name)

    def shortlist(self) -> Shortlist:
        """What was found."""
        assert self.kept is not None
        model, rows = self.model, self.top.best
        seen = self._seen()
        shifts = model.profile.shifts(seen.X, seen.schema) if model.profile else ()
        notes = [*seen.features.notes, *(drift_notes(seen, model.profile, shifts) if model.profile else ())]
        notes += model.by_value.gap_notes(self.roles.value, self.gaps) if model.by_value else ()
        known = rows["chance"].to_numpy()
        return model.answer(
            self.kept,
            np.arange(len(self.kept)),
            budget=self.top.budget,
            rank=_places(rows["list"].to_numpy()) + 1,
            scored=Scored(rows["score"].to_numpy(), known if model.by_value is not None else None),
            expected=None if np.isnan(known).any() else self.top.expected(),
            notes=notes,
            shifts=shifts,
            written=seen.frame,
            rows=rows["row"].to_numpy(),
        )

    def _seen(self) -> Table:
        """The sample, with what is to be said of all rows."""
        frame, schema = self.sample.frame, self.model.schema
        features = Encoded(schema.matrix(frame), schema, self.unused, self.remarks)
        return Table.of(RowFacts(ids=self.sample.rows + 1), frame, features)


def score_batches(
    model: Model,
    new: Any,
    budget: int,
    *,
    named: bool,
    batch_rows: int = BATCH_ROWS,
    sample_rows: int = MOST_ROWS,
    on_rows: Callable[[int], Any] = lambda n_rows: None,
) -> Shortlist | None:
    """The shortlist of new rows, read batch by batch; None where there are no rows.

    named : whether the budget was asked for, so that a list with fewer rows is told
    sample_rows : that tell of all what is usual in their columns
    on_rows : called with the number of rows that are done, after each batch
    """
    running = BatchScoring(model, budget, sample_rows)
    with running.names, listening() as told:
        for start, table in new_batches(new, model.schema, batch_rows):
            running.add(start, table)
            on_rows(running.n_rows)
        if not running.n_rows:
            return None
        running.check_names(lambda: _names(new, running.roles.id, batch_rows))
        found = running.shortlist()
    quiet = few_notes(running.top.longest, budget, in_lists=running.roles.list is not None) if named else ()
    return replace(found, notes=(*told, *found.notes, *quiet))


def _names(source: Any, column: str | None, batch_rows: int) -> Iterator[pl.Series]:
    for batch in row_batches(source, batch_rows):
        assert column is not None  # nobody asks for names again where there are none
        yield batch[column]


def _gathered(kept: Table | None, batch: Table, at: NDArray[np.int64]) -> Table:
    """The rows at some positions of what was kept and of a batch, one after the other."""
    n_before = 0 if kept is None else len(kept)
    fresh = np.flatnonzero(at >= n_before)
    some = batch.take(at[fresh] - n_before)  # the few rows of the batch that are kept
    places = at.copy()
    places[fresh] = n_before + np.arange(fresh.size)
    return some if kept is None else _joined(kept, some).take(places)


def _joined(one: Table, other: Table) -> Table:
    """The rows of both; what is known of them beside their features is their ids alone."""
    features = Encoded(np.concatenate([one.X, other.X]), one.schema)
    ids = np.concatenate([one.ids, other.ids])
    return Table(
        frame=pl.concat([one.frame, other.frame], how="vertical_relaxed"), features=features, ids=ids
    )


def _places(lists: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row stands in its list; lists lie one after the other."""
    starts = np.flatnonzero(np.diff(lists, prepend=-1))
    return np.arange(lists.size) - np.repeat(starts, np.diff(np.append(starts, lists.size)))
