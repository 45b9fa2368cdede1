"""What leaves add up to along the paths of trees."""

from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def sum_up(parent: NDArray, order: NDArray, total: NDArray) -> None:
    """Add what each node has to its parent (in place); in ``order`` no node comes before one below it."""
    for node in order:
        total[parent[node]] += total[node]


@compiled
def push(
    nodes: NDArray,
    value: NDArray,
    parent: NDArray,
    feature: NDArray,
    total: NDArray,
    rows: NDArray,
    out: NDArray,
) -> None:
    """Walk from leaves to the roots, all of them one step at a time, and add to ``out``, by the column that is cut
    there, what each cut changes in the average of its rows; ``nodes`` and ``value`` are used up.
    """
    left = nodes.size
    while left:
        kept = 0
        for i in range(left):
            up = parent[nodes[i]]
            if up < 0:
                continue
            average = total[up] / rows[up] if rows[up] > 0 else value[i]
            out[feature[up]] += value[i] - average
            nodes[kept], value[kept] = up, average
            kept += 1
        left = kept
