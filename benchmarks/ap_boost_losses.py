"""Which loss ranks best under one and the same recipe? Candidates are compared on half of the sets and confirmed on
the other half (sets sorted by name: every second one), each by its gain over the logistic loss.

    python benchmarks/ap_boost_losses.py --half choose --results losses.jsonl --minutes 8
    python benchmarks/ap_boost_losses.py --half confirm --methods "logistic" "mix" --results losses.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from ap_boost_quality import SETS, read, report, run, show
from rivals import ap_boost

from shortlist.rankers import ap_training
from shortlist.rankers.ap_losses import Logistic, Mix
from shortlist.rankers.base import Batch

HALVES = {"choose": SETS[::2], "confirm": SETS[1::2], "both": SETS}


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
    fit = ap_boost()

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


METHODS = {
    "logistic": ap_boost(loss="logistic"),
    "mix": ap_boost(),
    "mix 0.3": ap_boost(mix=0.3),
    "late mix": with_loss(LateMix),
    "top mix": with_loss(TopMix),
    "hard rows": with_loss(HardRows),
    "root weight": with_loss(RootWeight),
    "logistic + mix": blend(ap_boost(loss="logistic"), ap_boost()),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("ap_boost_losses.jsonl"))
    parser.add_argument("--half", choices=HALVES, default="choose")
    parser.add_argument("--methods", nargs="*", default=[*METHODS])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--report", action="store_true", help="Only report what is there.")
    parser.add_argument("--quick", action="store_true", help="Two small sets, one split.")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sets = ["glass", "wbc"] if arguments.quick else HALVES[arguments.half]
    if not arguments.report:
        methods = {name: METHODS[name] for name in arguments.methods}
        splits = 1 if arguments.quick else arguments.splits
        run(arguments.results, sets, splits, arguments.rows, arguments.minutes, methods)
    rows = [row for row in read(arguments.results) if row["set"] in sets]
    found = report(rows, arguments.methods, arguments.methods[0])
    print(json.dumps(found)) if arguments.json else show(found)


if __name__ == "__main__":
    main()
