"""What the model of a queue knew before any verdict: the chance that a row is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from shortlist.feedback import ScoreSpace
from shortlist.feedback.spaces.files import read_arrays, write_arrays
from shortlist.models.abilities import chance_curve
from shortlist.rankers.base import Ranker
from shortlist.rankers.chances.calibration import ChanceCurve, read_chance

KIND = "shortlist chances"


class Foreseen(NamedTuple):
    """Chances of some rows by the model alone, and the curve that they were read off."""

    chance: np.ndarray
    curve: ChanceCurve


class ModelChances(NamedTuple):
    """What a model knows of its scores, kept in a file beside the score space that was made from its trees.

    curve : what scores of the model mean
    base : what the model adds to the sum of its leaves, which is the score that the space knows
    """

    curve: ChanceCurve
    base: float

    @classmethod
    def of(cls, ranker: Ranker, space: ScoreSpace, features: Any) -> Self | None:
        """What a ranker knows, by the first of the rows that its space was made with; None where it does not know."""
        curve, schema = chance_curve(ranker), space.columns.schema
        if curve is None or schema is None:
            return None
        score = ranker.decision_function(schema.encode(features[:1]))
        return cls(curve, float(score[0]) - space.own_score(0))

    def write(self, path: Path) -> None:
        """Keep it."""
        arrays = {"points": self.curve.points, "error": self.curve.error, "base": np.array(self.base)}
        write_arrays(path, {"kind": KIND, "format": 1}, arrays)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """What was kept; None in queues of before, and in those whose model did not know."""
        if not path.exists():
            return None
        _, arrays = read_arrays(path, KIND)
        return cls(ChanceCurve(arrays["points"], arrays["error"]), float(arrays["base"]))

    def foresee(self, own: Sequence[float]) -> Foreseen:
        """The chances of rows with these scores in the space, before any verdict."""
        return Foreseen(read_chance(self.curve.points, np.asarray(own) + self.base), self.curve)
