"""How a model is trained on a table that is read already."""

from __future__ import annotations

import datetime as dt
import hashlib
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import metrics
from shortlist._version import __version__
from shortlist.exceptions import InvalidInputError
from shortlist.models.abilities import held_out_scores
from shortlist.models.by_value import ByValue, value_of_rows
from shortlist.models.file import installed_libraries
from shortlist.models.profile import LEVELS, Profile, sample_rows
from shortlist.models.trained import TrainedModel
from shortlist.question.options import Progress
from shortlist.rankers.base import Ranker
from shortlist.rankers.catalogue import Model, RankerOptions, find_model, ranker_for
from shortlist.tables import Encoded, Roles, Schema, Table
from shortlist.tables.guard.notes import too_good
from shortlist.tables.table import RowFacts


def train_on(
    table: Table,
    name: str,
    options: RankerOptions,
    *,
    entry: Model | None = None,
    profile: Profile | None = None,
    on_progress: Progress | None = None,
) -> TrainedModel:
    """Train the catalogue's model of this name on a table that is read already; or that of ``entry``, under this name.

    ``profile``: what is usual, where it is known already or the rows of the table do not show it: a review asks for
    odd ones.
    """
    entry = entry or find_model(name)
    ranker = ranker_for(name, options, entry)
    target = training_target(table, entry.learns_from)
    with reporting(ranker, on_progress) as timed:
        ranker.fit(table.features, target, **table.for_fit)
    profile = profile or Profile.of(table.X, table.schema)
    ranks_by_value = table.roles.value is not None and entry.learns_from == "label"
    by_value = learn_by_value(ranker, table, options) if ranks_by_value else None
    measures = _held_out_measures(ranker, table, options.budget, by_value)
    return model_of(
        ranker,
        name,
        options,
        sample=table.features.take(sample_rows(len(table))),
        profile=profile,
        training={**summary(table, table.roles), **timed},
        measures=measures,
        notes=(*table.notes, *_too_good(name, table, measures)),
        by_value=by_value,
    )


def model_of(
    ranker: Ranker,
    name: str,
    options: RankerOptions,
    *,
    sample: Encoded,
    profile: Profile,
    training: dict[str, Any],
    measures: dict[str, float],
    notes: tuple[str, ...],
    by_value: ByValue | None,
) -> TrainedModel:
    """A model of a ranker that is trained, with all that is known of its training and a sample of its rows."""
    score = ranker.decision_function(sample)
    digits = _checksum(ranker, sample.schema, score, (profile, by_value))
    return TrainedModel(
        ranker=ranker,
        name=name,
        schema=sample.schema,
        budget=options.budget,
        version=f"{dt.datetime.now(dt.UTC):%Y-%m-%d}-{digits}",
        profile=replace(profile, scores=tuple(map(float, np.quantile(score, LEVELS)))),
        training={**training, "random_state": options.random_state},
        measures=measures,
        notes=notes,
        libraries={"shortlist": __version__, **installed_libraries()},
        by_value=by_value,
    )


@contextmanager
def reporting(ranker: Ranker, on_progress: Progress | None) -> Iterator[dict[str, float]]:
    """While it trains, the ranker tells how far it is; afterwards the seconds that it took are known."""
    timed: dict[str, float] = {}
    _report_to(ranker, on_progress)
    start = clock.perf_counter()
    yield timed
    timed["fit seconds"] = round(clock.perf_counter() - start, 3)
    _report_to(ranker, None)  # a trained ranker can be saved


def learn_by_value(ranker: Ranker, table: Table, options: RankerOptions) -> ByValue:
    """How chances and values make one score, by the rows of a table."""
    return ByValue.learn(
        ranker,
        table,
        power=options.value_power,
        least_chance=options.least_chance,
        random_state=options.random_state,
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


def _checksum(
    ranker: Ranker, schema: Schema, score: NDArray[np.float64], beside: tuple[Profile, ByValue | None]
) -> str:
    """Eight digits that change with what the model is and says; storing the model first would cost far more."""
    profile, by_value = beside
    told = [profile.to_dict(), None if by_value is None else by_value.to_dict()]
    digest = hashlib.sha256(f"{_settings(ranker)} {schema.to_dict()} {told}".encode())
    digest.update(score.tobytes())
    return digest.hexdigest()[:8]


def _settings(ranker: Ranker) -> list[str]:
    """The ranker's parameters and those of an estimator inside; not the threads, which change no model."""
    given = ranker.get_params().items()
    plain = ((name, value) for name, value in given if not name.endswith("n_jobs"))
    return [type(ranker).__name__, *(f"{name}={_plain(value)}" for name, value in plain)]


def _plain(value: Any) -> str:
    return type(value).__name__ if hasattr(value, "get_params") else repr(value)


def summary(facts: RowFacts, roles: Roles) -> dict[str, Any]:
    """What is told of the rows that a model learned from."""
    told: dict[str, Any] = {"rows": facts.wanted.size, "wanted": int(facts.wanted.sum())}
    if facts.worth is not None:
        told["impact" if roles.value is None else "value"] = float(facts.worth.sum())
    if facts.lists is not None:
        told["lists"] = len(facts.lists)
    if facts.time is not None:
        told |= {"from": _moment(facts.time.min()), "to": _moment(facts.time.max())}
    return told


def _moment(time: Any) -> str:
    """As people write it: no time of day where it is midnight, no fraction of a second where it is 0."""
    return str(time).removesuffix(".000000").removesuffix("T00:00:00")


def _too_good(name: str, table: Table, measures: dict[str, float]) -> tuple[str, ...]:
    """A caution where every wanted row was ranked before all others, by models that did not see it."""
    wanted = int(table.wanted.sum())
    return too_good(name, wanted, wanted) if measures.get("average precision", 0.0) > 1 - 1e-9 else ()


def _held_out_measures(
    ranker: Ranker, table: Table, budget: int, by_value: ByValue | None
) -> dict[str, float]:
    """Only from scores by models that did not see the row: those of training rows flatter."""
    score = held_out_scores(ranker)
    if score is None:
        return {}
    y, groups = table.wanted, table.lists
    k = budget if groups is not None else min(budget, y.size)
    if table.weight is not None:  # of all rows only their order can be told, not what a budget would find
        return _weighed_precision(table, score)
    measures = {"average precision": metrics.average_precision(y, score, groups=groups)}
    if by_value is not None:
        score = by_value.score(by_value.chance(ranker, score), value_of_rows(table))
        measures |= _value_saved(table, score, k)
    measures[f"precision at {k}"] = metrics.precision_at_k(y, score, k, groups=groups)
    return {name: float(value) for name, value in measures.items()}


def _weighed_precision(table: Table, score: NDArray[np.float64]) -> dict[str, float]:
    """Average precision with each row counted as often as it stands for others; in one list only."""
    if table.lists is not None:
        return {}
    known = metrics.average_precision(table.wanted, score, sample_weight=table.weight)
    return {"average precision": float(known)}


def _value_saved(table: Table, score: NDArray[np.float64], k: int) -> dict[str, float]:
    """What the budget finds, as a share of what the best order would; nothing where nothing is worth anything."""
    if table.worth is None or not table.worth.any():
        return {}
    saved = metrics.cost_saved_at_k(table.worth, score, k, groups=table.lists, act="top-k")
    return {f"share of the best value at {k}": saved}
