"""Learners that turn labelled rows into a ranking: one file each, one contract for all."""

from shortlist.rankers.base import Ranker, top_rows
from shortlist.rankers.baseline import Baseline
from shortlist.rankers.boosting.ap_boost import APBoost
from shortlist.rankers.boosting.lambda_mart import LambdaMART
from shortlist.rankers.catalogue import MODELS, Model, make_ranker
from shortlist.rankers.linear.ada_rank import AdaRank
from shortlist.rankers.linear.coordinate_ascent import CoordinateAscent
from shortlist.rankers.linear.rank_boost import RankBoost
from shortlist.rankers.nets.list_net import ListNet
from shortlist.rankers.nets.rank_net import RankNet
from shortlist.rankers.target.target_tree import TargetTree

__all__ = [
    "MODELS",
    "APBoost",
    "AdaRank",
    "Baseline",
    "CoordinateAscent",
    "LambdaMART",
    "ListNet",
    "Model",
    "RankBoost",
    "RankNet",
    "Ranker",
    "TargetTree",
    "make_ranker",
    "top_rows",
]
