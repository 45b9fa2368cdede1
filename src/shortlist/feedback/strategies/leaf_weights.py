"""Feedback rankers whose scores are linear in weights per leaf."""

from __future__ import annotations

from numpy.typing import NDArray

from shortlist.feedback.base import FeedbackRanker
from shortlist.feedback.spaces.forest import Floats
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.leaf_scores import LeafScores


class LeafWeightRanker(FeedbackRanker):
    """Scores rows by what their leaves contribute; subclasses say what that is in ``_contribution``."""

    def __init__(self, space: ScoreSpace, *, random_state: int | None = 0) -> None:
        self._leaf_scores = LeafScores(space)
        super().__init__(space, random_state=random_state)

    def _rescore(self) -> None:
        self._leaf_scores.update(self._contribution())

    def _ranking_keys(self) -> NDArray:
        return self._leaf_scores.sums

    def _score_floats(self) -> Floats:
        return self._leaf_scores.floats()
