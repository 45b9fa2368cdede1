"""Learners that turn labelled rows into a ranking: one file each, one contract for all."""

from typing import TYPE_CHECKING

from shortlist.later import names_of

if TYPE_CHECKING:  # at run time names are loaded on first use: to score by one model takes none of the others
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

_HOME = {
    "APBoost": "shortlist.rankers.boosting.ap_boost",
    "AdaRank": "shortlist.rankers.linear.ada_rank",
    "Baseline": "shortlist.rankers.baseline",
    "CoordinateAscent": "shortlist.rankers.linear.coordinate_ascent",
    "LambdaMART": "shortlist.rankers.boosting.lambda_mart",
    "ListNet": "shortlist.rankers.nets.list_net",
    "MODELS": "shortlist.rankers.catalogue",
    "Model": "shortlist.rankers.catalogue",
    "RankBoost": "shortlist.rankers.linear.rank_boost",
    "RankNet": "shortlist.rankers.nets.rank_net",
    "Ranker": "shortlist.rankers.base",
    "TargetTree": "shortlist.rankers.target.target_tree",
    "make_ranker": "shortlist.rankers.catalogue",
    "top_rows": "shortlist.rankers.base",
}

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

if not TYPE_CHECKING:  # a type checker would take any name for one that may be there
    __getattr__, __dir__ = names_of(__name__, _HOME)
