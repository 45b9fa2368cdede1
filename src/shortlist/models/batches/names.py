"""Whether two rows of a table have one name, without holding all names in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shortlist.tables.io.scratch import told_when_full

#: Hashes of names that wait in memory before they go to disk.
WAITING = 500_000
#: Files that they are dealt to; each is looked through on its own.
_FILES = 64


class NamesSeen:
    """A set of names that goes to disk as it grows: 8 bytes a name, as hashes.

    >>> with NamesSeen() as seen:
    ...     seen.add(pl.Series(["a", "b"]))
    ...     seen.add(pl.Series(["c", "b"]))
    ...     seen.repeated([pl.Series(["a", "b"]), pl.Series(["c", "b"])])
    'b'
    """

    def __init__(self) -> None:
        self._waiting: list[NDArray[np.uint64]] = []
        self._n_waiting = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, names: pl.Series) -> None:
        """More names."""
        self._waiting.append(_hashes(names))
        self._n_waiting += len(names)
        if self._n_waiting > WAITING:
            self._spill()

    def repeated(self, again: Iterable[pl.Series]) -> object | None:
        """A name that came twice, or None; ``again`` reads all names once more where hashes alone cannot tell."""
        suspects = np.concatenate([np.empty(0, np.uint64), *map(_twice, self._buckets())])
        if not suspects.size:
            return None
        # Different names may share a hash, so the few that do are compared themselves.
        # By sorting: the other way overflows in older releases of NumPy.
        alike = [names.filter(pl.Series(np.isin(_hashes(names), suspects, kind="sort"))) for names in again]
        named = pl.concat([each.alias("name").to_frame() for each in alike], how="vertical_relaxed")["name"]
        twice = named.filter(named.is_duplicated())
        return twice[0] if len(twice) else None

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="shortlist-")
        hashes = np.concatenate(self._waiting)
        self._waiting, self._n_waiting = [], 0
        number = (hashes >> np.uint64(58)).astype(np.uint8)  # numbers this small are sorted by counting
        order, ends = np.argsort(number, kind="stable"), np.cumsum(np.bincount(number, minlength=_FILES))
        with told_when_full():
            for at, part in enumerate(np.split(hashes[order], ends[:-1])):
                with (Path(self._folder.name) / str(at)).open("ab") as file:
                    file.write(part.tobytes())

    def _buckets(self) -> Iterable[NDArray[np.uint64]]:
        if self._folder is None:
            yield from [np.concatenate(self._waiting)] if self._waiting else []
            return
        self._spill() if self._waiting else None
        for at in range(_FILES):
            yield np.fromfile(Path(self._folder.name) / str(at), dtype=np.uint64)


def _hashes(names: pl.Series) -> NDArray[np.uint64]:
    return names.hash(seed=0).to_numpy()


def _twice(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    hashes = np.sort(hashes)
    return np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
