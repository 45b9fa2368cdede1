"""The reviewed rows that others are compared with: the latest verdicts of each kind, kept as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shortlist.feedback.spaces.forest import Integers
from shortlist.feedback.spaces.score_space import ScoreSpace

#: Verdicts that newer ones have replaced are removed when they are this share of those that are compared.
REPLACED = 1 / 8


@dataclass(frozen=True)
class Resemblance:
    """A reviewed row and how like it is: 1 = in the same leaf of every member."""

    row: int
    wanted: bool
    similarity: float


class Compared:
    """The latest ``most`` verdicts of each kind, with the leaves of their rows, in the order they were told.

    One more verdict reads the leaves of one more row, however many came before it.

    >>> space = ScoreSpace.from_isolation_forest(np.arange(8.0)[:, None], n_trees=2, random_state=0)
    >>> compared = Compared(space, most=1)
    >>> compared.add([(3, True), (4, False), (5, False)])
    >>> [(like.row, like.similarity) for like in compared.resembling(space.leaves([5])[0], 2)]
    [(5, 1.0)]
    """

    def __init__(self, space: ScoreSpace, most: int) -> None:
        self._space, self._most = space, most
        self._size = np.abs(space.values)
        self._room = max(1, round(2 * most * REPLACED))
        most_kept = 2 * most + self._room
        self._row = np.zeros(most_kept, dtype=np.int64)
        self._wanted = np.zeros(most_kept, dtype=bool)
        self._leaves = np.zeros((most_kept, space.n_members), dtype=np.int32)
        self._row_size = np.zeros(most_kept)
        self._n = 0

    def add(self, told: Sequence[tuple[int, bool]]) -> None:
        """Take the next verdicts."""
        for start in range(0, len(told), self._room):
            self._take(told[start : start + self._room])

    def resembling(self, leaves: Integers, n: int) -> tuple[Resemblance, ...]:
        """The reviewed rows that the row in these leaves, one of each member, is most like; of equals older ones."""
        latest, size = self._latest(), self._size[leaves]
        shared = np.sum((self._leaves[: self._n] == leaves.astype(np.int32)) * size, axis=1)[latest]
        norm = np.sqrt(self._row_size[latest] * size.sum())
        similarity = np.divide(shared, norm, out=np.zeros(norm.size), where=norm > 0)
        best = np.argsort(-similarity, kind="stable")[:n]
        return tuple(
            Resemblance(int(self._row[at]), bool(self._wanted[at]), like)
            for at, like in zip(latest[best].tolist(), similarity[best].tolist(), strict=True)
            if like > 0
        )

    def _take(self, told: Sequence[tuple[int, bool]]) -> None:
        if self._n + len(told) > self._row.size:
            self._drop_replaced()
        rows, new = [row for row, _ in told], slice(self._n, self._n + len(told))
        leaves = self._space.leaves(rows)
        self._row[new], self._wanted[new] = rows, [wanted for _, wanted in told]
        self._leaves[new], self._row_size[new] = leaves, self._size[leaves].sum(axis=1)
        self._n += len(told)

    def _latest(self) -> Integers:
        """Where those are that no newer verdict of their kind has replaced."""
        wanted = self._wanted[: self._n]
        kinds = (np.flatnonzero(kind)[-self._most :] for kind in (wanted, ~wanted))
        return np.sort(np.concatenate([*kinds]))

    def _drop_replaced(self) -> None:
        latest = self._latest()
        for kept in (self._row, self._wanted, self._leaves, self._row_size):
            kept[: latest.size] = kept[latest]
        self._n = latest.size
