"""Average precision of weighted rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from shortlist.exceptions import NoWantedRowsError
from shortlist.metrics.ties import Floats, Ties, tie_starts


def weighted_average_precision(wanted: NDArray[np.bool_], score: Floats, weight: Floats, ties: Ties) -> float:
    """Weighted mean of the weighted precisions at the wanted rows; rows of weight 0 do not exist."""
    kept = weight > 0
    wanted, score, weight = wanted[kept], score[kept], weight[kept]
    if not wanted.any():
        raise NoWantedRowsError(
            "sample_weight is 0 for every wanted row; give at least one of them a weight."
        )
    order = np.argsort(-score, kind="stable")
    wanted, weight = wanted[order], weight[order] / weight.max()
    hit_weight = np.where(wanted, weight, 0.0)
    starts = tie_starts(score[order])
    all_upto = np.cumsum(np.add.reduceat(weight, starts))
    hits_upto = np.cumsum(np.add.reduceat(hit_weight, starts))
    sizes = np.diff(starts, append=weight.size)
    if ties == "worst" or starts.size == weight.size:
        precisions = np.repeat(hits_upto / all_upto, sizes)[wanted]
    else:
        block = np.repeat(np.arange(starts.size), sizes)[wanted]
        precisions = _expected_precisions(weight[wanted], block, sizes, all_upto, hits_upto)
    return float(weight[wanted] @ precisions / hits_upto[-1])


def _expected_precisions(
    own: Floats, block: NDArray[np.int64], sizes: NDArray[np.int64], all_upto: Floats, hits_upto: Floats
) -> Floats:
    """The precision at each wanted row, averaged over the n places of its block that it can take.

    At place j the row has j - 1 of the block's n - 1 others before it and so, on average, that share of
    their weight. Precision is taken at those means: (c + a j)/(r + b j), whose sum over places is a digamma
    difference. Exact where the others in a block weigh alike and where a block has two rows.
    """
    n = sizes[block].astype(np.float64)
    c, r = np.append(0.0, hits_upto)[block] + own, np.append(0.0, all_upto)[block] + own
    others = np.maximum(n - 1, 1)
    a = np.maximum(hits_upto[block] - c, 0) / others
    b = np.maximum(all_upto[block] - r, 0) / others
    expected = (c + a * others / 2) / (r + b * others / 2)
    # A block that hardly adds to the weight before it: the middle place is exact to 1e-9, and digammas that
    # are nearly equal would lose more digits than that.
    wide = n * b > 1e-4 * r
    a, b, c, r, n = a[wide], b[wide], c[wide], r[wide], n[wide]
    inverse_places = digamma(r / b + n) - digamma(r / b)
    expected[wide] = a / b + (c - a * r / b) / b * inverse_places / n
    return expected
