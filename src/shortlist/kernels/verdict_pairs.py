"""The inner loop of OJRank: move the weights of a few leaves until pairs are ordered as wanted."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fit_pairs(
    rows, n_history, target, value, weight, movable, rest, both, rate, momentum, batch, max_steps, tolerance
):
    """Minimise the cross entropy of pairs (row 0, row p) by momentum descent on the unit sphere.

    ``rows[p, t]`` is the local leaf of row p in member t; pairs 1 to n_history come from history, the others are
    sampled and move only the leaves of row 0 (unless ``both``). ``weight`` holds the weights of the local leaves,
    ``rest`` the squared norm of all others, which only scale. ``weight`` becomes the best found;
    returns the scale of the rest that belongs to it.
    """
    n_pairs = rows.shape[0] - 1
    step = np.zeros(weight.size)
    scale = 1.0
    share = np.empty(n_pairs)
    loss = _loss(rows, target, value, weight, movable, scale, share)
    best_loss, best_weight, best_scale = loss, weight.copy(), scale
    cursor = 0
    for _ in range(max_steps):
        size = min(batch, n_history)
        gradient = np.zeros(weight.size)
        for b in range(size):
            _add_gradient(rows, (cursor + b) % n_history, target, share, value, True, gradient)
        cursor = (cursor + size) % n_history if n_history > 0 else 0
        for p in range(n_history, n_pairs):
            _add_gradient(rows, p, target, share, value, both, gradient)
        scale, moved = _step(weight, movable, scale, rest, gradient, step, rate, momentum)
        before, loss = loss, _loss(rows, target, value, weight, movable, scale, share)
        if loss < best_loss:
            best_loss, best_scale = loss, scale
            best_weight[:] = weight
        if before - loss < tolerance or moved < 1e-6:
            break
    weight[:] = best_weight
    return best_scale


@njit(cache=True, nogil=True)
def _loss(rows, target, value, weight, movable, scale, share):
    """Cross entropy over all pairs; ``share`` becomes the estimated chance that row 0 is above row p."""
    total = 0.0
    top = _score(rows[0], value, weight, movable, scale)
    for p in range(target.size):
        gap = top - _score(rows[p + 1], value, weight, movable, scale)
        share[p] = 1 / (1 + np.exp(-gap))
        # log(1 + exp(-gap)) without overflow, plus what the target takes off.
        total += np.log1p(np.exp(-abs(gap))) + max(-gap, 0.0) + (1 - target[p]) * gap
    return total


@njit(cache=True, nogil=True)
def _score(leaves, value, weight, movable, scale):
    total = 0.0
    for t in range(leaves.size):
        j = leaves[t]
        total += value[j] * (weight[j] if movable[j] else scale * weight[j])
    return total


@njit(cache=True, nogil=True)
def _add_gradient(rows, pair, target, share, value, both, gradient):
    error = share[pair] - target[pair]
    for t in range(rows.shape[1]):
        u, v = rows[0, t], rows[pair + 1, t]
        if u != v:
            gradient[u] += error * value[u]
            if both:
                gradient[v] -= error * value[v]


@njit(cache=True, nogil=True)
def _step(weight, movable, scale, rest, gradient, step, rate, momentum):
    """One step and the return to length 1; ``step`` keeps the move for the momentum. Returns scale, length."""
    norm = rest * scale * scale
    moved = 0.0
    for j in range(weight.size):
        if movable[j]:
            ahead = momentum * step[j] - rate * gradient[j]
            moved += ahead * ahead
            step[j] = -weight[j]
            weight[j] += ahead
            norm += weight[j] * weight[j]
    norm = np.sqrt(norm)
    for j in range(weight.size):
        if movable[j]:
            weight[j] /= norm
            step[j] += weight[j]
    return scale / norm, np.sqrt(moved)
