"""A ranker on its way to the machines and back, whoever starts them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from shortlist.rankers.base import Ranker
from shortlist.rankers.cluster.pieces import WholeTable


def ready_to_train(ranker: Ranker, example: Any, table: WholeTable) -> Ranker:
    """A copy that knows its columns, by an example of the rows, and its classes, as each machine needs it."""
    ready = clone(ranker)
    known = np.empty((1, table.facts[0].n_columns)) if table.schema is None else example
    validate_data(ready, known, skip_check_array=True)
    ready.schema_ = table.schema
    ready.__dict__["sparse_"] = False
    if table.classes is not None:
        ready.classes_ = table.classes
    return ready


def clone_with_state(ranker: Ranker, *, n_jobs: int) -> Ranker:
    """A copy, learned state included, that uses so many threads; engines may hand the same object to several tasks."""
    copy = type(ranker).__new__(type(ranker))
    copy.__dict__.update(vars(ranker))
    return copy.set_params(n_jobs=n_jobs)


def take_over(ranker: Ranker, trained: Ranker) -> None:
    """What the machines learned becomes the ranker's own."""
    learned = {name: value for name, value in vars(trained).items() if name.endswith("_")}
    ranker.__dict__.update(learned)
