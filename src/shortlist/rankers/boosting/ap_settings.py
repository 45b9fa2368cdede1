"""The parameters of ``APBoost``: checked, and as numbers to train with."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.objectives.base import Objective
from shortlist.question.options import Progress
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.trees.boosted import BoostedRanker
from shortlist.rankers.chances.calibration import Scored
from shortlist.rankers.held_out import HeldOutRanker
from shortlist.rankers.limits import NOT_NEGATIVE, PART, POSITIVE, SHARE, Limit
from shortlist.rankers.progress import TellsProgress
from shortlist.validation import count_threads, draw_seed

#: What can be minimised; see ``ap_losses``.
LOSSES = ("mix", "logistic", "ap_sigmoid", "ap_exp", "ap_exp_faithful", "rankboost")
#: Rounds where nothing says when to stop, and the most where something does.
ROUNDS, MOST_ROUNDS = 150, 1_000
#: From so many rows on there is more to learn: deeper trees join, and the random cuts of extra trees add nothing.
DEEPER_ROWS = 15_000

#: What a setting that is no plain number must be, as a test and in words.
_DEMANDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "committee": (
        lambda committee: isinstance(committee, bool | np.bool_) or committee == "auto",
        "'auto', True or False",
    ),
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
    "tune": (lambda tune: isinstance(tune, bool | np.bool_ | Objective), "True, False or an objective"),
}


class APSettings(TellsProgress, HeldOutRanker, BoostedRanker):
    """What ``APBoost`` is told, and describes; how it trains is a function of this and of rows."""

    _splits_a_list = True
    _limits: ClassVar = {
        **dict.fromkeys(("mix", "alpha", "learning_rate"), POSITIVE),
        **dict.fromkeys(("subsample", "colsample_bynode"), SHARE),
        **dict.fromkeys(("min_child_weight", "reg_lambda"), NOT_NEGATIVE),
        **dict.fromkeys(("n_estimators", "early_stopping_rounds"), Limit(1, whole=True, optional=True)),
        "max_bin": Limit(2, whole=True),
        "max_cat_threshold": Limit(2, whole=True),
        "validation_fraction": PART,
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
        max_cat_threshold: int = 4,
        monotone_constraints: Sequence[int] | dict[str, int] | None = None,
        folds: int | Literal["auto"] = "auto",
        committee: bool | Literal["auto"] = "auto",
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
        self.max_cat_threshold = max_cat_threshold
        self.monotone_constraints = monotone_constraints
        self.folds = folds
        self.committee = committee
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
    constraints(ranker, batch.categorical.size)


def fold_depths(ranker: APSettings, n_rows: int) -> list[int]:
    """The depths whose fold models are averaged."""
    if ranker.max_depth is None:
        return [3, 6] if n_rows < DEEPER_ROWS else [3, 6, 10]
    return [int(depth) for depth in np.atleast_1d(ranker.max_depth)]


def extra_trees_too(ranker: APSettings, n_rows: int) -> bool:
    """Whether extra trees join the boosted ones of each fold. They know no constraints."""
    constrained = ranker.monotone_constraints is not None
    if ranker.committee == "auto":
        return n_rows < DEEPER_ROWS and not constrained
    if ranker.committee and constrained:
        raise InvalidInputError(
            "extra trees cannot be held to monotone_constraints; leave these out, or use committee=False."
        )
    return bool(ranker.committee)


def most_rounds(ranker: APSettings, stops_early: bool) -> int:
    """The most rounds of boosting: many where a measure ends them."""
    return ranker.n_estimators or (MOST_ROUNDS if stops_early else ROUNDS)


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves behind."""

    booster: xgb.Booster
    rounds: tuple[int, ...]
    oof_score: NDArray[np.float64] | None = None
    held_out: Scored | None = None  # rows that the models did not see
    seen: Scored | None = None  # rows that the model learned from, where none were held out
    kappa: float = 1.0  # the variance of held-out rows' scores over that of the same rows as new ones


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
    if np.shape(signs) != (n_columns,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidInputError(
            f"monotone_constraints needs -1, 0 or 1 for each of the {n_columns} columns; got {signs!r}."
        )
    return {"monotone_constraints": tuple(int(sign) for sign in signs)}


def seed_of(ranker: APSettings) -> int:
    """A number drawn from ``random_state``."""
    return draw_seed(ranker.random_state, 2**31 - 1)


def threads_of(ranker: APSettings) -> int:
    """How many threads to use."""
    return count_threads(ranker.n_jobs)
