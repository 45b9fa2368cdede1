"""Logistic regression on a few thousand labels in well under a millisecond: Newton steps from near the solution."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import get_blas_funcs
from scipy.linalg.lapack import dpotrf, dpotrs
from threadpoolctl import ThreadpoolController

from shortlist.kernels.stream.logistic import residuals, slope, weighted_rows

Floats = NDArray[np.float64]

_MAX_STEPS = 50
#: A step that is expected to gain no more than this share of the largest possible loss is the last one.
_TOLERANCE = 1e-7
#: A step with an old Hessian must gain no more than this share of the step before, or the Hessian is made anew.
_SLOW = 0.3
#: From this many columns on, products of matrices are faster than passes over the rows.
_MANY_COLUMNS = 32
_THREADS = ThreadpoolController()


def balanced_weights(wanted: NDArray[np.bool_], weights: Floats) -> Floats:
    """Weights that count wanted and unwanted rows as if there were as many of each.

    The balance is of numbers and not of sums of weights: when all wanted rows are old, they must lose weight
    against fresh unwanted ones, or a model could never unlearn.

    >>> balanced_weights(np.array([True, False, False]), np.array([0.5, 1.0, 1.0]))
    array([0.75, 0.75, 0.75])
    """
    n_wanted = int(np.count_nonzero(wanted))
    half, n_others = 0.5 * wanted.size, wanted.size - n_wanted
    return weights * (wanted * (half / n_wanted - half / n_others) + half / n_others)


class LogisticFit(NamedTuple):
    """Coefficients, the intercept last, and the Cholesky factor of a Hessian near them."""

    beta: Floats
    factor: Floats


def fit_logistic(
    Z: NDArray, wanted: NDArray[np.bool_], weights: Floats, C: float, start: LogisticFit | None = None
) -> LogisticFit:
    """Coefficients β of the weighted, L2-penalised logistic regression, the intercept (not penalised) last.

    Minimises Σ weights · log(1 + exp(∓(Zβ + β₀))) + ‖β‖² / 2C by Newton's method. From ``start``, the fit to
    slightly different labels, its Hessian serves as long as the steps get shorter fast: it costs more than
    many steps. If they do not, the method begins anew from zero. Where it begins shows in the last digits only.

    >>> Z = np.array([[-1.0], [0.0], [1.0], [2.0]])
    >>> fit_logistic(Z, np.array([False, True, False, True]), np.ones(4), C=1.0).beta.round(2)
    array([ 0.45, -0.23])
    """
    penalty = np.full(Z.shape[1] + 1, 1.0 / C)
    penalty[-1] = 1e-6
    problem = _Problem(Z, wanted, weights, penalty)
    with _one_thread(Z.shape[1] >= _MANY_COLUMNS):
        fit = None if start is None else _refine(problem, *start)
        return _minimise(problem) if fit is None else fit


def _one_thread(needed: bool = True) -> AbstractContextManager[Any]:
    # Matrices this small gain nothing from threads and lose much where the processor is busy; and sums over
    # several threads need not be the same sums on another machine.
    return _THREADS.limit(limits=1, user_api="blas") if needed else nullcontext()


@dataclass(frozen=True, eq=False)
class _Problem:
    """Labelled rows and the penalty: what the loss and its derivatives follow from."""

    Z: NDArray
    wanted: NDArray[np.bool_]
    weights: Floats
    penalty: Floats

    def slope(self, beta: Floats) -> tuple[Floats, Floats]:
        """The gradient, and the weights of the rows in the Hessian."""
        curvature = np.empty(self.weights.size)
        if self.Z.shape[1] < _MANY_COLUMNS:
            gradient = slope(self.Z, beta, self.wanted, self.weights, curvature)
        else:
            gradient = self._sums(residuals(self._margin(beta), self.wanted, self.weights, curvature))
        return gradient + self.penalty * beta, curvature

    def factor(self, curvature: Floats) -> Floats:
        """The lower Cholesky factor of the Hessian."""
        hessian = np.empty((self.penalty.size, self.penalty.size))
        hessian[:-1, :-1] = _weighted_products(self.Z, curvature)
        hessian[-1] = self._sums(curvature)
        hessian.flat[:: self.penalty.size + 1] += self.penalty
        return dpotrf(hessian, lower=1)[0]

    def loss(self, beta: Floats) -> float:
        margin = np.where(self.wanted, 1.0, -1.0) * self._margin(beta)
        log_loss = np.log1p(np.exp(-np.abs(margin))) - np.minimum(margin, 0.0)
        return float(self.weights @ log_loss + 0.5 * self.penalty @ beta**2)

    @property
    def enough(self) -> float:
        """A gain that is not worth a further step; log 2 per unit of weight is what β = 0 loses."""
        return _TOLERANCE * float(np.log(2.0) * self.weights.sum())

    def _margin(self, beta: Floats) -> Floats:
        return (self.Z @ beta[:-1].astype(self.Z.dtype, copy=False)) + beta[-1]

    def _sums(self, values: Floats) -> Floats:
        sums = np.empty(self.penalty.size)
        sums[:-1] = values.astype(self.Z.dtype, copy=False) @ self.Z
        sums[-1] = values.sum()
        return sums


def _refine(problem: _Problem, beta: Floats, factor: Floats) -> LogisticFit | None:
    """Steps with one Hessian, the given one or a new one, corrected by what the steps before found (BFGS).

    None: they do not get shorter fast enough.
    """
    gradient, curvature = problem.slope(beta)
    before, slow, enough = np.inf, _SLOW, problem.enough
    pairs: list[tuple[Floats, Floats]] = []
    for _ in range(_MAX_STEPS):
        step = _bfgs_step(factor, gradient, pairs)
        gain = 0.5 * float(gradient @ step)
        if not 0.0 <= gain < slow * before:
            if slow > _SLOW:
                return None
            factor, slow, before, pairs = problem.factor(curvature), 0.5, np.inf, []
            continue
        beta, before, last = beta - step, gain, gradient
        if gain <= enough:
            return LogisticFit(beta, factor)
        gradient, curvature = problem.slope(beta)
        pairs.append((step, last - gradient))
    return None


def _bfgs_step(factor: Floats, gradient: Floats, pairs: list[tuple[Floats, Floats]]) -> Floats:
    """The gradient divided by the Hessian, as far as it is known: its factor, and (step, change of gradient)."""
    shares = []
    for step, change in reversed(pairs):
        shares.append(float(step @ gradient) / float(step @ change))
        gradient = gradient - shares[-1] * change
    direction = dpotrs(factor, gradient, lower=1)[0]
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + step * (share - float(change @ direction) / float(step @ change))
    return direction


def _minimise(problem: _Problem) -> LogisticFit:
    """Newton steps from zero, each as long as the loss allows."""
    beta = np.zeros(problem.penalty.size)
    loss = problem.loss(beta)
    for _ in range(_MAX_STEPS):
        gradient, curvature = problem.slope(beta)
        factor = problem.factor(curvature)
        beta, loss, gain = _line_search(problem, beta, dpotrs(factor, gradient, lower=1)[0], loss)
        if gain <= problem.enough:
            break
    return LogisticFit(beta, factor)


def _line_search(problem: _Problem, beta: Floats, step: Floats, loss: float) -> tuple[Floats, float, float]:
    """The longest of the steps 1, 1/2, 1/4, ... that lowers the loss; with the new loss and what was gained."""
    for halvings in range(30):
        trial = beta - step / 2.0**halvings
        trial_loss = problem.loss(trial)
        if trial_loss <= loss:
            return trial, trial_loss, loss - trial_loss
    return beta, loss, 0.0


def _weighted_products(Z: NDArray, weights: Floats) -> NDArray:
    """Zᵀ diag(weights) Z; its lower triangle at least."""
    if Z.shape[1] < _MANY_COLUMNS:
        with _one_thread():
            return weighted_rows(Z, weights).T @ Z
    syrk = get_blas_funcs("syrk", (Z,))
    return syrk(1.0, weighted_rows(Z, np.sqrt(weights)).T, lower=1)
