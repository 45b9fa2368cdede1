"""A model of a table larger than memory, from rows that come batch by batch: what ``train_on`` gives of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shortlist.exceptions import ShortlistError
from shortlist.models.batches.sample import MOST_ROWS, EvenSample
from shortlist.models.profile import Profile
from shortlist.models.trained import TrainedModel
from shortlist.models.training import learn_by_value, model_of, reporting, summary
from shortlist.question.options import Progress
from shortlist.rankers.catalogue import RankerOptions, ranker_for
from shortlist.tables import Roles, Schema, Table, load_table, read_batches
from shortlist.tables.guard.notes import FEW_WANTED, guard_notes
from shortlist.tables.memory import BATCH_ROWS
from shortlist.tables.problems import listening


def train_batches(
    source: Any,
    roles: Roles,
    name: str,
    options: RankerOptions,
    *,
    wanted: Any = None,
    batch_rows: int = BATCH_ROWS,
    sample_rows: int = MOST_ROWS,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name, which makes an ``APBoost``, on rows that do not fit into memory.

    It is the model of rows in memory where those are too many for folds. What is usual in the columns, and what
    makes the history too good to be true, is learned from an even sample of the rows.
    """
    # Whoever trains other models does not wait for the kernels of these.
    from shortlist.rankers.boosting.ap_boost import APBoost  # noqa: PLC0415
    from shortlist.rankers.boosting.external import read_outcomes  # noqa: PLC0415

    ranker = ranker_for(name, options)
    assert isinstance(ranker, APBoost)  # whoever plans this asks ``learns_by_batch``
    with listening() as told:
        facts, schema = read_outcomes(source, roles, wanted, batch_rows=batch_rows)
        sample = _sample(source, schema, wanted, batch_rows, sample_rows)
        with reporting(ranker, on_progress) as timed:
            ranker.set_params(folds=0)._fit_outcomes(source, facts, schema, batch_rows)
    profile = replace(Profile.of(sample.X, schema), rows=facts.wanted.size)
    return model_of(
        ranker,
        name,
        options,
        sample=sample.features,
        profile=profile,
        training={**summary(facts, roles), **timed},
        measures={},
        notes=(*told, *schema.notes, *guarded(sample, facts.wanted.size), *as_one_model(facts.wanted.size)),
        by_value=learn_by_value(ranker, sample, options) if roles.value is not None else None,
    )


def learns_by_batch(name: str, options: RankerOptions) -> bool:
    """Whether the catalogue's model of this name can learn from rows that do not fit into memory."""
    return hasattr(ranker_for(name, options), "fit_table")


def _sample(source: Any, schema: Schema, wanted: Any, batch_rows: int, sample_rows: int) -> Table:
    """Rows evenly spread over the table, as a table."""
    sample, start = EvenSample(sample_rows), 0
    for batch in read_batches(source, batch_rows=batch_rows):
        sample.add(start, batch, np.empty((batch.height, 0), dtype=np.float32))
        start += batch.height
    return sampled_table(sample.frame, schema, wanted)


def sampled_table(frame: pl.DataFrame, schema: Schema, wanted: Any) -> Table:
    """Some rows as a table; with their outcomes where they have some of both kinds."""
    try:
        return load_table(frame, schema.roles, schema=schema, wanted=wanted)
    except ShortlistError:  # what is wrong with more than the outcomes of a few rows is told again
        return load_table(frame, schema.roles, schema=schema, labelled=False)


def as_one_model(n_rows: int) -> tuple[str, ...]:
    """What rows on disk or on several machines are learned as, where they are so few that it makes a difference."""
    from shortlist.rankers.boosting.ap_training import are_few  # noqa: PLC0415

    if not are_few(n_rows):
        return ()
    return (
        f"these {n_rows:,} rows were learned as one model, as rows on disk or on several machines are. So few rank "
        "better, as a rule, by the mean of several models: train them in the memory of one machine if they fit.",
    )


def guarded(sample: Table, n_rows: int) -> tuple[str, ...]:
    """What makes the rows too good to be true, as far as the sample shows."""
    if sample.y is None or (sample.y.sum() < FEW_WANTED and len(sample) < n_rows):
        return ()
    where = "" if len(sample) == n_rows else f"of {len(sample):,} rows that were looked at: "
    return tuple(where + note for note in guard_notes(sample))
