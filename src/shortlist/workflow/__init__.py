"""What people do with a ranker, from tables to answers; the command line is a thin cover of this."""

from shortlist.workflow.backtest import Backtest, backtest
from shortlist.workflow.compare import Comparison, compare
from shortlist.workflow.evaluate import Evaluation, evaluate
from shortlist.workflow.rank import rank
from shortlist.workflow.score import score
from shortlist.workflow.shortlist import Shortlist
from shortlist.workflow.train import train
from shortlist.workflow.trained import TrainedModel

__all__ = [
    "Backtest",
    "Comparison",
    "Evaluation",
    "Shortlist",
    "TrainedModel",
    "backtest",
    "compare",
    "evaluate",
    "rank",
    "score",
    "train",
]
