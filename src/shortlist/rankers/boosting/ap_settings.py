"""The parameters of ``APBoost``: checked, and as numbers to train with."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.objectives import Objective
from shortlist.question.options import Progress
from shortlist.rankers.base import Batch
from shortlist.rankers.boosting.ap_losses import LOSSES
from shortlist.rankers.boosting.engine import BoostedRanker
from shortlist.rankers.held_out import HeldOutRanker
from shortlist.rankers.limits import NOT_NEGATIVE, POSITIVE, SHARE, Limit
from shortlist.rankers.progress import TellsProgress
from shortlist.validation import count_threads

#: What a setting that is no plain number must be, as a test and in words.
_DEMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "folds": (
        lambda folds: (
            folds == "auto" or (isinstance(folds, numbers.Integral) and (folds == 0 or int(folds) >= 2))
        ),
        "'auto', 0 (one model) or at least 2",
    ),
    "loss": (lambda loss: loss in LOSSES, f"one of {', '.join(map(repr, LOSSES))}"),
    "max_depth": (
        lambda depth: (
            depth is None
            or (np.asarray(depth).dtype.kind in "iu" and np.size(depth) > 0 and np.min(depth) >= 1)
        ),
        "a whole number of at least 1, several of them, or None",
    ),
    "validation_fraction": (lambda share: 0 < share < 1, "between 0 and 1"),
    "tune": (lambda tune: isinstance(tune, bool | np.bool_ | Objective), "True, False or an objective"),
}


class APSettings(TellsProgress, HeldOutRanker, BoostedRanker):
    """What ``APBoost`` is told, and describes; how it trains is a function of this and of rows."""

    _limits: ClassVar = {
        **dict.fromkeys(("mix", "alpha", "learning_rate"), POSITIVE),
        **dict.fromkeys(("subsample", "colsample_bynode"), SHARE),
        **dict.fromkeys(("min_child_weight", "reg_lambda"), NOT_NEGATIVE),
        **dict.fromkeys(("n_estimators", "early_stopping_rounds"), Limit(1, whole=True, optional=True)),
        "max_bin": Limit(2, whole=True),
    }

    def __init__(
        self,
        *,
        loss: str = "mix",
        mix: float = 1.0,
        alpha: float = 5.0,
        n_estimators: int | None = None,
        max_depth: int | Sequence[int] | None = None,
        learning_rate: float = 0.1,
        subsample: float = 0.7,
        colsample_bynode: float = 0.5,
        min_child_weight: float = 0.1,
        reg_lambda: float = 1.0,
        max_bin: int = 256,
        monotone_constraints: Sequence[int] | dict[str, int] | None = None,
        folds: int | Literal["auto"] = "auto",
        early_stopping_rounds: int | None = 50,
        validation_fraction: float = 0.1,
        tune: bool | Objective = False,
        warm_start: bool = False,
        callback: Progress | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.mix = mix
        self.alpha = alpha
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.subsample = subsample
        self.colsample_bynode = colsample_bynode
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.max_bin = max_bin
        self.monotone_constraints = monotone_constraints
        self.folds = folds
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.tune = tune
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state


def check_settings(ranker: APSettings, batch: Batch) -> None:
    """Refuse settings that cannot be meant, before any work is done."""
    ranker._check_limits()
    ranker._check_callback()
    for name, (holds, what) in _DEMANDS.items():
        value = getattr(ranker, name)
        if not holds(value):
            raise InvalidInputError(f"{name} must be {what}; got {value!r}.")
    if batch.sample_weight is not None and not (batch.sample_weight[batch.y] > 0).any():
        raise NoWantedRowsError("every wanted row has sample_weight 0; give at least one a positive weight.")
    constraints(ranker, batch.categorical.size)


def one_depth(ranker: APSettings) -> int:
    """The depth of one model's trees."""
    depth = 6 if ranker.max_depth is None else ranker.max_depth
    if not isinstance(depth, numbers.Integral):
        raise InvalidInputError(
            f"one model has one max_depth; got {depth!r}. Several are averaged with folds."
        )
    return int(depth)


def constraints(ranker: APSettings, n_columns: int) -> dict[str, Any]:
    """The sign that each column may have, as XGBoost wants it; nothing where all may have both."""
    signs = ranker.monotone_constraints
    if signs is None:
        return {}
    if isinstance(signs, dict):
        names = (
            [] if ranker.schema_ is None else [feature.name for feature in ranker.schema_.feature_of_column]
        )
        unknown = sorted(set(signs) - set(names))
        if unknown:
            raise InvalidInputError(f"monotone_constraints names {unknown[0]!r}, which is no column of X.")
        signs = [signs.get(name, 0) for name in names]
    if len(signs) != n_columns or not set(signs) <= {-1, 0, 1}:
        raise InvalidInputError(
            f"monotone_constraints needs -1, 0 or 1 for each of the {n_columns} columns; got {list(signs)!r}."
        )
    return {"monotone_constraints": tuple(int(sign) for sign in signs)}


def seed_of(ranker: APSettings) -> int:
    """A number drawn from ``random_state``."""
    return int(check_random_state(ranker.random_state).randint(2**31 - 1))


def threads_of(ranker: APSettings) -> int:
    """How many threads to use."""
    return count_threads(ranker.n_jobs)
