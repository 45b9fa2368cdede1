"""What the SGBAP paper leaves for later: its smooth AP as the loss of a small net, and a smooth NDCG beside it.

The net has one hidden layer and is trained by Adam on all rows at once, with the same settings for every loss; only the
gradient with respect to the scores differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import train_test_split

from shortlist.metrics import average_precision, ndcg_at_k, roc_auc
from studies.papers.sgbap_boost import LOSSES, gradient
from studies.papers.sgbap_runs import matrix

Floats = NDArray[np.float64]
HIDDEN, STEPS, RATE, DECAY = 16, 300, 0.01, 0.01


def smooth_ndcg(f: Floats, y: NDArray[np.bool_]) -> float:
    """NDCG with soft ranks: that of row i is 1 + the sum over the others of 1 / (1 + exp(f_i - f_j)).

    >>> y = np.array([True, False, False])
    >>> round(smooth_ndcg(np.array([9.0, 0.0, 0.0]), y), 3), round(smooth_ndcg(np.array([-9.0, 0.0, 0.0]), y), 3)
    (1.0, 0.5)
    """
    gained = 1 / np.log2(1 + _soft_ranks(f, y)[0])
    return float(gained.sum() / (1 / np.log2(2 + np.arange(gained.size))).sum())


def smooth_ndcg_gradient(f: Floats, y: NDArray[np.bool_]) -> Floats:
    """Of 1 - smooth NDCG."""
    ranks, slopes = _soft_ranks(f, y)
    # How fast 1 / log2(1 + r) falls with the rank r.
    fall = 1 / ((1 + ranks) * np.log(2) * np.log2(1 + ranks) ** 2)
    found = fall @ slopes
    found[y] -= fall * slopes.sum(axis=1)
    return found / (1 / np.log2(2 + np.arange(ranks.size))).sum()


def _soft_ranks(f: Floats, y: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The soft rank of each wanted row, and how fast it grows with the score of each row but its own."""
    above = expit(f[None, :] - f[y][:, None])
    above[np.arange(above.shape[0]), np.flatnonzero(y)] = 0
    return 1 + above.sum(axis=1), above * (1 - above)


GRADIENTS: dict[str, Callable[[Floats, NDArray[np.bool_]], Floats]] = {
    "logistic": lambda f, y: gradient(f, y, LOSSES["logistic"]) / y.size,
    "smooth AP": lambda f, y: gradient(f, y, LOSSES["ap_sig"]),
    "smooth NDCG": smooth_ndcg_gradient,
}


def net(data: str, seed: int, loss: str) -> dict[str, Any]:
    """One split of a set: AUC, AP and NDCG of the net on the rows left out."""
    X, y = matrix(data)
    learn, test = train_test_split(np.arange(y.size), test_size=1 / 3, stratify=y, random_state=seed)
    X = np.where(np.isnan(X), np.nanmedian(X[learn], axis=0), X)
    spread = X[learn].std(axis=0)
    Z = (X - X[learn].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    score = _score(Z[test], fit(Z[learn], y[learn], GRADIENTS[loss], seed))[0]
    return {
        "AUC": roc_auc(y[test], score),
        "AP": average_precision(y[test], score, ties="worst"),
        "NDCG": ndcg_at_k(y[test], score, y[test].size),
    }


def fit(Z: Floats, y: NDArray[np.bool_], slope: Callable[..., Floats], seed: int) -> list[Floats]:
    """Weights of the hidden layer, its offsets, and of the output, after all steps of Adam."""
    rng = np.random.default_rng(seed)
    width = Z.shape[1]
    weights = [rng.normal(0, width**-0.5, (width, HIDDEN)), np.zeros(HIDDEN), rng.normal(0, 0.25, HIDDEN)]
    first, second = ([np.zeros_like(w) for w in weights] for _ in range(2))
    for step in range(1, STEPS + 1):
        score, hidden = _score(Z, weights)
        for i, g in enumerate(_backwards(Z, hidden, slope(score, y), weights[2])):
            full = g + DECAY * weights[i] / y.size
            first[i] = 0.9 * first[i] + 0.1 * full
            second[i] = 0.999 * second[i] + 0.001 * full**2
            scaled = np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
            weights[i] = weights[i] - RATE * first[i] / (1 - 0.9**step) / scaled
    return weights


def _score(Z: Floats, weights: list[Floats]) -> tuple[Floats, Floats]:
    hidden = np.tanh(Z @ weights[0] + weights[1])
    return hidden @ weights[2], hidden


def _backwards(Z: Floats, hidden: Floats, slope: Floats, output: Floats) -> tuple[Floats, Floats, Floats]:
    """The gradient of each group of weights, from that of the scores."""
    inner = slope[:, None] * output * (1 - hidden**2)
    return Z.T @ inner, inner.sum(axis=0), hidden.T @ slope
