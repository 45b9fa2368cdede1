"""Save an active ranker in the middle of its stream, and go on from the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.stream.columns import StreamColumns
from shortlist.stream.drift import DriftAlarm
from shortlist.stream.state import StateFileError, read_state, write_state
from shortlist.stream.window import OpenWindow
from shortlist.tables import Schema

if TYPE_CHECKING:
    from shortlist.stream.active_ranker import ActiveRanker

_PLAIN = ("n_rows_", "n_windows_", "labels_asked_", "log_decay_", "alarms_")


def save(ranker: ActiveRanker, path: Path) -> None:
    """Write the ranker's state to a file, replacing it in one step."""
    write_state(path, to_state(ranker))


def load(cls: type[ActiveRanker], path: Path) -> ActiveRanker:
    """The ranker whose state is in the file."""
    return from_state(cls, read_state(path))


def to_state(ranker: ActiveRanker) -> dict[str, Any]:
    """Parameters and everything learned, as a tree of arrays and plain values."""
    parameters = ranker.get_params()
    if not isinstance(parameters["random_state"], int | None):
        # The generator's state is kept below; what it was made from is not needed to go on.
        parameters["random_state"] = None
    state: dict[str, Any] = {"parameters": parameters, "started": hasattr(ranker, "plan_")}
    if not state["started"]:
        return state
    return state | {
        "plain": {name: getattr(ranker, name) for name in _PLAIN},
        "precisions": [list(each) for each in ranker.precisions_],
        "n_features_in": ranker.n_features_in_,
        "feature_names_in": [str(name) for name in getattr(ranker, "feature_names_in_", [])],
        "schema": None if ranker.schema_ is None else ranker.schema_.to_dict(),
        "rng": ranker.rng_.bit_generator.state,
        "columns": ranker.columns_.state(),
        "learner": ranker.learner_.state(),
        "learner_seed": ranker.seed_,
        "drift": ranker.drift_.state(),
        "open": [window.state() for window in ranker.open_.values()],
    }


def from_state(cls: type[ActiveRanker], state: dict[str, Any]) -> ActiveRanker:
    """The ranker that ``to_state`` was given."""
    try:
        ranker = cls(**state["parameters"])
        return _restored(ranker, state) if state["started"] else ranker
    except (KeyError, TypeError, InvalidInputError) as error:
        raise StateFileError(f"the state lacks or misnames a part ({error}); start a new stream.") from None


def _restored(ranker: ActiveRanker, state: dict[str, Any]) -> ActiveRanker:
    ranker._start(state["columns"]["categorical"], seed=state["learner_seed"])
    ranker.rng_ = np.random.default_rng()
    ranker.rng_.bit_generator.state = state["rng"]
    ranker.columns_ = StreamColumns.from_state(state["columns"])
    ranker.learner_.restore(state["learner"])
    ranker.drift_ = DriftAlarm.from_state(state["drift"])
    ranker.open_ = {window["number"]: OpenWindow(**window) for window in state["open"]}
    ranker.precisions_ = [(window, precision) for window, precision in state["precisions"]]
    for name, value in state["plain"].items():
        setattr(ranker, name, value)
    ranker.schema_ = None if state["schema"] is None else Schema.from_dict(state["schema"])
    ranker.n_features_in_ = state["n_features_in"]
    if state["feature_names_in"]:
        ranker.feature_names_in_ = np.array(state["feature_names_in"], dtype=object)
    return ranker
