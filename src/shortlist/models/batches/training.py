"""A model of a table larger than memory, from rows that come batch by batch: what ``train_on`` gives of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from shortlist.exceptions import ShortlistError
from shortlist.models.batches.sample import MOST_ROWS, EvenSample
from shortlist.models.profile import Profile
from shortlist.models.trained import TrainedModel
from shortlist.models.training import learn_by_value, model_of, reporting, summary, train_on
from shortlist.question.options import Progress
from shortlist.rankers.catalogue import RankerOptions, ranker_for
from shortlist.tables import Roles, Schema, Table, load_table
from shortlist.tables.batches import in_one_order
from shortlist.tables.guard.notes import FEW_WANTED, guard_notes
from shortlist.tables.memory import BATCH_ROWS
from shortlist.tables.problems import listening
from shortlist.tables.table import RowFacts


def train_batches(
    source: Any,
    roles: Roles,
    name: str,
    options: RankerOptions,
    *,
    wanted: Any = None,
    batch_rows: int = BATCH_ROWS,
    sample_rows: int = MOST_ROWS,
    n_rows: int | None = None,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name, which makes an ``APBoost``, on rows that do not fit into memory.

    It is the model of rows in memory. What makes the history too good to be true is learned from an even sample of the
    rows; and so is what is usual in the columns, where rows are too many to be held as numbers.

    n_rows : about how many there are, where somebody knows
    on_progress : told how many rows were read, of those of all walks through the table, and then as rankers tell it
    """
    walks = _Walks(on_progress)
    with listening() as told, in_one_order(source, batch_rows, walks.add) as rows:
        walks.plan(4, walks.done or n_rows or 0)
        history = _History.read(rows, roles, wanted, batch_rows, sample_rows, walks)
        learn = history.whole if ranker_for(name, options)._learns_whole(history.n_rows) else history.by_bins
        model = learn(name, options, on_progress)
    notes = (*told, *history.schema.notes, *guarded(history.sample, history.n_rows), *model.notes)
    return replace(model, notes=notes)


@dataclass(frozen=True, eq=False)
class _History:
    """A table after the first walk through it: all is known of its rows but their features.

    sample : rows evenly spread over it
    """

    source: Any
    facts: RowFacts
    schema: Schema
    sample: Table
    batch_rows: int
    walks: _Walks

    @classmethod
    def read(
        cls, source: Any, roles: Roles, wanted: Any, batch_rows: int, sample_rows: int, walks: _Walks
    ) -> Self:
        """Walk through the rows of a table."""
        # Whoever trains other models does not wait for the kernels of these.
        from shortlist.rankers.boosting.external import read_outcomes  # noqa: PLC0415

        seen = EvenSample(sample_rows)

        def on_batch(start: int, batch: pl.DataFrame) -> None:
            seen.add(start, batch)
            walks.add(batch.height)

        facts, schema = read_outcomes(source, roles, wanted, batch_rows=batch_rows, on_batch=on_batch)
        return cls(source, facts, schema, sampled_table(seen.frame, schema, wanted), batch_rows, walks)

    @property
    def n_rows(self) -> int:
        return self.facts.wanted.size

    def whole(self, name: str, options: RankerOptions, on_progress: Progress | None) -> TrainedModel:
        """The model of rows so few that all of them fit into memory as numbers."""
        from shortlist.rankers.boosting.external import numbers_of  # noqa: PLC0415

        self.walks.plan(1, self.n_rows)
        features = numbers_of(self.source, self.schema, self.n_rows, self.batch_rows, self.walks.add)
        label = pl.DataFrame({self.schema.roles.label or "wanted": self.facts.wanted})
        return train_on(Table.of(self.facts, label, features), name, options, on_progress=on_progress)

    def by_bins(self, name: str, options: RankerOptions, on_progress: Progress | None) -> TrainedModel:
        """The model of more rows, whose bins lie on disk."""
        from shortlist.rankers.boosting.ap_boost import APBoost  # noqa: PLC0415

        self.walks.plan(3, self.n_rows)  # for cuts, and twice for bins
        sample, roles = self.sample, self.schema.roles
        ranker = ranker_for(name, options)
        assert isinstance(ranker, APBoost)  # whoever plans this asks ``learns_by_batch``
        with reporting(ranker, on_progress) as timed:
            ranker._fit_outcomes(self.source, self.facts, self.schema, self.batch_rows, self.walks.add)
        return model_of(
            ranker,
            name,
            options,
            sample=sample.features,
            profile=replace(Profile.of(sample.X, self.schema), rows=self.n_rows),
            training={**summary(self.facts, roles), **timed},
            measures={},
            notes=(),
            by_value=learn_by_value(ranker, sample, options) if roles.value is not None else None,
        )


class _Walks:
    """Tells how many rows were read, of all that will be when a table is walked through several times.

    >>> walks = _Walks(lambda done, total, value: print(done, "of", total))
    >>> walks.plan(4, 100)
    >>> walks.add(60), walks.add(50)
    60 of 400
    110 of 400
    (None, None)
    >>> walks.plan(1, 110)
    >>> walks.add(110)
    220 of 220
    """

    def __init__(self, on_progress: Progress | None) -> None:
        self.on_progress, self.done, self.total = on_progress, 0, 0

    def plan(self, walks: int, n_rows: int) -> None:
        """Walk through so many rows so often from here on."""
        self.total = self.done + walks * n_rows

    def add(self, n_rows: int) -> None:
        """So many rows more were read."""
        self.done += n_rows
        if self.on_progress is not None:
            self.on_progress(self.done, max(self.done, self.total), None)


def learns_by_batch(name: str, options: RankerOptions) -> bool:
    """Whether the catalogue's model of this name can learn from rows that do not fit into memory."""
    return hasattr(ranker_for(name, options), "fit_table")


def sampled_table(frame: pl.DataFrame, schema: Schema, wanted: Any) -> Table:
    """Some rows as a table; with their outcomes where they have some of both kinds."""
    try:
        return load_table(frame, schema.roles, schema=schema, wanted=wanted)
    except ShortlistError:  # what is wrong with more than the outcomes of a few rows is told again
        return load_table(frame, schema.roles, schema=schema, labelled=False)


def guarded(sample: Table, n_rows: int) -> tuple[str, ...]:
    """What makes the rows too good to be true, as far as the sample shows."""
    if sample.y is None or (sample.y.sum() < FEW_WANTED and len(sample) < n_rows):
        return ()
    where = "" if len(sample) == n_rows else f"of {len(sample):,} rows that were looked at: "
    return tuple(where + note for note in guard_notes(sample))
