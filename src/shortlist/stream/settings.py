"""The parameters of an active ranker: checked, and turned into its plan and its learner."""

from __future__ import annotations

from typing import Any, ClassVar

from shortlist.exceptions import InvalidInputError
from shortlist.rankers.base import Ranker
from shortlist.rankers.limits import SHARE, Limit
from shortlist.stream.learners.base import Learner
from shortlist.stream.learners.kernel_perceptron import KernelPerceptron
from shortlist.stream.learners.perceptron import Perceptron
from shortlist.stream.learners.refit import Refit
from shortlist.stream.queries import QueryPlan, check_scheme
from shortlist.validation import check_budget

LEARNERS = ("refit", "perceptron")
KERNELS = ("auto", None, "rbf")
COLD_STARTS = (None, "isolation_forest", "random")


class StreamSettings(Ranker):
    """What an ``ActiveRanker`` is told, and describes."""

    _limits: ClassVar = {
        **dict.fromkeys(
            ("extra_labels", "window_labels", "total_labels"), Limit(0, whole=True, optional=True)
        ),
        "explore": Limit(0, 1, optional=True),
        "decay": Limit(0, 1, above=True, optional=True),
        "drift_decay": SHARE,
    }

    def __init__(
        self,
        k: int = 50,
        *,
        extra_labels: int | None = None,
        scheme: str = "sequential",
        learner: str = "refit",
        kernel: str | None = "auto",
        explore: float | None = None,
        decay: float | None = None,
        drift_decay: float = 0.03,
        window_labels: int | None = None,
        total_labels: int | None = None,
        cold_start: str | None = None,
        standardize: bool = True,
        balance: bool = True,
        average: bool = False,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.extra_labels = extra_labels
        self.scheme = scheme
        self.learner = learner
        self.kernel = kernel
        self.explore = explore
        self.decay = decay
        self.drift_decay = drift_decay
        self.window_labels = window_labels
        self.total_labels = total_labels
        self.cold_start = cold_start
        self.standardize = standardize
        self.balance = balance
        self.average = average
        self.random_state = random_state


def check_settings(ranker: StreamSettings) -> None:
    """Refuse parameters that cannot be used."""
    check_budget(ranker.k, name="k")
    check_scheme(ranker.scheme)
    _check_choice("learner", ranker.learner, LEARNERS)
    _check_choice("kernel", ranker.kernel, KERNELS)
    _check_choice("cold_start", ranker.cold_start, COLD_STARTS)
    ranker._check_limits()
    for name in ("standardize", "balance", "average"):
        _check_choice(name, getattr(ranker, name), (True, False))
    if ranker.average and (ranker.learner != "perceptron" or ranker.kernel == "rbf"):
        raise InvalidInputError(
            "average=True is an option of learner='perceptron' without a kernel; leave it out."
        )


def make_plan(ranker: StreamSettings) -> QueryPlan:
    """Which labels to ask for, with what is None filled in by what suits the learner."""
    refit = ranker.learner == "refit"
    extra_labels = ranker.k if refit and ranker.extra_labels is None else ranker.extra_labels
    cold_start = ranker.cold_start or ("isolation_forest" if refit else "random")
    return QueryPlan(
        k=ranker.k,
        scheme=check_scheme(ranker.scheme),
        extra_labels=extra_labels,
        explore=_or(ranker.explore, 0.5 if refit else 0.0),
        decay=_or(ranker.decay, 0.95 if refit else 1.0),
        one_round=refit,
        cold_start=cold_start,
        doubts=refit and cold_start == "isolation_forest",
    )


def make_learner(ranker: StreamSettings, seed: int) -> Learner:
    """The learner that the parameters name."""
    if ranker.learner == "refit":
        return Refit(kernel="rbf" if ranker.kernel == "auto" else ranker.kernel, seed=seed)
    if ranker.kernel == "rbf":
        return KernelPerceptron(balance=ranker.balance, seed=seed)
    return Perceptron(balance=ranker.balance, average=ranker.average)


def _or(value: float | None, default: float) -> float:
    return default if value is None else float(value)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise InvalidInputError(
            f"{name} {value!r} does not exist; choose one of {', '.join(map(repr, choices))}."
        )
