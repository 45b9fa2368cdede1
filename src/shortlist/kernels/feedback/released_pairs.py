"""The inner loop of OJRank as in the code that its authors released."""

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled
from shortlist.kernels.feedback.verdict_pairs import movable_entries, pair_loss


@compiled
def fit_released(
    rows: NDArray,
    n_history: int,
    target: NDArray,
    value: NDArray,
    weight: NDArray,
    n_movable: int,
    rest: float,
    both: bool,
    rate: float,
    momentum: float,
    batch: int,
    max_steps: int,
    tolerance: float,
) -> float:
    """As ``fit_pairs``, but each pair of a batch adds the momentum anew, and the last weights are kept.

    With B pairs in a batch, e_i the error of pair i and U what all of them moved last ::

        U ← Bγ·U + η·Σ e_i (S_u - S_i)         w_j ← w_j - n_j γ·U_j - η·Σ' e_i (S_u - S_i)_j

    where n_j counts the pairs that may move leaf j and Σ' is over those.
    """
    n_pairs = rows.shape[0] - 1
    entries, starts, fixed = movable_entries(rows, value, weight, n_movable)
    in_first = np.zeros(n_movable, dtype=np.bool_)
    in_first[entries[starts[0] : starts[1]]] = True
    weighted, share, moves = np.empty(n_movable), np.empty(n_pairs), np.zeros(n_movable)
    summed, applied, times = np.empty(n_movable), np.empty(n_movable), np.empty(n_movable)
    scale = 1.0
    loss = pair_loss(entries, starts, fixed, target, value, weight, scale, weighted, share)
    first = 0
    for _ in range(max_steps):
        last = min(first + batch, n_pairs)
        summed[:] = 0
        applied[:] = 0
        times[:] = 0
        for pair in range(first, last):
            error = share[pair] - target[pair]
            free = both or pair < n_history
            for k in range(starts[0], starts[1]):
                summed[entries[k]] += error
                applied[entries[k]] += error
            for k in range(starts[pair + 1], starts[pair + 2]):
                j = entries[k]
                summed[j] -= error
                if free or in_first[j]:
                    applied[j] -= error
                if free and not in_first[j]:
                    times[j] += 1
        scale, moved = _move(
            weight, value, scale, rest, summed, applied, times, moves, in_first, both, rate, momentum, last - first
        )  # fmt: skip
        first = last if last < n_pairs else 0
        before = loss
        loss = pair_loss(entries, starts, fixed, target, value, weight, scale, weighted, share)
        if before - loss < tolerance or moved < 1e-6:
            break
    return scale


@compiled
def _move(
    weight: NDArray,
    value: NDArray,
    scale: float,
    rest: float,
    summed: NDArray,
    applied: NDArray,
    times: NDArray,
    moves: NDArray,
    in_first: NDArray,
    both: bool,
    rate: float,
    momentum: float,
    n_batch: int,
) -> tuple[float, float]:
    """One step and the return to length 1; ``moves`` becomes what the pairs moved in sum. Returns scale, length."""
    norm, moved = rest * scale * scale, 0.0
    for j in range(moves.size):
        pushes = n_batch if both or in_first[j] else times[j]
        step = pushes * momentum * moves[j] + rate * applied[j] * value[j]
        moves[j] = n_batch * momentum * moves[j] + rate * summed[j] * value[j]
        weight[j] -= step
        moved += step * step
        norm += weight[j] * weight[j]
    norm = np.sqrt(norm)
    for j in range(moves.size):
        weight[j] /= norm
    return scale / norm, np.sqrt(moved)
