"""Equal scores: what a rank measure makes of rows whose order the scores leave open.

``"average"`` takes the expectation over all orders of the tied rows, so a tie neither flatters nor punishes
(TARGET, appendix A.1). ``"worst"`` gives every tied row the last rank of its block (SGBAP, Eq. 4-5);
for average precision that is not always the lower figure, because tied wanted rows then all count each other.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError

Floats = NDArray[np.float64]
Ties = Literal["average", "worst"]


def check_ties(ties: Ties) -> Ties:
    """One of the two conventions."""
    if ties not in ("average", "worst"):
        raise InvalidInputError(f"ties must be 'average' or 'worst'; got {ties!r}.")
    return ties


def tie_starts(ranked_score: Floats, list_starts: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Where blocks of tied rows start in ranked order; a block never spans two lists.

    >>> tie_starts(np.array([9.0, 7.0, 7.0, 1.0]))
    array([0, 1, 3])
    """
    starts = np.ones(ranked_score.size, dtype=bool)
    np.not_equal(ranked_score[1:], ranked_score[:-1], out=starts[1:])
    if list_starts is not None:
        starts[list_starts] = True
    return np.flatnonzero(starts)


def share_ties(by_rank: Floats, starts: NDArray[np.int64], ties: Ties) -> Floats:
    """What each tied row gets of the values of its block's ranks: their mean, or the value of the last rank.

    >>> share_ties(np.array([1.0, 0.5, 0.25]), np.array([0, 1]), "average")
    array([1.   , 0.375, 0.375])
    """
    if starts.size == by_rank.size:
        return by_rank
    sizes = np.diff(starts, append=by_rank.size)
    if ties == "worst":
        return np.repeat(by_rank[starts + sizes - 1], sizes)
    return np.repeat(np.add.reduceat(by_rank, starts) / sizes, sizes)
