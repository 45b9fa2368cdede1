"""What people do with a ranker, from tables to answers; the command line is a thin cover of this."""

from shortlist.workflow.evaluate import Evaluation, evaluate
from shortlist.workflow.rank import Shortlist, rank

__all__ = ["Evaluation", "Shortlist", "evaluate", "rank"]
