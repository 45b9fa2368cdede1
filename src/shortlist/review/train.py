"""A model from the verdicts of a review: the circle closes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shortlist.models.file import save
from shortlist.rankers.catalogue import default_model, make_ranker
from shortlist.review.desk.rows import Rows
from shortlist.review.errors import ReviewError
from shortlist.review.log.events import Event
from shortlist.review.log.state import verdict_of
from shortlist.tables import Encoded, Schema
from shortlist.verdicts import decided


def train_model(
    verdicts: dict[int, Event], rows: Rows, schema: Schema, path: Path, *, budget: int, seed: int
) -> Path:
    """Train the catalogue's default ranker on the verdicts in force and write it to a file.

    Unlike the ranking of the queue, which adapts the ensemble it started from, this is a model of its own: it
    scores rows of other days, and may start the next queue.
    """
    told = decided({row: verdict_of(event) for row, event in verdicts.items()})
    wanted = sum(told.values())
    if wanted == 0 or wanted == len(told):
        raise ReviewError(
            f"a model needs rows that are wanted and rows that are not; there are {wanted} and "
            f"{len(told) - wanted} so far. Review a few more."
        )
    frame = rows.features(rows.frame(list(told)))
    # So few rows are learned fastest by one thread, and the review goes on meanwhile.
    name = default_model("label", lists=False)
    ranker = make_ranker(name, budget=min(budget, len(told)), random_state=seed, n_jobs=1)
    # The schema of the whole table: the few reviewed rows do not show every category.
    ranker.fit(Encoded(schema.matrix(frame), schema), np.fromiter(told.values(), dtype=bool))
    save(ranker, path, budget=budget, verdicts=len(told), wanted=wanted)
    return path
