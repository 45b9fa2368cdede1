"""Asking a ranker: for scores, and for what only some can tell: why a score is high, how often it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.lists import Lists
from shortlist.rankers.base import Ranker
from shortlist.rankers.chances.calibration import ChanceCurve, Found, precision_so_far
from shortlist.tables import Encoded

Floats = NDArray[np.float64]
#: Rows scored at a time.
_BLOCK_ROWS = 50_000


class Explains(Protocol):
    """Splits a score into what each column of X adds to it; a last column, if any, is the base."""

    def contributions(self, X: Any) -> Floats:
        """One row per row of X, one column per column of X."""


class Calibrated(Protocol):
    """Knows from rows that its training did not see how often rows with such scores are wanted."""

    def chance(self, scores: Any) -> Floats:
        """The chance that a row with such a score is wanted."""

    def expected_precision(self, scores: Any) -> Floats:
        """For each row of one list: the share of wanted rows among those that score no lower."""

    def expected_found(self, scores: Any = (), *, chances: Any = None) -> Found:
        """How many of the rows with such scores, or such chances, will be wanted."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a model says of rows: the score they are ranked by, and the chance where they are ranked by value."""

    score: Floats
    chance: Floats | None = None


def score_rows(ranker: Ranker, features: Encoded) -> Floats:
    """The scores of all rows, some at a time: what a model makes of rows on the way may be much larger than they."""
    if not features.shape[0]:
        return np.empty(0)
    blocks = np.arange(0, features.shape[0], _BLOCK_ROWS)
    return np.concatenate(
        [ranker.decision_function(features.take(slice(start, start + _BLOCK_ROWS))) for start in blocks]
    )


def contributions(ranker: Ranker, X: Any) -> Floats | None:
    """What each column adds to each row's score, without the base; None where the ranker cannot tell."""
    if not _explains(ranker):
        return None
    return ranker.contributions(X)[:, : X.shape[1]]


def chances(ranker: Ranker, score: Floats) -> Floats | None:
    """The chance of each score that its row is wanted; None where the ranker does not know."""
    if not _is_calibrated(ranker):
        return None
    try:
        return ranker.chance(score)
    except InvalidInputError:  # it could know, but nothing was held out in training
        return None


def expected_precision(ranker: Ranker, scored: Scored, lists: Lists) -> Floats | None:
    """Expected precision at each row's rank in its list; None where the ranker does not know."""
    score, chance = scored.score, scored.chance
    if chance is None and not _is_calibrated(ranker):
        return None
    expected = np.empty(score.size)
    try:
        for rows in lists:
            expected[rows] = (
                precision_so_far(score[rows], chance[rows])
                if chance is not None
                else ranker.expected_precision(score[rows])
            )
    except InvalidInputError:  # it could know, but nothing was held out in training
        return None
    return expected


def expected_found(ranker: Ranker, scored: Scored, rows: NDArray[np.int64]) -> Found | None:
    """How many of some rows, of one list or of several, will be wanted; None where the ranker does not know.

    Of no rows nothing is said. A model that was saved before it kept the error of its curve does not know either:
    bounds by luck alone would be too close.
    """
    if not rows.size or not hasattr(ranker, "expected_found"):
        return None
    try:
        if scored.chance is not None:
            return ranker.expected_found(chances=scored.chance[rows])
        return ranker.expected_found(scored.score[rows])
    except InvalidInputError:
        return None


def chance_curve(ranker: Any) -> ChanceCurve | None:
    """What its scores mean, to be kept apart from it; None where ``expected_found`` knows nothing."""
    if expected_found(ranker, Scored(np.zeros(1)), np.arange(1)) is None:
        return None
    return ChanceCurve(ranker.chance_curve_, ranker.chance_error_)


def held_out_scores(ranker: Ranker) -> Floats | None:
    """Scores of the training rows by models that did not see them; None where there are none."""
    return getattr(ranker, "oof_score_", None)


# Asked by hasattr and not by isinstance, which does not see that a method is there for some settings only.
def _explains(ranker: Any) -> TypeGuard[Explains]:
    return hasattr(ranker, "contributions")


def _is_calibrated(ranker: Any) -> TypeGuard[Calibrated]:
    return hasattr(ranker, "expected_precision")
