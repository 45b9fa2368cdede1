"""The review queue: an expert says yes or no to the top row, and the list learns at once."""

from shortlist.review.client import Client
from shortlist.review.create import create
from shortlist.review.desk.queue import Queue
from shortlist.review.workspace import Workspace

__all__ = ["Client", "Queue", "Workspace", "create"]
