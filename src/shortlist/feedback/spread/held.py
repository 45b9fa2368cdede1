"""Rows of a table of Dask that a score space is made with: each worker takes a run of partitions and places them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import ClusterError
from shortlist.feedback.spaces.forest import Integers
from shortlist.feedback.spaces.score_space import ScoreSpace
from shortlist.feedback.spread.part import SpacePart
from shortlist.feedback.spread.space import SpreadSpace
from shortlist.feedback.spread.workers import LOOK_EVERY, Workers
from shortlist.rankers.cluster.on_dask import memory_limit, partitions, present_client, told_in_a_sentence
from shortlist.rankers.cluster.pieces import check_alike, describe_columns, learn_schema, no_rows
from shortlist.rankers.cluster.troubles import Work, lost
from shortlist.tables.features import Columns

PLACING = Work("placed rows", "there is no score space", "make it again")
#: Bytes that a ranker keeps of each row beside its leaves: sum, own score, key, and whether it has a verdict.
BYTES_OF_A_ROW = 25


class HeldRows:
    """The rows of a Dask data frame or array as numbers, held by the workers until a space is made of them.

    Rows are numbered in the order of the partitions, as they would be on one machine.
    """

    def __init__(self, X: Any, columns: Columns | None = None) -> None:
        self._client = present_client("place rows on")
        with told_in_a_sentence(self._client, PLACING):
            pieces = partitions(X, "X")
            machines = sorted(self._client.nthreads())
            if not machines:
                raise ClusterError("the cluster has no workers to place rows on; start some.")
            self._runs = dict(zip(machines, _runs(len(pieces), len(machines)), strict=False))
            where = [machine for machine, run in self._runs.items() for _ in run]
            held = [
                self._client.compute(piece, workers=[machine], allow_other_workers=False)
                for piece, machine in zip(pieces, where, strict=True)
            ]
            self._starts = np.cumsum([0, *self._gathered(self._client.map(len, held, pure=False))])
            self.n_rows = int(self._starts[-1])
            if not self.n_rows:
                raise no_rows()
            self.columns = self._learned(held) if columns is None else columns
            self._matrices = [
                self._client.submit(_as_numbers, piece, self.columns, workers=[machine], pure=False)
                for piece, machine in zip(held, where, strict=True)
            ]

    def _learned(self, held: Sequence[Any]) -> Columns:
        facts = self._gathered(self._client.map(describe_columns, held, pure=False))
        check_alike(facts)
        schema = learn_schema(facts)
        if schema is not None:
            return Columns.of_schema(schema)
        width = facts[0].n_columns
        return Columns([f"x{i}" for i in range(width)], np.zeros(width, dtype=bool))

    def take(self, drawn: Sequence[Integers]) -> Iterable[NDArray]:
        """Rows are fetched once, however often they were drawn."""
        wanted = np.unique(np.concatenate(drawn))
        owners = np.searchsorted(self._starts[:-1], wanted, side="right") - 1
        with told_in_a_sentence(self._client, PLACING):
            asked = [
                self._client.submit(
                    _rows_of, self._matrices[i], wanted[owners == i] - self._starts[i], pure=False
                )
                for i in np.unique(owners)
            ]
            found = np.concatenate(self._gathered(asked))
        return (found[np.searchsorted(wanted, rows)] for rows in drawn)

    def placed(self, space: ScoreSpace) -> SpreadSpace:
        """Each worker places its rows, and keeps their leaves."""
        starts = np.array([self._starts[run.start] for run in self._runs.values()])
        with told_in_a_sentence(self._client, PLACING):
            self._check_capacity(space, np.diff([*starts, self.n_rows]))
            made = self._client.scatter(space, broadcast=True, hash=False)
            futures = [
                self._client.submit(
                    SpacePart,
                    made,
                    [self._matrices[i] for i in run],
                    int(start),
                    workers=[machine],
                    allow_other_workers=False,
                    actor=True,
                    pure=False,
                    retries=0,
                )
                for (machine, run), start in zip(self._runs.items(), starts, strict=True)
            ]
            actors = self._gathered(futures)
        self._matrices = []
        return SpreadSpace(space, Workers(self._client, [*self._runs], actors, starts), self.n_rows)

    def _gathered(self, futures: Sequence[Any]) -> list[Any]:
        """What futures come to; Dask would wait for ever for those that only a machine which is gone may compute."""
        from distributed import wait  # noqa: PLC0415 - an extra

        waiting = True
        while waiting:
            try:
                wait(futures, timeout=LOOK_EVERY)
                waiting = False
            except TimeoutError:
                there = self._client.nthreads()
                gone = [machine for machine in self._runs if machine not in there]
                if gone:
                    raise lost(gone, PLACING) from None
        return list(self._client.gather(futures))

    def _check_capacity(self, space: ScoreSpace, rows: Integers) -> None:
        """Refuse rows that do not fit into the memory of their machine, before any work is done."""
        each = space.n_members * space.leaf_ids.itemsize + BYTES_OF_A_ROW + 4 * len(self.columns.names)
        limits = self._client.run(memory_limit, workers=[*self._runs])
        for machine, n_rows in zip(self._runs, rows.tolist(), strict=True):
            if limits[machine] and n_rows * each > limits[machine]:
                raise ClusterError(
                    f"worker {machine} would hold {n_rows:,} rows of {space.n_members} members, which take about "
                    f"{n_rows * each / 1e9:.2g} GB, and has {limits[machine] / 1e9:.2g} GB. Use more or larger "
                    "workers, or fewer trees."
                )


def _runs(n_partitions: int, n_machines: int) -> list[range]:
    """Partitions one after the other for each machine, as many for each; no machine without any.

    >>> _runs(5, 2)
    [range(0, 3), range(3, 5)]
    >>> _runs(1, 2)
    [range(0, 1)]
    """
    used = min(n_partitions, n_machines)
    ends = [-(-n_partitions * number // used) for number in range(used + 1)]
    return [range(low, high) for low, high in pairwise(ends)]


def _as_numbers(piece: Any, columns: Columns) -> NDArray:
    return columns.matrix(piece) if len(piece) else np.empty((0, len(columns.names)), dtype=np.float32)


def _rows_of(matrix: NDArray, rows: Integers) -> NDArray:
    return matrix[rows]
