"""Rankings of a stream: which few rows of each window to look at, and how their labels change the ranking."""

from shortlist.stream.active_ranker import ActiveRanker
from shortlist.stream.immediate import ImmediateAsker

__all__ = ["ActiveRanker", "ImmediateAsker"]
