"""The labels a stream has been told, in the order of their rows, as long as they count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

_ARRAYS = ("rows", "X", "wanted", "log_decays")


class LabelBuffer:
    """Labelled rows by their number in the stream; a label told late takes the place it would have had.

    ``log_decays`` are the logarithms of the decay when each label was asked for: with rows in order they never
    grow, so that the labels that count least come first.

    >>> labels = LabelBuffer()
    >>> labels.add(np.array([7, 3]), np.array([[0.7], [0.3]]), np.array([True, False]), 0.0)
    >>> labels.rows, labels.wanted
    (array([3, 7]), array([False,  True]))
    """

    def __init__(self) -> None:
        self.rows = np.empty(0, dtype=np.int64)
        self.X: NDArray | None = None
        self.wanted = np.empty(0, dtype=bool)
        self.log_decays = np.empty(0)

    def __len__(self) -> int:
        return self.rows.size

    def add(self, rows: Rows, X: NDArray, wanted: NDArray[np.bool_], log_decay: float) -> bool:
        """Keep new labels; True: all of them come after those that were there."""
        at_end = not len(self) or not rows.size or rows.min() > self.rows[-1]
        order = np.argsort(rows, kind="stable")
        self.rows = np.concatenate([self.rows, rows[order]])
        self.X = X[order] if self.X is None else np.concatenate([self.X, X[order]])
        self.wanted = np.concatenate([self.wanted, wanted[order]])
        self.log_decays = np.concatenate([self.log_decays, np.full(rows.size, log_decay)])
        if not at_end:
            self.keep(np.argsort(self.rows, kind="stable"))
        return bool(at_end)

    def weights(self, log_decay: float) -> Floats:
        """How much each label counts now."""
        return np.exp(log_decay - self.log_decays)

    def n_below(self, weight: float, log_decay: float) -> int:
        """How many labels count no more than this; they are the first ones."""
        return int(np.searchsorted(-self.log_decays, np.log(weight) - log_decay, side="right"))

    def newest(self, most: int) -> Rows:
        """Places of the newest labels of each kind, as many of the rarer kind as there is room for."""
        wanted, unwanted = np.flatnonzero(self.wanted)[::-1], np.flatnonzero(~self.wanted)[::-1]
        wanted = wanted[: max(most // 2, most - unwanted.size)]
        return np.sort(np.concatenate([wanted, unwanted[: most - wanted.size]]))

    def keep(self, places: Any) -> None:
        """Forget all labels but those at these places."""
        for name in _ARRAYS:
            setattr(self, name, getattr(self, name)[places])

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state that was kept."""
        for name in _ARRAYS:
            setattr(self, name, state[name])
