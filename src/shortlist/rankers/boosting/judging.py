"""Average precision of rows that lie on several machines: the same number, to the bit, as on one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.average_precision import above_and_at, average_precision_of_blocks
from shortlist.metrics import average_precision
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.trees.engine import Judge


def spread_average_precision(batch: Batch) -> Judge:
    """Judges margins of the rows of one list, of which this machine holds a part.

    The margins of wanted rows go round; of all others only the numbers above and at each of them do. Rows with weights
    go round themselves.
    """
    lists, sums, weight = batch.lists, batch.lists.sums, batch.sample_weight
    if weight is not None:
        y, weights = lists.of_all_rows(batch.y), lists.of_all_rows(weight)
        return lambda margin: average_precision(y, lists.of_all_rows(margin), sample_weight=weights)
    wanted = np.flatnonzero(batch.y)
    others = np.flatnonzero(~batch.y)

    def judge(margin: NDArray[np.float32]) -> float:
        blocks, hits = np.unique(sums.gather(margin[wanted]), return_counts=True)
        counts = sums.sum(above_and_at(margin[others], blocks))
        # From the top down, as one machine adds them up.
        return float(average_precision_of_blocks(hits[::-1], counts[0, ::-1], counts[1, ::-1]))

    return judge
