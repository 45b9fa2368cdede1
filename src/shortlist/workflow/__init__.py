"""What people do with a ranker, from tables to answers; the command line is a thin cover of this."""

from shortlist.workflow.evaluate import Evaluation, evaluate
from shortlist.workflow.rank import rank
from shortlist.workflow.score import score
from shortlist.workflow.shortlist import Shortlist
from shortlist.workflow.train import train
from shortlist.workflow.trained import TrainedModel

__all__ = ["Evaluation", "Shortlist", "TrainedModel", "evaluate", "rank", "score", "train"]
