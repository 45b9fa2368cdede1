"""The labels a stream has been told, in the order of their rows, as long as they count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.growing import GrowingArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabelBuffer:
    """Labelled rows by their number in the stream; a label told late takes the place it would have had.

    ``log_decays`` are the logarithms of the decay when each label was asked for: with rows in order they never
    grow, so that the labels that count least come first.

    >>> labels = LabelBuffer()
    >>> labels.add(np.array([7, 3]), np.array([[0.7], [0.3]]), np.array([True, False]), 0.0)
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
    def log_decays(self) -> Floats:
        """Logarithm of the decay when each label was asked for."""
        return self._values("log_decays", np.empty(0))

    def add(self, rows: Rows, X: NDArray, wanted: NDArray[np.bool_], log_decay: float) -> bool:
        """Keep new labels; True: all of them come after those that were there."""
        if not rows.size:
            return True
        order = rows.argsort(kind="stable")
        new = {"rows": rows[order], "X": X[order], "wanted": wanted[order]}
        at_end = not len(self) or bool(new["rows"][0] > self.rows[-1])
        self._append(new | {"log_decays": np.full(rows.size, log_decay)})
        if not at_end:
            self.keep(self.rows.argsort(kind="stable"))
        return at_end

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

    def keep(self, places: Rows) -> None:
        """Forget all labels but those at these places."""
        self._parts = {name: GrowingArray(part.values[places]) for name, part in self._parts.items()}

    def drop_first(self, count: int) -> None:
        """Forget the first labels."""
        for part in self._parts.values():
            part.drop_first(count)

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
