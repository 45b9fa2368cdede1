"""A small, fixed search over settings, by a cross-validated objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from shortlist.exceptions import InvalidInputError
from shortlist.objectives import AveragePrecision, Objective
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_settings import APSettings, Trained
from shortlist.rankers.boosting.ap_training import goal_of, train_folds, train_one
from shortlist.rankers.folds import deal_folds, divisible, take

#: What is tried beside the ranker as it is, where it changes the ranker's own settings.
SETTINGS: tuple[dict[str, Any], ...] = (
    {"loss": "logistic"},
    {"loss": "mix"},
    {"mix": 0.3},
    {"max_depth": (2, 4)},
    {"max_depth": (4, 8)},
    {"learning_rate": 0.05, "n_estimators": 300},
    {"min_child_weight": 1.0, "reg_lambda": 5.0},
    {"colsample_bynode": 1.0, "subsample": 0.9},
)
#: For one model, settings are compared on a sample of about this many rows.
SAMPLE_ROWS = 50_000


@dataclass(frozen=True)
class Trial:
    """A setting that was tried and its cross-validated value."""

    settings: dict[str, Any]
    value: float


def search(
    ranker: APSettings, batch: Batch, held_out: Batch | None, n_folds: int
) -> tuple[Trained, list[Trial]]:
    """Try each setting, keep the best: the out-of-fold objective decides, the earlier setting wins ties."""
    objective = ranker.tune if isinstance(ranker.tune, Objective) else AveragePrecision()
    seed = ranker.random_state if isinstance(ranker.random_state, int) else 0
    sample = batch if n_folds else _sample(batch, seed)
    goal = goal_of(objective, sample)
    trials: list[Trial] = []
    best: Trained | None = None
    tried = settings_for(ranker)
    for settings in tried:
        candidate = _with(ranker, settings, random_state=seed, callback=None)
        trained = train_folds(candidate, sample, n_folds or _folds(sample))
        assert trained.oof_score is not None  # folds leave them behind
        value = goal.value(trained.oof_score)
        if best is None or value > max(trial.value for trial in trials):
            best, chosen = trained, settings
        trials.append(Trial(settings, value))
        if ranker.callback is not None:
            ranker.callback(len(trials), len(tried), value)
    if n_folds and best is not None:
        return best, trials
    return train_one(_with(ranker, _for_one_model(chosen)), batch, held_out), trials


def settings_for(ranker: APSettings) -> list[dict[str, Any]]:
    """The changes that are tried: none first, then those that would not leave this ranker as it is."""
    return [{}, *(changes for changes in SETTINGS if _matters(ranker, changes))]


def _matters(ranker: APSettings, changes: dict[str, Any]) -> bool:
    if "mix" in changes and changes.get("loss", ranker.loss) != "mix":
        return False  # no other loss heeds it
    return any(not np.array_equal(getattr(ranker, name), value) for name, value in changes.items())


def _folds(batch: Batch) -> int:
    most = divisible(batch.y, batch.lists)
    if most < 2:
        raise InvalidInputError(
            "tuning compares settings on rows left out, and there is one wanted row (or list with one) only. "
            "Label another, or train without tune."
        )
    return min(3, most)


def _with(ranker: APSettings, settings: dict[str, Any], **more: Any) -> APSettings:
    changed = clone(ranker).set_params(**settings, **more)
    changed.schema_ = ranker.schema_
    return changed


def _for_one_model(settings: dict[str, Any]) -> dict[str, Any]:
    """Two depths were averaged in the search; one model takes the deeper one."""
    return {name: max(value) if name == "max_depth" else value for name, value in settings.items()}


def _sample(batch: Batch, seed: int) -> Batch:
    """A share of the rows with its share of the wanted ones, lists whole."""
    n_parts = min(batch.y.size // SAMPLE_ROWS, divisible(batch.y, batch.lists) // 2)
    if n_parts < 2:
        return batch
    return take(batch, deal_folds(batch.y, batch.lists, n_parts, seed) == 0)
