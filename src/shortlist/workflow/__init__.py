"""What people do with a ranker, from tables to answers; the command line is a thin cover of this."""

from shortlist.workflow.history.backtest import backtest
from shortlist.workflow.history.backtest_result import Backtest
from shortlist.workflow.history.compare import compare
from shortlist.workflow.history.compare_result import Comparison
from shortlist.workflow.history.evaluate import Evaluation, evaluate
from shortlist.workflow.rank import rank
from shortlist.workflow.score import score
from shortlist.workflow.train import train

__all__ = [
    "Backtest",
    "Comparison",
    "Evaluation",
    "backtest",
    "compare",
    "evaluate",
    "rank",
    "score",
    "train",
]
