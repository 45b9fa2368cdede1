"""Measures of rows of Dask, which may lie on many machines: partitions are counted where they lie.

What comes together are the scores of wanted rows or the first k of each partition; of all others only numbers do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError, NoWantedRowsError
from shortlist.kernels.average_precision import above_and_at, average_precision_of_blocks
from shortlist.metrics.checks import check_k
from shortlist.metrics.ties import Floats, Ties
from shortlist.validation import check_score, check_wanted

Flags = NDArray[np.bool_]


def is_of_dask(*given: Any) -> bool:
    """Whether one of them is a collection of Dask."""
    return any(hasattr(each, "__dask_graph__") for each in given)


class SpreadRows:
    """Outcomes and scores of rows of Dask; both are computed once and stay where they lie."""

    def __init__(self, y: Any, score: Any, **refused: Any) -> None:
        import dask  # noqa: PLC0415 - an extra

        for name, given in refused.items():
            if given is not None:
                raise InvalidInputError(f"of rows of Dask this is measured without {name}; leave it out.")
        if not (is_of_dask(y) and is_of_dask(score)):
            raise InvalidInputError(
                "y and score are columns of the same table of Dask, or both are here; give them alike."
            )
        held = [np.ravel(each.to_delayed()) for each in dask.persist(y, score)]
        if held[0].size != held[1].size:
            raise InvalidInputError(
                f"y has {held[0].size} partitions and score has {held[1].size}; give both as columns of the same table."
            )
        self._parts = [*zip(*held, strict=True)]
        self.n_rows, self.n_wanted = np.sum(self.each(_sizes), axis=0).tolist()
        if not self.n_wanted:
            raise NoWantedRowsError(
                f"y marks none of its {self.n_rows} rows as wanted, so there is nothing to find. Measure on rows that "
                "hold at least one wanted row."
            )

    def each(self, count: Callable[..., Any], *given: Any) -> list[Any]:
        """What is counted in each partition."""
        import dask  # noqa: PLC0415 - an extra

        return list(
            dask.compute(*(dask.delayed(_counted)(count, y, score, *given) for y, score in self._parts))
        )

    def average_precision(self, ties: Ties) -> float:
        """That of all rows, exactly."""
        found = np.concatenate(self.each(lambda wanted, score: score[wanted]))
        blocks, hits = np.unique(found, return_counts=True)
        above, at = np.sum(self.each(_misses, blocks), axis=0)[:, ::-1]
        hits = hits[::-1]
        if ties == "worst":
            found_by = np.cumsum(hits)
            return float(np.sum(hits * found_by / (found_by + above + at)) / self.n_wanted)
        return float(average_precision_of_blocks(hits, above, at))

    def hits_at_k(self, k: float, ties: Ties) -> tuple[float, int]:
        """Wanted rows among the first k, and how many rows k is."""
        rows = check_k(k, self.n_rows)
        first = np.concatenate(self.each(_first, rows))
        kth = np.sort(first)[-rows]
        n_above, hits_above, n_tied, hits_tied = np.sum(self.each(_around, kth), axis=0).tolist()
        room = rows - n_above
        share = float(room == n_tied) if ties == "worst" else room / n_tied
        return hits_above + share * hits_tied, rows


def _counted(count: Callable[..., Any], y: Any, score: Any, *given: Any) -> Any:
    wanted = check_wanted(np.asarray(y)) if len(y) else np.empty(0, bool)
    return count(wanted, check_score(np.asarray(score), len(y)) if len(y) else np.empty(0), *given)


def _sizes(wanted: Flags, score: Floats) -> tuple[int, int]:
    return wanted.size, int(wanted.sum())


def _misses(wanted: Flags, score: Floats, blocks: Floats) -> NDArray[np.float64]:
    return above_and_at(score[~wanted], blocks)


def _first(wanted: Flags, score: Floats, k: int) -> Floats:
    return score if score.size <= k else np.partition(score, score.size - k)[score.size - k :]


def _around(wanted: Flags, score: Floats, kth: float) -> tuple[int, int, int, int]:
    above, tied = score > kth, score == kth
    return int(above.sum()), int((above & wanted).sum()), int(tied.sum()), int((tied & wanted).sum())
