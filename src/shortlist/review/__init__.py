"""The review queue: an expert says yes or no to the top row, and the list learns at once."""

from shortlist.review.client import Client
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.telling.counts import missed_rows
from shortlist.review.telling.missed import Missed, Out, missed
from shortlist.review.workspace import Workspace

__all__ = ["Client", "Missed", "Out", "Queue", "Workspace", "create", "missed", "missed_rows"]
