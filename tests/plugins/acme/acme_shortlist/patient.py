"""A strategy of another package."""

from shortlist.feedback import LeafSimilarity
from shortlist.feedback.strategies.catalogue import Strategy


class LeafSimilarity(LeafSimilarity):  # the name of ours, which it must not replace
    """Learns as ours does."""


STRATEGY = Strategy(LeafSimilarity, "similarity, by Acme")
