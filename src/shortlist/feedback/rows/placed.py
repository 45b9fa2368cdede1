"""What rows need to know of the score space in which they are placed."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import NDArray

from shortlist.feedback.rows.parts import Parts
from shortlist.feedback.spaces.forest import Floats, Forest
from shortlist.feedback.spaces.index import LeafIndex


class Placed(Protocol):
    """A ``ScoreSpace``, which is made in a room above."""

    n_rows: int
    first_rows: int
    forest: Forest
    values: Floats
    leaf_ids: NDArray
    index: LeafIndex | None

    @property
    def n_members(self) -> int:
        """How many trees there are."""

    @property
    def n_leaves(self) -> int:
        """How many leaves all of them have together."""

    def row_sums(self, per_leaf: Floats, last: int, *, first: int = 0) -> Floats:
        """Per row: the sum over its leaves of a number per leaf."""

    def parts(self, seed: int) -> Parts:
        """What a ranker with this seed asks about rows."""
