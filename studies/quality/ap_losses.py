"""The loss that ranks best under one and the same recipe.

Candidates are compared on half of the sets and confirmed on the other half (sets sorted by name: every second one),
each by its gain over the logistic loss.

    python -m studies ap_losses --half choose --minutes 8
    python -m studies ap_losses --half confirm --methods "logistic" "mix"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import numpy as np

from shortlist.metrics import average_precision
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting import ap_training
from shortlist.rankers.boosting.ap_losses import Logistic, Mix
from studies.quality.ap_boost import HALVES, rivals_parser, study
from studies.quality.rivals import ap_boost, fitted


class LateMix(Mix):
    """The AP part grows from nothing over the first 75 rounds: structure first, then the top."""

    rounds = 0

    def __call__(self, margin):
        """Gradient and hessian."""
        self.mix = min(1.0, self.rounds / 75)
        self.rounds += 1
        return super().__call__(margin)


class TopMix(Mix):
    """AP restricted to the reviewable part: rows beyond rank 3P lose their AP gradient, smoothly."""

    def __call__(self, margin):
        """Gradient and hessian."""
        scale = self.ap.follow(margin)
        reach = min(3 * self.ap.positions.size, margin.size - 1)
        threshold = -np.partition(-margin, reach)[reach]
        slope = self.ap.steepness(margin)
        self.ap.pull *= 1 / (1 + np.exp(np.clip(-slope * (margin - threshold), -50, 50)))
        kept = np.abs(self.ap.pull[self.ap.positions]).sum()
        scale = self.ap.positions.size / kept if kept > 0 else scale
        grad, hess = Logistic.__call__(self.logistic, margin)
        part = np.float32(scale) * self.ap.pull
        return grad + part, hess + np.abs(part)

    def __init__(self, batch: Batch, **settings: Any) -> None:
        super().__init__(batch, **settings)
        self.logistic = Logistic(batch)


class HardRows(Logistic):
    """Logistic in which unwanted rows below rank 10P count 1/4: the loss looks at the hard ones."""

    def __call__(self, margin):
        """Gradient and hessian."""
        grad, hess = super().__call__(margin)
        reach = min(10 * int(self.wanted.sum()), margin.size - 1)
        easy = ~self.wanted & (margin < -np.partition(-margin, reach)[reach])
        grad[easy] *= 0.25
        hess[easy] *= 0.25
        return grad, hess


class RootWeight(Logistic):
    """Logistic in which a wanted row counts (N / P)^½."""

    def __call__(self, margin):
        """Gradient and hessian."""
        grad, hess = super().__call__(margin)
        weight = np.float32(np.sqrt((~self.wanted).sum() / self.wanted.sum()))
        grad[self.wanted] *= weight
        hess[self.wanted] *= weight
        return grad, hess


def with_loss(make: Callable[[Batch], Any]) -> Callable:
    fit = ap_boost(**MIX)

    def fit_with(*arguments):
        with mock.patch.object(ap_training, "make_loss", lambda name, batch, **settings: make(batch)):
            return fit(*arguments)

    return fit_with


def blend(*fits: Callable) -> Callable:
    """The mean of standardised scores."""

    def fit(*arguments):
        scorers = [each(*arguments) for each in fits]
        return lambda new: np.sum([scorer(new) for scorer in scorers], axis=0)

    return fit


def by_out_of_fold(*candidates: dict[str, Any], blends: bool = False) -> Callable:
    """Of several rankers the one whose out-of-fold scores have the best AP; ``blends`` lets the mean of all compete."""

    def fit(X, y, categorical, seed):
        rankers = [fitted(X, y, categorical, seed, **settings) for settings in candidates]
        parts = [[ranker] for ranker in rankers] + ([rankers] if blends else [])
        values = [average_precision(y, np.array([r.oof_score_ for r in part]).sum(axis=0)) for part in parts]
        best = parts[int(np.argmax(values))]
        return lambda new: np.sum([ranker._score(new) for ranker in best], axis=0)

    return fit


#: Losses are compared without extra trees, which have none of them.
LOGISTIC: dict[str, Any] = {"loss": "logistic", "committee": False}
MIX: dict[str, Any] = {"loss": "mix", "committee": False}
METHODS = {
    "logistic": ap_boost(**LOGISTIC),
    "mix": ap_boost(**MIX),
    "mix 0.3": ap_boost(**MIX, mix=0.3),
    "late mix": with_loss(LateMix),
    "top mix": with_loss(TopMix),
    "hard rows": with_loss(HardRows),
    "root weight": with_loss(RootWeight),
    "logistic + mix": blend(ap_boost(**LOGISTIC), ap_boost(**MIX)),
    "mix 3 + logistic 6": blend(ap_boost(max_depth=3, **MIX), ap_boost(max_depth=6, **LOGISTIC)),
    "logistic 3 + mix 6": blend(ap_boost(max_depth=3, **LOGISTIC), ap_boost(max_depth=6, **MIX)),
    "by out-of-fold AP": by_out_of_fold(LOGISTIC, MIX),
    "by out-of-fold AP, or both": by_out_of_fold(LOGISTIC, MIX, blends=True),
}


def main(arguments: Sequence[str]) -> None:
    """Run what is missing of one half, and compare the first method with the others."""
    parser = rivals_parser(__name__, __doc__, 3, METHODS)
    parser.add_argument("--half", choices=HALVES, default="choose")
    options = parser.parse_args(arguments)
    study(__name__, options, HALVES[options.half], METHODS)
