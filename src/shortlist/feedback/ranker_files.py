"""A feedback ranker on disk: verdicts, settings and learned state in one file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.files import read_arrays, write_arrays

if TYPE_CHECKING:
    from shortlist.feedback.base import FeedbackRanker
    from shortlist.feedback.spaces.score_space import ScoreSpace

KIND = "shortlist feedback ranker"


def save(ranker: FeedbackRanker, path: Any) -> None:
    """Write a ranker; its space is named by fingerprint and saved on its own."""
    header = {
        "kind": KIND,
        "format": 1,
        "strategy": _name(type(ranker)),
        "settings": {name: getattr(ranker, name) for name in ranker.settings},
        "seed": ranker.seed,
        "space": ranker.space.fingerprint,
        "n_rows": ranker.space.n_rows,
    }
    write_arrays(Path(path), header, ranker.to_arrays())


def load(cls: type[FeedbackRanker], path: Any, space: ScoreSpace) -> Any:
    """Read a ranker of this class, or of any strategy when the class is the base."""
    header, arrays = read_arrays(Path(path), KIND)
    strategies = {_name(strategy): strategy for strategy in (cls, *_below(cls))}
    if header["strategy"] not in strategies:
        raise InvalidInputError(
            f"{path} holds a ranker of the strategy {header['strategy']}; load it with {header['strategy']}.load."
        )
    if header["space"] != space.fingerprint or header["n_rows"] > space.n_rows:
        raise InvalidInputError(
            f"{path} was saved with another score space (or with rows appended that this one lacks). "
            "Load the space that was saved with it: ScoreSpace.load(folder)."
        )
    ranker = strategies[header["strategy"]](space, random_state=header["seed"], **header["settings"])
    ranker.from_arrays({name: np.asarray(array) for name, array in arrays.items()})
    return ranker


def _below(cls: type[FeedbackRanker]) -> Iterator[type[FeedbackRanker]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def _name(cls: type[FeedbackRanker]) -> str:
    """Strategies of other packages go by their full name: none can take the place of ours."""
    ours = cls.__module__.partition(".")[0] == "shortlist"
    return cls.__name__ if ours else f"{cls.__module__}.{cls.__qualname__}"
