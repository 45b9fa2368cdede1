"""The inner loop of OJRank: move the weights of a few leaves until pairs are ordered as wanted."""

import numpy as np
from numpy.typing import NDArray

from shortlist.kernels.compiled import compiled


@compiled
def fit_pairs(
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
    """Minimise the cross entropy of pairs (row 0, row p) by momentum descent on the unit sphere.

    ``rows[p, t]`` is the local leaf of row p in member t; pairs 1 to n_history come from history, the others are
    sampled and move only the leaves of row 0 (unless ``both``). ``weight`` holds the weights of the local leaves, of
    which the first ``n_movable`` move; the others, and the leaves that are not here, only scale. ``rest`` is the
    squared norm of all that scale. ``weight`` becomes the best found; returns the scale that belongs to it.
    """
    n_pairs = rows.shape[0] - 1
    entries, starts, fixed = movable_entries(rows, value, weight, n_movable)
    in_first = np.zeros(n_movable, dtype=np.bool_)
    in_first[entries[starts[0] : starts[1]]] = True
    weighted, gradient, step = np.empty(n_movable), np.empty(n_movable), np.zeros(n_movable)
    share = np.empty(n_pairs)
    scale = 1.0
    loss = pair_loss(entries, starts, fixed, target, value, weight, scale, weighted, share)
    best_loss, best_weight, best_scale = loss, weight.copy(), scale
    cursor = 0
    for _ in range(max_steps):
        gradient[:] = 0
        total = 0.0
        for b in range(min(batch, n_history)):
            total += _add_gradient(
                entries, starts, (cursor + b) % n_history, target, share, in_first, True, gradient
            )
        cursor = (cursor + batch) % n_history if n_history > batch else 0
        for p in range(n_history, n_pairs):
            total += _add_gradient(entries, starts, p, target, share, in_first, both, gradient)
        for k in range(starts[0], starts[1]):
            gradient[entries[k]] += total
        scale, moved = _step(weight, value, scale, rest, gradient, step, rate, momentum)
        before, loss = loss, pair_loss(entries, starts, fixed, target, value, weight, scale, weighted, share)
        if loss < best_loss:
            best_loss, best_scale = loss, scale
            best_weight[:] = weight
        if before - loss < tolerance or moved < 1e-6:
            break
    weight[:] = best_weight
    return best_scale


@compiled
def movable_entries(
    rows: NDArray, value: NDArray, weight: NDArray, n_movable: int
) -> tuple[NDArray, NDArray, NDArray]:
    """The movable leaves of each row, one after the other, and the part of its score that only scales."""
    entries, starts = np.empty(rows.size, dtype=np.int32), np.zeros(rows.shape[0] + 1, dtype=np.int64)
    fixed, n = np.zeros(rows.shape[0]), 0
    for p in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            j = rows[p, t]
            if j < n_movable:
                entries[n] = j
                n += 1
            else:
                fixed[p] += value[j] * weight[j]
        starts[p + 1] = n
    return entries, starts, fixed


@compiled
def pair_loss(
    entries: NDArray,
    starts: NDArray,
    fixed: NDArray,
    target: NDArray,
    value: NDArray,
    weight: NDArray,
    scale: float,
    weighted: NDArray,
    share: NDArray,
) -> float:
    """Cross entropy over all pairs; ``share`` becomes the estimated chance that row 0 is above row p."""
    for j in range(weighted.size):
        weighted[j] = value[j] * weight[j]
    loss, top = 0.0, 0.0
    for p in range(fixed.size):
        score = scale * fixed[p]
        for k in range(starts[p], starts[p + 1]):
            score += weighted[entries[k]]
        if p == 0:
            top = score
            continue
        gap = top - score
        share[p - 1] = 1 / (1 + np.exp(-gap))
        # log(1 + exp(-gap)) without overflow, plus what the target takes off.
        loss += np.log1p(np.exp(-abs(gap))) + max(-gap, 0.0) + (1 - target[p - 1]) * gap
    return loss


@compiled
def _add_gradient(
    entries: NDArray,
    starts: NDArray,
    pair: int,
    target: NDArray,
    share: NDArray,
    in_first: NDArray,
    both: bool,
    gradient: NDArray,
) -> float:
    """Take the pair's error off the leaves of its second row; returns it, for the leaves of the first.

    A leaf with both rows in it gets nothing in sum. A sampled pair leaves alone what is not a leaf of row 0.
    """
    error = share[pair] - target[pair]
    for k in range(starts[pair + 1], starts[pair + 2]):
        if both or in_first[entries[k]]:
            gradient[entries[k]] -= error
    return error


@compiled
def _step(
    weight: NDArray,
    value: NDArray,
    scale: float,
    rest: float,
    gradient: NDArray,
    step: NDArray,
    rate: float,
    momentum: float,
) -> tuple[float, float]:
    """One step and the return to length 1; ``step`` keeps the move for the momentum. Returns scale, length."""
    norm, moved = rest * scale * scale, 0.0
    for j in range(step.size):
        ahead = momentum * step[j] - rate * gradient[j] * value[j]
        moved += ahead * ahead
        step[j] = -weight[j]
        weight[j] += ahead
        norm += weight[j] * weight[j]
    norm = np.sqrt(norm)
    for j in range(step.size):
        weight[j] /= norm
        step[j] += weight[j]
    return scale / norm, np.sqrt(moved)
