"""Learning from one verdict at a time: score spaces, and rankers that re-rank after every verdict."""

from shortlist.feedback.aad import AAD
from shortlist.feedback.base import FeedbackRanker
from shortlist.feedback.leaf_similarity import LeafSimilarity
from shortlist.feedback.offline import Offline
from shortlist.feedback.ojrank import OJRank
from shortlist.feedback.omd import OMD
from shortlist.feedback.score_space import ScoreSpace
from shortlist.feedback.simulate import Simulation, simulate
from shortlist.feedback.strategies import DEFAULT_STRATEGY, STRATEGIES, compare, make_strategy

__all__ = [
    "AAD",
    "DEFAULT_STRATEGY",
    "OMD",
    "STRATEGIES",
    "FeedbackRanker",
    "LeafSimilarity",
    "OJRank",
    "Offline",
    "ScoreSpace",
    "Simulation",
    "compare",
    "make_strategy",
    "simulate",
]
