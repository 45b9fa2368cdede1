"""Sums of hinges with a quadratic prior, solved in the dual."""

from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def fit_hinges(
    gram: NDArray,
    margin: NDArray,
    cost: NDArray,
    stiffness: float,
    max_sweeps: int,
    tolerance: float,
    dual: NDArray,
) -> int:
    """Minimise Σ cost_i·max(0, margin_i - w·z_i) + stiffness/2·‖w - w_0‖² by ascent in one coordinate at a time.

    ``gram`` holds z_i·z_j and ``margin`` comes in as margin_i - w_0·z_i; it is kept up to date. The solution is
    w_0 + Σ dual_i z_i / stiffness with 0 <= dual_i <= cost_i. Returns the number of sweeps.
    """
    for sweep in range(max_sweeps):
        largest = 0.0
        for i in range(margin.size):
            if gram[i, i] <= 0:
                continue
            moved = min(max(dual[i] + stiffness * margin[i] / gram[i, i], 0.0), cost[i]) - dual[i]
            if moved != 0.0:
                dual[i] += moved
                largest = max(largest, abs(moved) / cost[i])
                for j in range(margin.size):
                    margin[j] -= moved / stiffness * gram[i, j]
        if largest < tolerance:
            return sweep + 1
    return max_sweeps
