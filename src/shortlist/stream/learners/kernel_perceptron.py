"""The perceptron in the space of an RBF kernel: exact while it is small, random Fourier features after that."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel

from shortlist.stream.columns import StreamColumns
from shortlist.stream.learners.base import Learner
from shortlist.stream.learners.fourier import FourierFeatures, fourier_features
from shortlist.stream.learners.perceptron import rows_to_add
from shortlist.stream.window import OpenWindow

Floats = NDArray[np.float64]

#: Rows scored at once against the support vectors, so that the kernel matrix stays small.
_BLOCK = 2_000


class KernelPerceptron(Learner):
    """Perceptron@k with scores Σ_j α_j·exp(−γ‖x − s_j‖²), γ = 1 / number of columns.

    A window adds its false positives as support vectors with α = −1 and its wanted rows with α = Δ/|A|. Past
    ``max_support`` of them, w becomes a vector over random Fourier features and grows no more.
    """

    one_round = False
    follows_scales = False

    def __init__(
        self, *, balance: bool = True, max_support: int = 1_000, n_features: int = 512, seed: int = 0
    ) -> None:
        self.balance = balance
        self.max_support = max_support
        self.n_features = n_features
        self.seed = seed
        self.support: Floats | None = None
        self.alpha: Floats | None = None
        self.weights: Floats | None = None

    @property
    def ready(self) -> bool:
        """Whether a step has been taken."""
        return self.support is not None or self.weights is not None

    def scores(self, X: NDArray, columns: StreamColumns) -> Floats:
        """Kernel sums over the support vectors, or a linear score over Fourier features."""
        blocks = [columns.transform(X[i : i + _BLOCK]) for i in range(0, X.shape[0], _BLOCK)]
        if self.weights is not None:
            features = self._features(columns.n_columns)
            return np.concatenate([features.sums(Z, self.weights) for Z in blocks])
        gamma = 1.0 / columns.n_columns
        return np.concatenate([rbf_kernel(Z, self.support, gamma=gamma) @ self.alpha for Z in blocks])

    def close(self, window: OpenWindow, columns: StreamColumns) -> None:
        """Take the step of a window whose labels are complete."""
        added, factor = rows_to_add(window, self.balance)
        if added.size == 0:
            return
        removed = window.false_positives
        rows = columns.transform(window.features(np.concatenate([removed, added])))
        alpha = np.concatenate([np.full(removed.size, -1.0), np.full(added.size, factor)])
        if self.weights is not None:
            self.weights = self.weights + alpha @ self._features(columns.n_columns).columns(rows)
            return
        self.support = rows if self.support is None else np.concatenate([self.support, rows])
        self.alpha = alpha if self.alpha is None else np.concatenate([self.alpha, alpha])
        if self.alpha.size > self.max_support:
            self.weights = self.alpha @ self._features(columns.n_columns).columns(self.support)
            self.support = self.alpha = None

    def fade(self, factor: float) -> None:
        """Let old steps count less than the next one."""
        if factor < 1.0:
            self.alpha = None if self.alpha is None else self.alpha * factor
            self.weights = None if self.weights is None else self.weights * factor

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return {name: getattr(self, name) for name in ("support", "alpha", "weights")}

    def _features(self, n_columns: int) -> FourierFeatures:
        return fourier_features(n_columns, self.n_features, 1.0 / n_columns, self.seed)
