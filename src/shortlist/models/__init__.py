"""A trained model: its file, what it says of new rows, why, and what was usual in training."""

from shortlist.models.file import ModelFileError, load, open_model, read_header, save
from shortlist.models.shortlist import Shortlist
from shortlist.models.trained import TrainedModel

__all__ = ["ModelFileError", "Shortlist", "TrainedModel", "load", "open_model", "read_header", "save"]
