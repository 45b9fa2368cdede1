"""Learners that turn labelled rows into a ranking: one file each, one contract for all."""

from shortlist.rankers.ap_boost import APBoost
from shortlist.rankers.base import Ranker, top_rows
from shortlist.rankers.baseline import Baseline
from shortlist.rankers.rank_boost import RankBoost

__all__ = ["APBoost", "Baseline", "RankBoost", "Ranker", "top_rows"]
