"""A model from the verdicts of a review: the circle closes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from shortlist.languages.words import Message
from shortlist.models.profile import Profile, sample_rows
from shortlist.models.training import train_on
from shortlist.rankers.catalogue import RankerOptions, default_model
from shortlist.review.desk.rows import Rows
from shortlist.review.errors import ReviewError
from shortlist.review.log.events import Event
from shortlist.review.log.state import verdict_of
from shortlist.tables import Roles, Schema, Table
from shortlist.tables.row_keys import keys_of_ids
from shortlist.tables.table import read_facts
from shortlist.verdicts import decided


def train_model(
    verdicts: dict[int, Event], rows: Rows, schema: Schema, path: Path, *, budget: int | None, seed: int
) -> Path:
    """Train the catalogue's default ranker on the verdicts in force and write it to a file.

    Unlike the ranking of the queue, which adapts the ensemble it started from, this is a model of its own: it
    scores rows of other days, and may start the next queue.

    Parameters
    ----------
    schema : that of the whole table; the few reviewed rows do not show every category
    budget : how many rows will be looked at; None: as many as taught it
    """
    table = _reviewed_table(verdicts, rows, schema)
    # So few rows are learned fastest by one thread, and the review goes on meanwhile.
    options = RankerOptions(budget or len(table), seed, n_jobs=1)
    usual = Profile.of(table.schema.matrix(rows.frame(sample_rows(len(rows)).tolist())), table.schema)
    model = train_on(table, default_model("label", lists=False), options, profile=usual)
    # Verdicts have no column, so no column has the role of the label: the file tells where they come from.
    replace(model, training={"labels": "verdicts of a review", **model.training}).save(path)
    return path


def _reviewed_table(verdicts: dict[int, Event], rows: Rows, schema: Schema) -> Table:
    """The rows that reviewers were sure of, in the order of their verdicts; nothing is learned from erased ones."""
    told = decided({row: verdict_of(event) for row, event in verdicts.items() if row not in rows.erased})
    wanted = sum(told.values())
    if wanted == 0 or wanted == len(told):
        raise ReviewError(
            Message(
                "a model needs rows that are wanted and rows that are not; there are %(wanted)s and %(others)s so far. "
                "Review a few more.",
                wanted=wanted,
                others=len(told) - wanted,
            )
        )
    frame, roles = rows.frame(list(told)), _roles(rows.roles, schema)
    facts = replace(
        read_facts(frame, roles, labelled=False),
        y=np.fromiter(told.values(), dtype=bool, count=len(told)),
        keys=None if roles.id is None else keys_of_ids(frame[roles.id]),
    )
    known = replace(schema, roles=roles)
    return Table.of(facts, frame, known.encode(frame), known.notes)


def _roles(own: Roles, schema: Schema) -> Roles:
    """The roles of the queue; what the model that it started from did not learn from is left out again."""
    left_out = [name for name in schema.roles.hidden if name not in own.names]
    return replace(own, ignore=(*own.ignore, *left_out))
