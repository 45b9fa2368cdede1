"""The inner loop of OJRank: move the weights of a few leaves until pairs are ordered as wanted."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
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
    fixed = value[n_movable:] * weight[n_movable:]
    weighted, share = np.empty(value.size), np.empty(n_pairs)
    step, gradient = np.zeros(n_movable), np.empty(value.size)
    scale = 1.0
    loss = _loss(rows, target, value, weight, fixed, scale, weighted, share)
    best_loss, best_weight, best_scale = loss, weight.copy(), scale
    cursor = 0
    for _ in range(max_steps):
        gradient[:] = 0
        for b in range(min(batch, n_history)):
            _add_gradient(rows, (cursor + b) % n_history, target, share, value, True, gradient)
        cursor = (cursor + batch) % n_history if n_history > batch else 0
        for p in range(n_history, n_pairs):
            _add_gradient(rows, p, target, share, value, both, gradient)
        scale, moved = _step(weight, scale, rest, gradient, step, rate, momentum)
        before, loss = loss, _loss(rows, target, value, weight, fixed, scale, weighted, share)
        if loss < best_loss:
            best_loss, best_scale = loss, scale
            best_weight[:] = weight
        if before - loss < tolerance or moved < 1e-6:
            break
    weight[:] = best_weight
    return best_scale


@njit(cache=True, nogil=True)
def _loss(
    rows: NDArray,
    target: NDArray,
    value: NDArray,
    weight: NDArray,
    fixed: NDArray,
    scale: float,
    weighted: NDArray,
    share: NDArray,
) -> float:
    """Cross entropy over all pairs; ``share`` becomes the estimated chance that row 0 is above row p."""
    n_movable = value.size - fixed.size
    for j in range(n_movable):
        weighted[j] = value[j] * weight[j]
    for j in range(fixed.size):
        weighted[n_movable + j] = scale * fixed[j]
    total = 0.0
    top = _score(rows[0], weighted)
    for p in range(target.size):
        gap = top - _score(rows[p + 1], weighted)
        share[p] = 1 / (1 + np.exp(-gap))
        # log(1 + exp(-gap)) without overflow, plus what the target takes off.
        total += np.log1p(np.exp(-abs(gap))) + max(-gap, 0.0) + (1 - target[p]) * gap
    return total


@njit(cache=True, nogil=True)
def _score(leaves: NDArray, weighted: NDArray) -> float:
    total = 0.0
    for t in range(leaves.size):
        total += weighted[leaves[t]]
    return total


@njit(cache=True, nogil=True)
def _add_gradient(
    rows: NDArray, pair: int, target: NDArray, share: NDArray, value: NDArray, both: bool, gradient: NDArray
) -> None:
    error = share[pair] - target[pair]
    for t in range(rows.shape[1]):
        u, v = rows[0, t], rows[pair + 1, t]
        if u != v:
            gradient[u] += error * value[u]
            if both:
                gradient[v] -= error * value[v]


@njit(cache=True, nogil=True)
def _step(
    weight: NDArray, scale: float, rest: float, gradient: NDArray, step: NDArray, rate: float, momentum: float
) -> tuple[float, float]:
    """One step and the return to length 1; ``step`` keeps the move for the momentum. Returns scale, length."""
    norm, moved = rest * scale * scale, 0.0
    for j in range(step.size):
        ahead = momentum * step[j] - rate * gradient[j]
        moved += ahead * ahead
        step[j] = -weight[j]
        weight[j] += ahead
        norm += weight[j] * weight[j]
    norm = np.sqrt(norm)
    for j in range(step.size):
        weight[j] /= norm
        step[j] += weight[j]
    return scale / norm, np.sqrt(moved)
