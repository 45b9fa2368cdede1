"""Learners that turn labelled rows into a ranking: one file each, one contract for all."""

from shortlist.rankers.base import Ranker, top_rows
from shortlist.rankers.baseline import Baseline

__all__ = ["Baseline", "Ranker", "top_rows"]
