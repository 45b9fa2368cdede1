"""The labels a stream has been told, in the order of their rows, as long as they count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.learners.growing_array import GrowingArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelBuffer:
    """Labelled rows by their number in the stream; a label told late takes the place it would have had.

    Labels count less with every window. With rows in order, those that count least come first.

    >>> labels = LabelBuffer()
    >>> labels.add(np.array([7, 3]), np.array([[0.7], [0.3]]), np.array([True, False]), weight=1.0)
    True
    >>> labels.rows, labels.wanted
    (array([3, 7]), array([False,  True]))
    """

    def __init__(self) -> None:
        self._parts: dict[str, GrowingArray] = {}

    def __len__(self) -> int:
        return len(self._parts["rows"]) if self._parts else 0

    @property
    def rows(self) -> Rows:
        """Numbers of the labelled rows, ascending."""
        return self._values("rows", np.empty(0, dtype=np.int64))

    @property
    def X(self) -> NDArray:
        """Raw features of the labelled rows."""
        return self._values("X", np.empty((0, 0)))

    @property
    def wanted(self) -> NDArray[np.bool_]:
        """What the labels say."""
        return self._values("wanted", np.empty(0, dtype=bool))

    @property
    def weights(self) -> Floats:
        """How much each label counts."""
        return self._values("weights", np.empty(0))

    def add(self, rows: Rows, X: NDArray, wanted: NDArray[np.bool_], weight: float) -> bool:
        """Keep new labels; True: all of them come after those that were there."""
        if not rows.size:
            return True
        order = rows.argsort(kind="stable")
        new = {"rows": rows[order], "X": X[order], "wanted": wanted[order]}
        at_end = not len(self) or bool(new["rows"][0] > self.rows[-1])
        self._append(new | {"weights": np.full(rows.size, weight)})
        if not at_end:
            self.keep(self.rows.argsort(kind="stable"))
        return at_end

    def fade(self, factor: float, least: float) -> int:
        """Let all labels count less, and forget those that then count no more than ``least``; gives how many."""
        weights = self.weights
        weights *= factor
        forgotten = int(weights.searchsorted(least, side="right"))
        for part in self._parts.values():
            part.drop_first(forgotten)
        return forgotten

    def newest(self, most: int) -> Rows:
        """Places of the newest labels of each kind, as many of the rarer kind as there is room for."""
        wanted, unwanted = np.flatnonzero(self.wanted)[::-1], np.flatnonzero(~self.wanted)[::-1]
        wanted = wanted[: max(most // 2, most - unwanted.size)]
        return np.sort(np.concatenate([wanted, unwanted[: most - wanted.size]]))

    def keep(self, places: Rows) -> None:
        """Forget all labels but those at these places."""
        self._parts = {name: GrowingArray(part.values[places]) for name, part in self._parts.items()}

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return {name: part.values for name, part in self._parts.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state that was kept."""
        self._parts = {name: GrowingArray(values) for name, values in state.items()}

    def _append(self, new: dict[str, NDArray]) -> None:
        for name, values in new.items():
            if name in self._parts:
                self._parts[name].append(values)
            else:
                self._parts[name] = GrowingArray(values)

    def _values(self, name: str, none: NDArray) -> NDArray:
        return self._parts[name].values if name in self._parts else none
