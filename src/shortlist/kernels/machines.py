"""What several machines that hold the rows of one table ask of each other; and one that has them all."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Sums(Protocol):
    """Adds up, and finds the largest of, what each of several machines has found in its rows."""

    def sum(self, values: Floats) -> Floats:
        """Element by element, over all machines."""

    def max(self, values: Floats) -> Floats:
        """Element by element, over all machines."""

    def gather(self, values: NDArray) -> NDArray:
        """The values of all machines, one machine after the other; they may have differing numbers of them."""


class Alone:
    """One machine has all rows."""

    def sum(self, values: Floats) -> Floats:
        """What was given."""
        return values

    def max(self, values: Floats) -> Floats:
        """What was given."""
        return values

    def gather(self, values: NDArray) -> NDArray:
        """What was given."""
        return values


ALONE = Alone()
