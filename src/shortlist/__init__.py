"""Shortlist ranks the few rows that matter first, within the number of rows you can afford to look at."""

from typing import TYPE_CHECKING

from shortlist._version import __version__
from shortlist.later import names_of

if TYPE_CHECKING:  # what type checkers and editors see; at run time names are loaded on first use
    from shortlist.feedback import LeafSimilarity, OJRank, ScoreSpace
    from shortlist.models import TrainedModel, load, save
    from shortlist.rankers import APBoost, LambdaMART, TargetTree, make_ranker, top_rows
    from shortlist.stream import ActiveRanker
    from shortlist.tables import read_table, write_table
    from shortlist.workflow import backtest, compare, evaluate
    from shortlist.workflow.monitor.monitor import monitor
    from shortlist.workflow.rank import rank
    from shortlist.workflow.score import score
    from shortlist.workflow.train import train

#: Where each name lives: ``import shortlist`` and ``--help`` load none of these places.
_HOME = {
    "APBoost": "shortlist.rankers",
    "ActiveRanker": "shortlist.stream",
    "LambdaMART": "shortlist.rankers",
    "LeafSimilarity": "shortlist.feedback",
    "OJRank": "shortlist.feedback",
    "ScoreSpace": "shortlist.feedback",
    "TargetTree": "shortlist.rankers",
    "TrainedModel": "shortlist.models",
    "backtest": "shortlist.workflow",
    "compare": "shortlist.workflow",
    "evaluate": "shortlist.workflow",
    "load": "shortlist.models",
    "make_ranker": "shortlist.rankers",
    "monitor": "shortlist.workflow",
    "rank": "shortlist.workflow",
    "read_table": "shortlist.tables",
    "save": "shortlist.models",
    "score": "shortlist.workflow",
    "top_rows": "shortlist.rankers",
    "train": "shortlist.workflow",
    "write_table": "shortlist.tables",
}

__all__ = [
    "APBoost",
    "ActiveRanker",
    "LambdaMART",
    "LeafSimilarity",
    "OJRank",
    "ScoreSpace",
    "TargetTree",
    "TrainedModel",
    "__version__",
    "backtest",
    "compare",
    "evaluate",
    "load",
    "make_ranker",
    "monitor",
    "rank",
    "read_table",
    "save",
    "score",
    "top_rows",
    "train",
    "write_table",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that may be there
    __getattr__, __dir__ = names_of(__name__, _HOME)
