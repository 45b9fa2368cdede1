"""Learning from one verdict at a time: score spaces, and rankers that re-rank after every verdict."""

from shortlist.feedback.offline import Offline
from shortlist.feedback.ojrank import OJRank
from shortlist.feedback.score_space import ScoreSpace

__all__ = ["OJRank", "Offline", "ScoreSpace"]
