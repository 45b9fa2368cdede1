"""Algorithm 1 of the SGBAP paper in one small engine, so that hundreds of settings can be tuned by cross-validation.

Each round draws a share of either class, fits a least-squares tree to the negative gradient of the loss there, looks
for its weight by a line search on the loss, and adds a share of it to the scores. The scores of rows that are left out
are kept along the way, so that every number of rounds up to the last is measured for the price of one. All columns are
integer codes: their values in order, at most ``MOST_BINS`` of them.

The package's own ``APBoost(loss="ap_exp_faithful")`` is the same step on XGBoost's trees.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

MOST_BINS = 255
#: Losses by number: 1 - AP_exp and 1 - AP_sig (the paper's), logistic, and that of RankBoost.
LOSSES = {"ap_exp": 0, "ap_sig": 1, "logistic": 2, "rankboost": 3}
#: Without a bound on what one step may add, AP losses collapse onto the first few rows.
MOST_ADDED = {"ap_exp": 1.0, "ap_sig": 1.0, "logistic": 4.0, "rankboost": 4.0}
SEARCH_STEPS = 20
GOLDEN = (5**0.5 - 1) / 2


def coded(X: NDArray, learn: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Columns as codes of their values among the rows to learn from; many values share a bin. Gaps come last."""
    codes = np.empty(X.shape, dtype=np.uint8, order="F")
    for j in range(X.shape[1]):
        values = np.unique(X[learn, j][~np.isnan(X[learn, j])])
        if values.size > MOST_BINS - 1:
            values = np.unique(np.quantile(X[learn, j], np.linspace(0, 1, MOST_BINS - 1), method="nearest"))
        found = np.searchsorted(values, X[:, j])
        codes[:, j] = np.where(np.isnan(X[:, j]), MOST_BINS, found)
    return codes


def path(
    codes: NDArray[np.uint8],
    y: NDArray[np.bool_],
    learn: NDArray[np.int64],
    test: NDArray[np.int64],
    *,
    loss: str,
    step: float,
    share: float,
    leaf: int,
    depth: int,
    rounds: NDArray[np.int64],
    seed: int,
) -> NDArray[np.float64]:
    """Scores of the test rows after each of these numbers of rounds, one line each."""
    rows = np.concatenate([learn, test])
    return _boost(
        np.ascontiguousarray(codes[rows]), y[rows], learn.size, LOSSES[loss], MOST_ADDED[loss], step, share, leaf,
        depth, rounds, np.int64(seed),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _boost(
    codes: NDArray,
    y: NDArray,
    n_learn: int,
    loss: int,
    most: float,
    step: float,
    share: float,
    leaf: int,
    depth: int,
    rounds: NDArray,
    seed: int,
) -> NDArray:
    np.random.seed(seed)  # noqa: NPY002  inside numba there is no other
    score, told = np.zeros(y.size), np.zeros((rounds.size, y.size - n_learn))
    wanted, others = np.flatnonzero(y[:n_learn]), np.flatnonzero(~y[:n_learn])
    n_bins = int(codes.max()) + 1
    at = 0
    for number in range(1, rounds[-1] + 1):
        drawn = np.concatenate((_draw(wanted, share), _draw(others, share)))
        y_drawn, f = y[drawn], score[drawn]
        target = -gradient(f, y_drawn, loss)
        tree = grow(codes, drawn, target, leaf, depth, n_bins)
        added = apply(codes, *tree)
        largest = np.abs(added[drawn]).max()
        if largest > 0:
            weight = _search(f, added[drawn], y_drawn, loss, most / largest)
            score += step * weight * added
        if number == rounds[at]:
            told[at] = score[n_learn:]
            at += 1
    return told


@njit(cache=True, nogil=True)
def _draw(rows: NDArray, share: float) -> NDArray:
    """A random share of the rows, at least one."""
    mixed = rows.copy()
    np.random.shuffle(mixed)  # noqa: NPY002
    return mixed[: max(1, round(share * rows.size))]


@njit(cache=True, nogil=True)
def value(f: NDArray, y: NDArray, loss: int) -> float:
    """The loss; where an AP loss has a monotone form that is cheaper, that one."""
    if loss == 2:
        total = 0.0
        for i in range(f.size):
            gap = f[i] if y[i] else -f[i]
            total += np.log1p(np.exp(-abs(gap))) + max(-gap, 0.0)
        return total
    if loss == 1:
        return 1 - _ap_sig(f, y)
    wanted, others = f[y], f[~y]
    above = others.max() + np.log(np.sum(np.exp(others - others.max())))
    if loss == 3:
        return above - wanted.min() + np.log(np.sum(np.exp(wanted.min() - wanted)))
    return above - wanted.max() - np.log(np.sum(np.exp(wanted - wanted.max())))


@njit(cache=True, nogil=True)
def gradient(f: NDArray, y: NDArray, loss: int) -> NDArray:
    """Of the loss, up to a factor."""
    if loss == 2:
        return 1 / (1 + np.exp(-f)) - y
    if loss == 1:
        return _ap_sig_gradient(f, y)
    found = np.empty(f.size)
    others = np.exp(f[~y] - f[~y].max())
    found[~y] = others / others.sum()
    sign = 1.0 if loss == 0 else -1.0
    wanted = sign * f[y]
    wanted = np.exp(wanted - wanted.max())
    found[y] = -wanted / wanted.sum()
    return found


@njit(cache=True, nogil=True)
def _ap_sig(f: NDArray, y: NDArray) -> float:
    total, wanted = 0.0, np.flatnonzero(y)
    for i in wanted:
        hits, all_ = 0.0, 0.0
        for j in range(f.size):
            above = 1 / (1 + np.exp(f[i] - f[j]))
            all_ += above
            if y[j]:
                hits += above
        total += hits / all_
    return total / wanted.size


@njit(cache=True, nogil=True)
def _ap_sig_gradient(f: NDArray, y: NDArray) -> NDArray:
    """Of 1 - AP_sig: for each wanted row i, a_i wanted and c_i other rows lie softly above it."""
    found, wanted = np.zeros(f.size), np.flatnonzero(y)
    above = np.empty(f.size)
    for i in wanted:
        a, c, slope_a, slope_c = 0.0, 0.0, 0.0, 0.0
        for j in range(f.size):
            s = 1 / (1 + np.exp(f[i] - f[j]))
            above[j] = s * (1 - s)
            if y[j]:
                a, slope_a = a + s, slope_a + above[j]
            else:
                c, slope_c = c + s, slope_c + above[j]
        b = (a + c) ** 2
        for j in range(f.size):
            found[j] += (-c if y[j] else a) / b * above[j]
        found[i] += (slope_a * c - a * slope_c) / b
    return found / wanted.size


@njit(cache=True, nogil=True)
def _search(f: NDArray, added: NDArray, y: NDArray, loss: int, most: float) -> float:
    """The weight between 0 and the most at which the loss is least, by golden sections; it has one valley."""
    if value(f + most * added, y, loss) < value(f + 0.95 * most * added, y, loss):
        return most
    low, high = 0.0, most
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = value(f + left * added, y, loss), value(f + right * added, y, loss)
    for _ in range(SEARCH_STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = value(f + left * added, y, loss)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = value(f + right * added, y, loss)
    return (low + high) / 2


@njit(cache=True, nogil=True)
def grow(
    codes: NDArray, rows: NDArray, target: NDArray, leaf: int, depth: int, n_bins: int
) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """A least-squares tree: column, last code that goes left, first child, value of each node."""
    most = min(2 * rows.size, 2 ** min(depth + 1, 24))
    column, last, child, told = (
        np.full(most, -1),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most),
    )
    starts, ends, depths = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    place, spare = np.arange(rows.size), np.empty(rows.size, np.int64)
    ends[0], n_nodes, node = rows.size, 1, 0
    while node < n_nodes:
        here = place[starts[node] : ends[node]]
        told[node] = target[here].sum() / here.size
        if depths[node] < depth and here.size >= 2 * leaf:
            column[node], last[node] = _cut(codes, rows, target, here, leaf, n_bins)
        if column[node] >= 0:
            middle = starts[node] + _part(codes, rows, here, column[node], last[node], spare)
            child[node] = n_nodes
            starts[n_nodes], ends[n_nodes] = starts[node], middle
            starts[n_nodes + 1], ends[n_nodes + 1] = middle, ends[node]
            depths[n_nodes : n_nodes + 2] = depths[node] + 1
            n_nodes += 2
        node += 1
    return column, last, child, told


@njit(cache=True, nogil=True)
def _cut(
    codes: NDArray, rows: NDArray, target: NDArray, here: NDArray, leaf: int, n_bins: int
) -> tuple[int, int]:
    """The column and the last code to the left that take most off the squared error; -1: none does."""
    sums, counts = np.empty(n_bins), np.empty(n_bins, np.int64)
    total = target[here].sum()
    best, at_column, at_code = 1e-12 + total * total / here.size, -1, 0
    for j in range(codes.shape[1]):
        sums[:] = 0
        counts[:] = 0
        for k in here:
            code = codes[rows[k], j]
            sums[code] += target[k]
            counts[code] += 1
        left, n_left = 0.0, 0
        for code in range(n_bins - 1):
            left, n_left = left + sums[code], n_left + counts[code]
            n_right = here.size - n_left
            if counts[code] and n_left >= leaf and n_right >= leaf:
                kept = left * left / n_left + (total - left) ** 2 / n_right
                if kept > best:
                    best, at_column, at_code = kept, j, code
    return at_column, at_code


@njit(cache=True, nogil=True)
def _part(codes: NDArray, rows: NDArray, here: NDArray, column: int, last: int, spare: NDArray) -> int:
    """Those that go left first, in their order; how many they are."""
    n_left, n_right = 0, 0
    for k in here:
        if codes[rows[k], column] <= last:
            here[n_left] = k
            n_left += 1
        else:
            spare[n_right] = k
            n_right += 1
    here[n_left:] = spare[:n_right]
    return n_left


@njit(cache=True, nogil=True)
def apply(codes: NDArray, column: NDArray, last: NDArray, child: NDArray, told: NDArray) -> NDArray:
    """What a tree says of every row."""
    found = np.empty(codes.shape[0])
    for row in range(codes.shape[0]):
        node = 0
        while column[node] >= 0:
            node = child[node] + (codes[row, column[node]] > last[node])
        found[row] = told[node]
    return found
