"""Shortlist ranks the few rows that matter first, within the number of rows you can afford to look at."""

from importlib import import_module
from typing import Any

from shortlist._version import __version__

#: Public names and where they live; loaded on first use, so that ``import shortlist`` and ``--help`` are quick.
_HOME = {
    "APBoost": "shortlist.rankers",
    "ActiveRanker": "shortlist.stream",
    "LambdaMART": "shortlist.rankers",
    "LeafSimilarity": "shortlist.feedback",
    "OJRank": "shortlist.feedback",
    "ScoreSpace": "shortlist.feedback",
    "TargetTree": "shortlist.rankers",
    "TrainedModel": "shortlist.workflow",
    "backtest": "shortlist.workflow",
    "compare": "shortlist.workflow",
    "evaluate": "shortlist.workflow",
    "load": "shortlist.models.file",
    "make_ranker": "shortlist.rankers.catalogue",
    "rank": "shortlist.workflow",
    "read_table": "shortlist.tables",
    "save": "shortlist.models.file",
    "score": "shortlist.workflow",
    "top_rows": "shortlist.rankers",
    "train": "shortlist.workflow",
    "write_table": "shortlist.tables",
}

__all__ = ["__version__", *_HOME]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shortlist' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
