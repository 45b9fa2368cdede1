"""Learning from one verdict at a time: score spaces, and rankers that re-rank after every verdict."""

from shortlist.feedback.base import FeedbackRanker
from shortlist.feedback.simulate import Simulation, simulate
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.strategies.aad import AAD
from shortlist.feedback.strategies.catalogue import STRATEGIES, Strategy, compare, make_strategy
from shortlist.feedback.strategies.leaf_similarity import LeafSimilarity
from shortlist.feedback.strategies.offline import Offline
from shortlist.feedback.strategies.ojrank import OJRank
from shortlist.feedback.strategies.omd import OMD

__all__ = [
    "AAD",
    "OMD",
    "STRATEGIES",
    "FeedbackRanker",
    "LeafSimilarity",
    "OJRank",
    "Offline",
    "ScoreSpace",
    "Simulation",
    "Strategy",
    "compare",
    "make_strategy",
    "simulate",
]
