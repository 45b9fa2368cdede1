"""Logistic regression on a few thousand labels in well under a millisecond: Newton steps from zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Floats = NDArray[np.float64]

_MAX_STEPS = 50
_TOLERANCE = 1e-6
_THREADS = ThreadpoolController()


def balanced_weights(wanted: NDArray[np.bool_], weights: Floats) -> Floats:
    """Weights that count wanted and unwanted rows as if there were as many of each.

    The balance is of numbers and not of sums of weights: when all wanted rows are old, they must lose weight
    against fresh unwanted ones, or a model could never unlearn.

    >>> balanced_weights(np.array([True, False, False]), np.array([0.5, 1.0, 1.0]))
    array([0.75, 0.75, 0.75])
    """
    n_wanted = int(wanted.sum())
    return weights * np.where(
        wanted, 0.5 * wanted.size / n_wanted, 0.5 * wanted.size / (wanted.size - n_wanted)
    )


def fit_logistic(Z: Floats, wanted: NDArray[np.bool_], weights: Floats, C: float) -> Floats:
    """Coefficients β of the weighted, L2-penalised logistic regression, the intercept (not penalised) last.

    Minimises Σ weights · log(1 + exp(∓(Zβ + β₀))) + ‖β‖² / 2C by Newton's method. It starts from zero, not
    from an earlier solution: so the model depends on the labels alone, and not on the order they came in.

    >>> Z = np.array([[-1.0], [0.0], [1.0], [2.0]])
    >>> fit_logistic(Z, np.array([False, True, False, True]), np.ones(4), C=1.0).round(2)
    array([ 0.45, -0.23])
    """
    # Matrices this small gain nothing from threads and lose much where the processor is busy; and sums over
    # several threads need not be the same sums on another machine.
    with _THREADS.limit(limits=1, user_api="blas"):
        return _minimise(Z, wanted, weights, C)


def _minimise(Z: Floats, wanted: NDArray[np.bool_], weights: Floats, C: float) -> Floats:
    features = np.concatenate([Z, np.ones((Z.shape[0], 1))], axis=1)
    penalty = np.append(np.full(Z.shape[1], 1.0 / C), 1e-6)
    beta = np.zeros(features.shape[1])
    loss = _loss(features, wanted, weights, penalty, beta)
    for _ in range(_MAX_STEPS):
        step = _newton_step(features, wanted, weights, penalty, beta)
        beta, loss, gain = _line_search(features, wanted, weights, penalty, beta, step, loss)
        if gain <= _TOLERANCE * abs(loss):
            break
    return beta


def _newton_step(
    features: Floats, wanted: NDArray[np.bool_], weights: Floats, penalty: Floats, beta: Floats
) -> Floats:
    chance = expit(features @ beta)
    gradient = features.T @ (weights * (chance - wanted)) + penalty * beta
    curvature = (features * (weights * chance * (1.0 - chance))[:, None]).T @ features
    curvature[np.diag_indices_from(curvature)] += penalty
    return np.linalg.solve(curvature, gradient)


def _line_search(
    features: Floats,
    wanted: NDArray[np.bool_],
    weights: Floats,
    penalty: Floats,
    beta: Floats,
    step: Floats,
    loss: float,
) -> tuple[Floats, float, float]:
    """The longest of the steps 1, 1/2, 1/4, ... that lowers the loss; with the new loss and what was gained."""
    for halvings in range(30):
        trial = beta - step / 2.0**halvings
        trial_loss = _loss(features, wanted, weights, penalty, trial)
        if trial_loss <= loss:
            return trial, trial_loss, loss - trial_loss
    return beta, loss, 0.0


def _loss(
    features: Floats, wanted: NDArray[np.bool_], weights: Floats, penalty: Floats, beta: Floats
) -> float:
    margin = np.where(wanted, 1.0, -1.0) * (features @ beta)
    log_loss = np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0)
    return float(weights @ log_loss + 0.5 * penalty @ beta**2)
