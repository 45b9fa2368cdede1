"""What an active ranker has learned, as a tree of arrays and plain values, and the ranker that goes on from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shortlist.stream.columns import StreamColumns
from shortlist.stream.drift import DriftAlarm
from shortlist.stream.window import OpenWindow
from shortlist.tables import Schema

#: What is kept as it is.
_COUNTS = ("n_rows_", "n_windows_", "labels_asked_", "log_decay_", "alarms_")
#: The number of the first window; states that do not say were written when it was 0.
_FIRST_WINDOW = 1


def state_of(ranker: Any) -> dict[str, Any]:
    """Its parameters and everything it has learned."""
    parameters = ranker.get_params()
    if not isinstance(parameters["random_state"], int | None):
        # The generator's state is kept below; what it was made from is not needed to go on.
        parameters["random_state"] = None
    state: dict[str, Any] = {"parameters": parameters, "started": hasattr(ranker, "plan_")}
    if not state["started"]:
        return state
    return state | {
        "plain": {name: getattr(ranker, name) for name in _COUNTS},
        "first_window": _FIRST_WINDOW,
        "precisions": [*ranker.precisions_],
        "n_features_in": ranker.n_features_in_,
        "feature_names_in": [str(name) for name in getattr(ranker, "feature_names_in_", [])],
        "classes": ranker.classes_.tolist() if hasattr(ranker, "classes_") else None,
        "schema": None if ranker.schema_ is None else ranker.schema_.to_dict(),
        "rng": ranker.rng_.bit_generator.state,
        "columns": ranker.columns_.state(),
        "learner": ranker.learner_.state(),
        "learner_seed": ranker.seed_,
        "doubts": ranker.plan_.doubts,
        "drift": ranker.drift_.state(),
        "open": [window.state() for window in ranker.open_.values()],
    }


def restore(ranker: Any, state: dict[str, Any]) -> None:
    """Make a ranker that has these parameters the one whose ``state_of`` this is."""
    ranker._start(state["columns"]["categorical"], seed=state["learner_seed"])
    # A state of before this was asked has no answer, and goes on without doubts, as it began.
    ranker.plan_ = replace(ranker.plan_, doubts=state.get("doubts", False))
    ranker.rng_ = np.random.default_rng()
    ranker.rng_.bit_generator.state = state["rng"]
    ranker.columns_ = StreamColumns.from_state(state["columns"])
    ranker.learner_.restore(state["learner"])
    ranker.drift_ = DriftAlarm.from_state(state["drift"])
    for name, value in state["plain"].items():
        setattr(ranker, name, value)
    later = _FIRST_WINDOW - state.get("first_window", 0)
    windows = [OpenWindow(**{**each, "number": each["number"] + later}) for each in state["open"]]
    ranker.open_ = {window.number: window for window in windows}
    ranker.precisions_ = [(window + later, precision) for window, precision in state["precisions"]]
    ranker.alarms_ = [window + later for window in ranker.alarms_]
    ranker.schema_ = None if state["schema"] is None else Schema.from_dict(state["schema"])
    ranker.n_features_in_ = state["n_features_in"]
    if state.get("classes") is not None:  # states of before do not say
        ranker.classes_ = np.array(state["classes"])
    if state["feature_names_in"]:
        ranker.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
