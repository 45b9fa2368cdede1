"""Each kernel of the feedback engine beside its plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from shortlist.kernels.feedback import isolation, leaf_scores, similarity, trees
from shortlist.kernels.feedback.hinge import fit_hinges
from shortlist.kernels.feedback.released_pairs import fit_released
from shortlist.kernels.feedback.verdict_pairs import fit_pairs

few = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def random_leaves(seed, n_rows=5000, members=(3, 7, 2, 5, 9)):
    """Random leaf numbers in block storage, and the same as a plain matrix of global numbers."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(members)])
    local = np.column_stack([rng.integers(0, size, n_rows) for size in members])
    ids = np.zeros((-(-n_rows // trees.BLOCK), len(members), trees.BLOCK), dtype=np.uint8)
    for row, t in np.ndindex(local.shape):
        ids[row // trees.BLOCK, t, row % trees.BLOCK] = local[row, t]
    return ids, starts, local + starts[:-1]


def test_add_up_and_leaf_sums():
    ids, starts, leaves = random_leaves(0)
    table = np.random.default_rng(1).integers(-(2**50), 2**50, starts[-1])
    out = np.full(5000, 7)
    leaf_scores.add_up(ids, 10, 4900, table, starts, out[10:])
    assert np.array_equal(out[10:4900], table[leaves].sum(axis=1)[10:4900])
    assert set(out[:10]) | set(out[4900:]) == {7}
    weight = np.random.default_rng(2).random(4500)
    sums = np.zeros(starts[-1])
    trees.leaf_sums(ids, 4500, weight, starts, sums)
    assert sums == pytest.approx([weight[(leaves[:4500] == j).any(axis=1)].sum() for j in range(starts[-1])])


def test_invert_and_add_changes():
    ids, starts, leaves = random_leaves(3)
    rows, leaf_start = np.empty(5000 * 5, dtype=np.int32), np.empty(starts[-1] + 1, dtype=np.int64)
    leaf_scores.invert(ids, 5000, starts, rows, leaf_start)
    for j in range(starts[-1]):
        expected = np.flatnonzero((leaves == j).any(axis=1))
        assert np.array_equal(rows[leaf_start[j] : leaf_start[j + 1]], expected)
    out = np.zeros(5000, dtype=np.int64)
    changed, change = np.array([0, 4, 11]), np.array([5, -2, 2**40])
    leaf_scores.add_changes(rows, leaf_start, changed, change, out)
    plain = sum((leaves == j).any(axis=1) * by for j, by in zip(changed, change, strict=True))
    assert np.array_equal(out, plain)


def splitmix(seed, row):
    mask = 2**64 - 1
    z = (seed + (row + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


@few
@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.integers(0, 2**40), st.data())
def test_best_row(keys, seed, data):
    closed = np.array(data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys))))
    is_open = [row for row in range(len(keys)) if not closed[row]]
    expected = max(is_open, key=lambda row: (keys[row], -splitmix(seed, row)), default=-1)
    assert leaf_scores.best_row(np.array(keys), closed, seed) == expected


@few
@given(seeds)
def test_grown_trees_cut_every_sample_in_two(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 3)), 1)
    X[rng.random((40, 3)) < 0.15] = np.nan
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, rng.integers(0, 4, 40))
    most = 80
    feature, category = np.full(most, -1, dtype=np.int32), np.full(most, -1)
    threshold, missing_left = np.zeros(most), np.zeros(most, dtype=bool)
    child, depth, count = np.zeros(2 * most, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most)
    n = isolation.grow(
        X, np.array([False, False, True]), 6, rng.random(3 * most),
        feature, threshold, category, missing_left, child, depth, count,
    )  # fmt: skip
    inside = {0: np.arange(40)}
    for node in range(n):
        rows = inside[node]
        assert count[node] == rows.size > 0
        if feature[node] < 0:
            rest = [np.unique(X[rows, f]).size for f in range(3)]
            assert rows.size == 1 or depth[node] == 6 or rest == [1, 1, 1]
            continue
        x = X[rows, feature[node]]
        left = x != category[node] if category[node] >= 0 else x <= threshold[node]
        left = np.where(np.isnan(x), missing_left[node], left)
        inside[int(child[2 * node])], inside[int(child[2 * node + 1])] = rows[left], rows[~left]


@few
@given(seeds, st.integers(1, 12))
def test_growing_factor_solves_the_ridge(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4))
    K = A @ A.T + 0.1 * np.eye(n)
    factor = np.zeros((15, 15))
    for i in range(n):
        similarity.add_to_factor(factor, i, K[i, :i], K[i, i])
    right = rng.normal(size=n)
    assert similarity.solve(factor, n, right) == pytest.approx(np.linalg.solve(K, right))


def test_combine_and_spread_down():
    rng = np.random.default_rng(0)
    columns, weight, prior = rng.random((7, 5000), dtype=np.float32), rng.normal(size=6), rng.random(5000)
    out = expected = np.ones(5000)
    similarity.combine(columns, weight, out := out.copy())
    for i in range(6):  # in this order, to the bit
        expected = expected + weight[i] * columns[i]
    assert np.array_equal(out, expected)
    leaf_scores.blend(out.copy(), 2.0, prior, 0.3, -1.0, out)
    assert out == pytest.approx(2 * expected + 0.3 * prior - 1)
    parent = np.array([-1, 0, 0, 1, 1, 3])
    own, on_path, found = np.arange(6.0) * 10, np.array([1, 1, 0, 0, 1, 0], dtype=bool), np.empty(6)
    similarity.spread_down(parent, own, on_path, found)
    assert found.tolist() == [0, 10, 0, 10, 40, 10]


@few
@given(seeds)
def test_hinges_reach_the_minimum(seed):
    rng = np.random.default_rng(seed)
    Z, margin, cost = rng.normal(size=(5, 6)), rng.normal(size=5), rng.random(5) + 0.1
    start, stiffness = rng.normal(size=6), 0.7

    def loss(w):
        hinges = np.maximum(0, margin - Z @ w)
        return cost @ hinges + stiffness / 2 * np.sum((w - start) ** 2)

    dual = np.zeros(5)
    fit_hinges(Z @ Z.T, margin - Z @ start, cost, stiffness, 5000, 1e-10, dual)
    found = loss(start + dual @ Z / stiffness)
    near = [loss(start + dual @ Z / stiffness + step) for step in rng.normal(0, 1e-3, size=(200, 6))]
    assert found <= min(near) + 1e-12
    assert found <= minimize(loss, start, method="Nelder-Mead", options={"maxiter": 4000}).fun + 1e-6


def plain_descent(S, n_history, target, w, movable, both, rate, momentum, batch, max_steps, tolerance):
    """OJRank's inner loop on dense vectors, one line per formula of the spec."""
    u, others = S[0], S[1:]

    def chances(w):
        return 1 / (1 + np.exp(-(u - others) @ w))

    def loss(w):
        p = chances(w)
        return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))

    before, best, step, cursor = loss(w), (loss(w), w), np.zeros_like(w), 0
    for _ in range(max_steps):
        used = [(cursor + b) % n_history for b in range(min(batch, n_history))]
        cursor = (cursor + batch) % n_history if n_history > batch else 0
        p = chances(w)
        gradient = np.zeros_like(w)
        for i in [*used, *range(n_history, len(others))]:
            only = np.ones_like(w, dtype=bool) if both or i < n_history else u > 0
            gradient += np.where(only, (p[i] - target[i]) * (u - others[i]), 0)
        ahead = np.where(movable, momentum * step - rate * gradient, 0)
        moved = (w + ahead) / np.linalg.norm(w + ahead)
        step, w = moved - w, moved
        now = loss(w)
        best = min(best, (now, w), key=lambda pair: pair[0])
        if before - now < tolerance or np.linalg.norm(ahead) < 1e-6:
            break
        before = now
    return best[1]


def plain_released(S, n_history, target, w, movable, both, rate, momentum, batch, max_steps, tolerance):
    """The same as in the authors' code: pair by pair, the momentum added for each, the last w kept."""
    u, others = S[0], S[1:]

    def chances(w):
        return 1 / (1 + np.exp(-(u - others) @ w))

    def loss(w):
        p = chances(w)
        return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))

    before, last_moves, first = loss(w), np.zeros_like(w), 0
    for _ in range(max_steps):
        pairs = range(first, min(first + batch, len(others)))
        p, ahead, all_moves = chances(w), w.copy(), np.zeros_like(w)
        for i in pairs:
            may_move = np.ones_like(w, dtype=bool) if both else (u > 0) | ((i < n_history) & (others[i] > 0))
            move = momentum * last_moves + rate * (p[i] - target[i]) * (u - others[i])
            ahead = np.where(may_move, ahead - move, ahead)
            all_moves += move
        last_moves, first = all_moves, (pairs.stop if pairs.stop < len(others) else 0)
        step, w = np.linalg.norm(ahead - w), ahead / np.linalg.norm(ahead)
        now = loss(w)
        if before - now < tolerance or step < 1e-6:
            break
        before = now
    return w


@pytest.mark.parametrize(("fit", "plain"), [(fit_pairs, plain_descent), (fit_released, plain_released)])
@pytest.mark.parametrize(
    ("n_history", "n_sampled", "both"), [(3, 0, False), (0, 4, False), (2, 3, False), (2, 3, True)]
)
@few
@given(seed=seeds)
def test_pairs_are_fitted_as_the_formula_says(fit, plain, n_history, n_sampled, both, seed):
    rng = np.random.default_rng(seed)
    n_members, per_member = 6, 4
    n_leaves = n_members * per_member
    leaves = rng.integers(0, per_member, (1 + n_history + n_sampled, n_members)) + per_member * np.arange(
        n_members
    )
    value, w = rng.random(n_leaves) + 0.1, rng.random(n_leaves)
    w /= np.linalg.norm(w)
    target = rng.uniform(0.2, 0.9, n_history + n_sampled)
    S = np.zeros((len(leaves), n_leaves))
    for row, line in zip(S, leaves, strict=True):
        row[line] = value[line]
    movable = np.isin(np.arange(n_leaves), leaves if both else leaves[: n_history + 1])
    settings = (0.1, 0.75, 2, 200, 1e-8)
    expected = plain(S, n_history, target, w, movable, both, *settings)
    present = np.unique(leaves)
    local = np.concatenate([present[movable[present]], present[~movable[present]]])
    place = np.zeros(n_leaves, dtype=np.int32)
    place[local] = np.arange(local.size)
    weight = w[local].copy()
    n_movable = int(movable[present].sum())
    rest = 1 - np.sum(weight[:n_movable] ** 2)
    scale = fit(place[leaves], n_history, target, value[local], weight, n_movable, rest, both, *settings)
    found = w * scale
    found[local[:n_movable]] = weight[:n_movable]
    assert found == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=60).filter(
        lambda pairs: not all(closed for _, closed in pairs)
    ),
    st.data(),
)
@settings(max_examples=60)
def test_nth_largest_is_that_of_a_sort(pairs, data):
    keys = np.array([key for key, _ in pairs], dtype=np.float64)
    closed = np.array([shut for _, shut in pairs])
    n = data.draw(st.integers(1, int((~closed).sum())))
    assert leaf_scores.nth_largest(keys, closed, n) == np.sort(keys[~closed])[-n]
