"""A feedback ranker on disk: verdicts, settings and learned state in one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.feedback.spaces.files import read_arrays, write_arrays
from shortlist.feedback.spaces.score_space import ScoreSpace

KIND = "shortlist feedback ranker"


@dataclass(frozen=True, eq=False)
class RankerFile:
    """What a file holds of a ranker; its space is named by fingerprint and saved on its own."""

    strategy: str
    settings: dict[str, Any]
    seed: int
    space: str
    n_rows: int
    arrays: dict[str, NDArray]

    def write(self, path: Any) -> None:
        """Write it, replacing the file in one step."""
        values = {name: value for name, value in vars(self).items() if name != "arrays"}
        write_arrays(Path(path), {"kind": KIND, "format": 1, **values}, self.arrays)

    @classmethod
    def read(cls, path: Any, space: ScoreSpace) -> Self:
        """Read a ranker that was saved with this space."""
        header, arrays = read_arrays(Path(path), KIND)
        if header["space"] != space.fingerprint or header["n_rows"] > space.n_rows:
            raise InvalidInputError(
                f"{path} was saved with another score space (or with rows appended that this one lacks). "
                "Load the space that was saved with it: ScoreSpace.load(folder)."
            )
        names = ("strategy", "settings", "seed", "space", "n_rows")
        values = {name: header[name] for name in names}
        return cls(**values, arrays={name: np.asarray(array) for name, array in arrays.items()})
