"""What each machine does: train on its part of the rows, in step with the others.

It is the training of one machine. What differs is that the lists of its rows have a place in a larger table, and sums
go over all machines; so the model is the same to the bit, whoever holds which rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.machines import Sums
from shortlist.lists import Lists, Place
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch
from shortlist.rankers.cluster.collective import connected

AnyRanker = TypeVar("AnyRanker", bound=Ranker)


@dataclass(frozen=True, eq=False)
class Part:
    """The rows that one machine holds."""

    X: NDArray  # float32, categories as codes; the same columns everywhere
    y: NDArray  # as the ranker learns it: wanted or not, or the impact
    rows: NDArray[np.uint64]  # their numbers in the whole table
    lists: NDArray | None = (
        None  # the list of each row, none of which lies elsewhere too; None: all rows are one list
    )
    sample_weight: NDArray[np.float64] | None = None
    keys: NDArray[np.uint64] | None = None  # hashes of their ids, where they have some

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Part:
        """All rows of several parts, of which each has what the first has."""
        given = {each.name: [getattr(part, each.name) for part in parts] for each in fields(cls)}
        joined: dict[str, Any] = {
            name: None if arrays[0] is None else np.concatenate(arrays) for name, arrays in given.items()
        }
        return cls(**joined)

    def take(self, rows: NDArray[np.int64]) -> Part:
        """Some of the rows, by position."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        taken: dict[str, Any] = {
            name: None if array is None else array[rows] for name, array in given.items()
        }
        return Part(**taken)

    def batch(self, categorical: NDArray[np.bool_], sums: Sums | None = None) -> Batch:
        """The rows in the order of the table, with their place in it where other machines have the rest."""
        order = np.argsort(self.rows, kind="stable")
        weight = None if self.sample_weight is None else self.sample_weight[order]
        lists = _lists(self.rows[order], None if self.lists is None else self.lists[order], sums)
        lists = replace(lists, keys=None if self.keys is None else self.keys[order])
        return Batch(self.X[order], self.y[order], lists, weight, categorical)


def _lists(rows: NDArray[np.uint64], names: NDArray | None, sums: Sums | None) -> Lists:
    lists = Lists.single(rows.size) if names is None else Lists.from_groups(names)
    if sums is None:
        return lists
    if names is None:
        return replace(lists, place=Place(sums, rows))
    # Lists are numbered by their first row, as on one machine.
    first = rows[lists.order[lists.starts[:-1]]]
    everywhere = np.sort(sums.gather(first))
    return replace(lists, place=Place(sums, rows, np.searchsorted(everywhere, first), everywhere.size))


def train_part(
    ranker: AnyRanker, part: Part, categorical: NDArray[np.bool_], communicator: Mapping[str, Any] | None
) -> AnyRanker:
    """Train on this part of the rows, in step with the machines that hold the others; all get the same model.

    The ranker knows its columns and classes already.

    communicator : how to find the other machines; None: there are none
    """
    with connected(communicator) if communicator is not None else nullcontext() as sums:
        batch = part.batch(categorical, sums)
        ranker._fit(batch)
        ranker._calibrate(batch)
    return ranker
