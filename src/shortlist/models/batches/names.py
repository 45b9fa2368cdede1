"""Whether two rows of a table have one name, without holding all names in memory.

Names that are numbers and rise from row to row, as tables mostly have them, are all different: of these only the last
is kept. Of others it is hashes, on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.scratch import scratch_folder

#: Hashes of names that wait in memory before they go to disk.
WAITING = 500_000
#: Files that they are dealt to; each is looked through on its own.
_FILES = 64


class NamesSeen:
    """A set of names that goes to disk as it grows: 8 bytes a name at most, as hashes.

    >>> with NamesSeen() as seen:
    ...     seen.add(pl.Series(["a", "b"]))
    ...     seen.add(pl.Series(["c", "b"]))
    ...     seen.repeated(lambda: [pl.Series(["a", "b"]), pl.Series(["c", "b"])])
    'b'
    """

    def __init__(self) -> None:
        self._all_rise, self._n_rising, self._last = True, 0, -np.inf
        self._waiting: list[NDArray[np.uint64]] = []
        self._n_waiting = 0
        self._folder: Path | None = None
        self._scratch = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scratch.__exit__(kind, error, trace)

    def add(self, names: pl.Series) -> None:
        """More names."""
        self._all_rise = self._all_rise and _rise(names, self._last)
        if not self._all_rise:
            self._keep(names)
        elif len(names):
            self._n_rising += len(names)
            self._last = names[-1]

    def repeated(self, again: Callable[[], Iterable[pl.Series]]) -> object | None:
        """A name that came twice, or None; ``again`` reads all names once more, where what was kept cannot tell."""
        if self._all_rise:
            return None
        for names in _first(again(), self._n_rising):
            self._keep(names)
        self._n_rising = 0
        suspects = np.concatenate([np.empty(0, np.uint64), *map(_twice, self._buckets())])
        if not suspects.size:
            return None
        # Different names may share a hash, so the few that do are compared themselves.
        # By sorting: the other way overflows in older releases of NumPy.
        alike = [names.filter(pl.Series(np.isin(_hashes(names), suspects, kind="sort"))) for names in again()]
        named = pl.concat([each.alias("name").to_frame() for each in alike], how="vertical_relaxed")["name"]
        twice = named.filter(named.is_duplicated())
        return twice[0] if len(twice) else None

    def _keep(self, names: pl.Series) -> None:
        self._waiting.append(_hashes(names))
        self._n_waiting += len(names)
        if self._n_waiting > WAITING:
            self._spill()

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = self._scratch.enter_context(scratch_folder())
        hashes = np.concatenate(self._waiting)
        self._waiting, self._n_waiting = [], 0
        number = (hashes >> np.uint64(58)).astype(np.uint8)  # numbers this small are sorted by counting
        order, ends = np.argsort(number, kind="stable"), np.cumsum(np.bincount(number, minlength=_FILES))
        for at, part in enumerate(np.split(hashes[order], ends[:-1])):
            with (self._folder / str(at)).open("ab") as file:
                file.write(part.tobytes())

    def _buckets(self) -> Iterable[NDArray[np.uint64]]:
        if self._folder is None:
            yield from [np.concatenate(self._waiting)] if self._waiting else []
            return
        self._spill() if self._waiting else None
        for at in range(_FILES):
            yield np.fromfile(self._folder / str(at), dtype=np.uint64)


def _rise(names: pl.Series, last: float) -> bool:
    """Whether each is a larger number than the one before it; the first, than the last of those before."""
    if not names.dtype.is_integer() or names.dtype == pl.Int128 or names.null_count():
        return False
    numbers = names.to_numpy()
    return numbers.size == 0 or bool(numbers[0] > last and (numbers[1:] > numbers[:-1]).all())


def _first(batches: Iterable[pl.Series], n_names: int) -> Iterator[pl.Series]:
    for names in batches:
        if n_names <= 0:
            return
        yield names.head(n_names)
        n_names -= len(names)


def _hashes(names: pl.Series) -> NDArray[np.uint64]:
    return names.hash(seed=0).to_numpy()


def _twice(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    if pl.Series(hashes).n_unique() == hashes.size:  # as mostly, and faster than sorting
        return np.empty(0, dtype=np.uint64)
    hashes = np.sort(hashes)
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
