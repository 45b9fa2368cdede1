"""The practical learner: a logistic regression fitted anew to all labels that still count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.columns import StreamColumns
from shortlist.stream.kernel_perceptron import fourier_features
from shortlist.stream.learner import Learner
from shortlist.stream.logistic import balanced_weights, fit_logistic

Floats = NDArray[np.float64]

#: Labels whose weight has decayed below this are forgotten.
_FORGOTTEN = 0.02
#: Width of the kernel (γ = this / number of columns): wide, for smooth changes of a linear score.
_GAMMA = 0.25
#: Size of the linear part beside the Fourier features, whose size is 1: larger = more linear a model.
_LINEAR_SIZE = 2.0
#: Rows scored at once where random features are made of them.
_BLOCK = 5_000


class Refit(Learner):
    """Keeps the queried labels and fits a class-balanced logistic regression to them when a score is needed.

    A label asked for a windows ago weighs the product of the decays since. The model depends on the labels
    that are kept, not on the order in which they came: late labels do no harm. With ``kernel="rbf"`` the model
    has the columns themselves and random Fourier features of them, in one regression.

    Until an unwanted row is known, a sample of recent rows stands in for the unwanted ones, so that a few
    wanted rows are enough to begin with.
    """

    def __init__(
        self,
        *,
        kernel: str | None = None,
        C: float = 10.0,
        max_labels: int = 10_000,
        n_features: int = 256,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.max_labels = max_labels
        self.n_features = n_features
        self.seed = seed
        self.rows = np.empty(0, dtype=np.int64)
        self.X: NDArray | None = None
        self.wanted = np.empty(0, dtype=bool)
        self.log_decays = np.empty(0)
        self.log_decay = 0.0
        self._beta: Floats | None = None
        self._scaled_by: Floats | None = None

    @property
    def ready(self) -> bool:
        """Whether a wanted row is known."""
        return bool(self.wanted.any())

    def hear(self, rows: NDArray[np.int64], X: NDArray, wanted: NDArray[np.bool_], log_decay: float) -> None:
        """Keep labels; the oldest ones of the commoner kind make room when there are too many."""
        self.rows = np.concatenate([self.rows, rows])
        self.X = X.copy() if self.X is None else np.concatenate([self.X, X])
        self.wanted = np.concatenate([self.wanted, wanted])
        self.log_decays = np.concatenate([self.log_decays, np.full(rows.size, log_decay)])
        self._beta = None
        if self.rows.size > self.max_labels:
            self._keep(self._most_useful())

    def _most_useful(self) -> NDArray[np.int64]:
        """The newest labels of each kind, as many of the rarer kind as there is room for."""
        newest = np.argsort(-self.rows, kind="stable")
        wanted, unwanted = newest[self.wanted[newest]], newest[~self.wanted[newest]]
        room = max(self.max_labels // 2, self.max_labels - unwanted.size)
        wanted = wanted[:room]
        return np.sort(np.concatenate([wanted, unwanted[: self.max_labels - wanted.size]]))

    def fade(self, factor: float) -> None:
        """Old labels count less, and those that count for nothing are forgotten."""
        if factor < 1.0:
            self.log_decay += float(np.log(factor))
            self._beta = None
            lasting = self._label_weights() > _FORGOTTEN
            if not lasting.all():
                self._keep(np.flatnonzero(lasting))

    def scores(self, X: NDArray, columns: StreamColumns) -> Floats:
        """Log-odds that a row is wanted, up to a constant."""
        if self._beta is None or self._scaled_by is not columns.center or self.wanted.all():
            self._beta, self._scaled_by = self._fit(columns), columns.center
        weights = self._beta[:-1]
        if self.kernel is None:
            return columns.linear_scores(X, weights)
        blocks = range(0, X.shape[0], _BLOCK)
        return np.concatenate(
            [self._features(columns.transform(X[i : i + _BLOCK])) @ weights for i in blocks]
        )

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later; the fit follows from it."""
        return {name: getattr(self, name) for name in ("rows", "X", "wanted", "log_decays", "log_decay")}

    def _fit(self, columns: StreamColumns) -> Floats:
        order = np.argsort(self.rows, kind="stable")
        assert self.X is not None
        X, wanted, weights = self.X[order], self.wanted[order], self._label_weights()[order]
        if wanted.all():
            stand_ins = columns.recent_rows
            X = np.concatenate([X, stand_ins])
            wanted = np.concatenate([wanted, np.zeros(len(stand_ins), dtype=bool)])
            weights = np.concatenate([weights, np.full(len(stand_ins), weights.sum() / len(stand_ins))])
        features = self._features(columns.transform(X))
        return fit_logistic(features, wanted, balanced_weights(wanted, weights), self.C)

    def _features(self, Z: Floats) -> Floats:
        if self.kernel is None:
            return Z
        d = Z.shape[1]
        curved = fourier_features(d, self.n_features, _GAMMA / d, self.seed).transform(Z)
        return np.concatenate([Z * (_LINEAR_SIZE / np.sqrt(d)), curved], axis=1)

    def _label_weights(self) -> Floats:
        return np.exp(self.log_decay - self.log_decays)

    def _keep(self, places: NDArray[np.int64]) -> None:
        assert self.X is not None
        self.rows, self.X = self.rows[places], self.X[places]
        self.wanted, self.log_decays = self.wanted[places], self.log_decays[places]
        self._beta = None
