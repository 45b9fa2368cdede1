"""What the ranker of a stream asks of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.columns import StreamColumns
from shortlist.stream.window import OpenWindow


class Learner(ABC):
    """Learns from labels as they come (``hear``) or from a window that has all of its labels (``close``)."""

    #: True: asks for all labels of a window at once; False: what to ask next depends on the answers.
    one_round: bool = True
    #: True: keeps raw rows and learns anew when the scales of columns change; False: they must not change.
    follows_scales: bool = True
    #: True: learns from single labels (``hear``).
    hears: bool = False

    @property
    @abstractmethod
    def ready(self) -> bool:
        """Whether it has learned enough to score."""

    @abstractmethod
    def scores(self, X: NDArray, columns: StreamColumns) -> NDArray[np.float64]:
        """Scores of raw rows, once ready."""

    # A learner overrides the events that concern it; the others may pass.

    def hear(self, rows: NDArray[np.int64], X: NDArray, wanted: NDArray[np.bool_], log_decay: float) -> None:  # noqa: B027
        """Labels of single rows arrived, in any order."""

    def close(self, window: OpenWindow, columns: StreamColumns) -> None:  # noqa: B027
        """A window has all the labels it needs."""

    def fade(self, factor: float) -> None:  # noqa: B027
        """A new window begins: what was learned before counts by this factor."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What must be kept to go on later, as arrays and plain values."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state that was kept."""
        for name, value in state.items():
            setattr(self, name, value)
