"""How a model is trained on a table that is read already."""

from __future__ import annotations

import datetime as dt
import hashlib
import time as clock
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist.exceptions import InvalidInputError
from shortlist.models.abilities import held_out_scores
from shortlist.models.profile import LEVELS, Profile, sample_rows
from shortlist.models.trained import TrainedModel
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker
from shortlist.rankers.catalogue import RankerOptions, find_model, ranker_for
from shortlist.tables import Table


def train_on(
    table: Table,
    name: str,
    options: RankerOptions,
    *,
    profile: Profile | None = None,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name on a table that is read already.

    ``profile``: what is usual, where it is known already or the rows of the table do not show it: a review asks for
    odd ones.
    """
    entry = find_model(name)
    ranker = ranker_for(name, options)
    target = training_target(table, entry.learns_from)
    _report_to(ranker, on_progress)
    start = clock.perf_counter()
    ranker.fit(table.features, target, **table.for_fit)
    _report_to(ranker, None)  # a trained ranker can be saved
    seconds = clock.perf_counter() - start
    sample = table.features.take(sample_rows(len(table)))
    score = ranker.decision_function(sample)
    profile = profile or Profile.of(table.X, table.schema)
    return TrainedModel(
        ranker=ranker,
        name=name,
        schema=table.schema,
        budget=options.budget,
        version=f"{dt.datetime.now(dt.UTC):%Y-%m-%d}-{_checksum(ranker, table, score)}",
        profile=replace(profile, scores=tuple(map(float, np.quantile(score, LEVELS)))),
        training={**_summary(table), "fit seconds": round(seconds, 3), "random_state": options.random_state},
        measures=_held_out_measures(ranker, table, options.budget),
        notes=table.notes,
    )


def training_target(table: Table, learns_from: str) -> NDArray:
    """What a ranker learns: wanted or not, or the impact of wanted rows."""
    if learns_from == "label":
        return table.wanted
    if table.worth is None:
        raise InvalidInputError("this model learns from impacts; name their column with --impact.")
    return table.worth


def _report_to(ranker: Ranker, on_progress: Progress | None) -> None:
    if "callback" in ranker.get_params(deep=False):
        ranker.set_params(callback=on_progress)


def _checksum(ranker: Ranker, table: Table, score: NDArray[np.float64]) -> str:
    """Eight digits that change with what the model is and says; storing the model first would cost far more."""
    digest = hashlib.sha256(f"{_settings(ranker)} {table.schema.to_dict()}".encode())
    digest.update(score.tobytes())
    return digest.hexdigest()[:8]


def _settings(ranker: Ranker) -> list[str]:
    """The ranker's parameters and those of an estimator inside; not the threads, which change no model."""
    given = ranker.get_params().items()
    plain = ((name, value) for name, value in given if not name.endswith("n_jobs"))
    return [type(ranker).__name__, *(f"{name}={_plain(value)}" for name, value in plain)]


def _plain(value: Any) -> str:
    return type(value).__name__ if hasattr(value, "get_params") else repr(value)


def _summary(table: Table) -> dict[str, Any]:
    summary: dict[str, Any] = {"rows": len(table), "wanted": int(table.wanted.sum())}
    if table.worth is not None:
        summary["impact"] = float(table.worth.sum())
    if table.lists is not None:
        summary["lists"] = len(table.lists)
    if table.time is not None:
        summary |= {"from": _moment(table.time.min()), "to": _moment(table.time.max())}
    return summary


def _moment(time: Any) -> str:
    """As people write it: no time of day where it is midnight, no fraction of a second where it is 0."""
    return str(time).removesuffix(".000000").removesuffix("T00:00:00")


def _held_out_measures(ranker: Ranker, table: Table, budget: int) -> dict[str, float]:
    """Only from scores by models that did not see the row: those of training rows flatter."""
    score = held_out_scores(ranker)
    if score is None:
        return {}
    y, groups = table.wanted, table.lists
    k = budget if groups is not None else min(budget, y.size)
    return {
        "average precision": float(metrics.average_precision(y, score, groups=groups)),
        f"precision at {k}": float(metrics.precision_at_k(y, score, k, groups=groups)),
    }
