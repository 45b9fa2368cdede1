"""Rows of a score space that one worker holds: an actor of Dask, which keeps what changes as rankers learn."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.feedback.rows.part import RowPart
from shortlist.feedback.spaces.forest import Floats, Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.kernels.feedback.trees import BLOCK


class SpacePart:
    """Some rows of a space, the first of which has the number ``first``, and what each ranker knows of them.

    space : what the space is made of, without rows
    """

    def __init__(self, space: ScoreSpace, matrices: Sequence[NDArray], first: int) -> None:
        filled = [each for each in matrices if each.shape[0]]
        self.space = copy(space).fill(filled, sum(each.shape[0] for each in filled))
        self.first = first
        self._known: dict[str, RowPart] = {}

    def open(self, ranker: str, seed: int, others: Sequence[str]) -> None:
        """Keep keys for one more ranker, and for no other but these."""
        kept = {name: part for name, part in self._known.items() if name in others}
        self._known = {**kept, ranker: RowPart(self.space, seed, self.first)}

    def of_ranker(self, ranker: str, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> Any:
        """Call methods of the rows as a ranker knows them, one after the other; what the last of them gives."""
        part = self._known[ranker]
        return [getattr(part, name)(*given) for name, given in calls][-1]

    def leaves(self, rows: Integers) -> NDArray:
        """The leaf of each member that rows are in, counted within the member."""
        own = rows - self.first
        return self.space.leaf_ids[own // BLOCK, :, own % BLOCK]

    def counts(self) -> tuple[Floats, Floats]:
        """How many rows each leaf holds, and the sum of their numbers, from 1."""
        n_rows = self.space.n_rows
        numbers = np.arange(self.first + 1.0, self.first + n_rows + 1)
        return self.space.leaf_sums(np.ones(n_rows)), self.space.leaf_sums(numbers)

    def build_index(self) -> None:
        """Sort rows by leaf."""
        self.space.build_index()
