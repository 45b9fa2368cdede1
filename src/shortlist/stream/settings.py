"""The parameters of an active ranker: checked, and turned into its plan and its learner."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.stream.learners.base import Learner
from shortlist.stream.learners.kernel_perceptron import KernelPerceptron
from shortlist.stream.learners.perceptron import Perceptron
from shortlist.stream.learners.refit import Refit
from shortlist.stream.queries import QueryPlan, check_scheme
from shortlist.validation import check_budget

if TYPE_CHECKING:
    from shortlist.stream.active_ranker import ActiveRanker

LEARNERS = ("refit", "perceptron")
KERNELS = ("auto", None, "rbf")
COLD_STARTS = (None, "isolation_forest", "random")


def check_settings(ranker: ActiveRanker) -> None:
    """Refuse parameters that cannot be used."""
    check_budget(ranker.k, name="k")
    check_scheme(ranker.scheme)
    _check_choice("learner", ranker.learner, LEARNERS)
    _check_choice("kernel", ranker.kernel, KERNELS)
    _check_choice("cold_start", ranker.cold_start, COLD_STARTS)
    for name in ("extra_labels", "window_labels", "total_labels"):
        _check_count(name, getattr(ranker, name))
    _check_share("explore", ranker.explore, zero=True)
    _check_share("decay", ranker.decay)
    _check_share("drift_decay", ranker.drift_decay)
    if ranker.average and (ranker.learner != "perceptron" or ranker.kernel == "rbf"):
        raise InvalidInputError(
            "average=True is an option of learner='perceptron' without a kernel; leave it out."
        )


def make_plan(ranker: ActiveRanker) -> QueryPlan:
    """Which labels to ask for, with what is None filled in by what suits the learner."""
    refit = ranker.learner == "refit"
    extra_labels = ranker.k if refit and ranker.extra_labels is None else ranker.extra_labels
    return QueryPlan(
        k=ranker.k,
        scheme=check_scheme(ranker.scheme),
        extra_labels=extra_labels,
        explore=_or(ranker.explore, 0.5 if refit else 0.0),
        decay=_or(ranker.decay, 0.95 if refit else 1.0),
        one_round=refit,
        cold_start=ranker.cold_start or ("isolation_forest" if refit else "random"),
    )


def make_learner(ranker: ActiveRanker, seed: int) -> Learner:
    """The learner that the parameters name."""
    if ranker.learner == "refit":
        return Refit(kernel="rbf" if ranker.kernel == "auto" else ranker.kernel, seed=seed)
    if ranker.kernel == "rbf":
        return KernelPerceptron(balance=ranker.balance, seed=seed)
    return Perceptron(balance=ranker.balance, average=ranker.average)


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, or from either kind of NumPy's generators."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    return np.random.default_rng(random_state)


def _or(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(
            f"{name} {value!r} does not exist; choose one of {', '.join(map(repr, choices))}."
        )


def _check_count(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise InvalidInputError(f"{name} must be a whole number of at least 0, or None; got {value!r}.")


def _check_share(name: str, value: Any, *, zero: bool = False) -> None:
    if value is None:
        return
    if not ((value >= 0 if zero else value > 0) and value <= 1):
        raise InvalidInputError(f"{name} must lie {'from' if zero else 'above'} 0 to 1; got {value!r}.")
