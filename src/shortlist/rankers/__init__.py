"""Learners that turn labelled rows into a ranking: one file each, one contract for all."""

from shortlist.rankers.base import Ranker, top_rows
from shortlist.rankers.baseline import Baseline
from shortlist.rankers.target_tree import TargetTree

__all__ = ["Baseline", "Ranker", "TargetTree", "top_rows"]
