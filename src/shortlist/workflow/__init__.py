"""What people do with a ranker, from tables to answers; the command line is a thin cover of this."""

from shortlist.workflow.history.backtest import backtest
from shortlist.workflow.history.backtest_result import Backtest
from shortlist.workflow.history.compare import compare
from shortlist.workflow.history.compare_result import Comparison
from shortlist.workflow.history.evaluate import Evaluation, evaluate
from shortlist.workflow.monitor.monitor import monitor
from shortlist.workflow.monitor.result import Monitor
from shortlist.workflow.rank import rank
from shortlist.workflow.score import score
from shortlist.workflow.train import train

__all__ = [
    "Backtest",
    "Comparison",
    "Evaluation",
    "Monitor",
    "backtest",
    "compare",
    "evaluate",
    "monitor",
    "rank",
    "score",
    "train",
]
