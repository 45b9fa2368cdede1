"""The practical learner: a logistic regression fitted anew to all labels that still count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.stream.columns import StreamColumns
from shortlist.stream.learners.base import Learner
from shortlist.stream.learners.fourier import FourierFeatures, fourier_features
from shortlist.stream.learners.growing_array import GrowingArray
from shortlist.stream.learners.labels import LabelBuffer
from shortlist.stream.learners.logistic import LogisticFit, balanced_weights, fit_logistic

Floats = NDArray[np.float64]

#: Labels whose weight has decayed below this are forgotten.
_FORGOTTEN = 0.02
#: γ of the kernel times the number of columns: small, a wide kernel, for smooth changes of a linear score.
_GAMMA = 0.25
#: Size of the linear part beside the Fourier features, whose size is 1: larger = more linear a model.
_LINEAR_SIZE = 2.0
#: Rows scored at once where random features are made of them.
_BLOCK = 5_000
_FIT = ("log_decay", "beta", "factor", "fitted_at")


class Refit(Learner):
    """Keeps the queried labels and fits a class-balanced logistic regression to them when a score is needed.

    A label asked for a windows ago weighs the product of the decays since. The model depends on the labels
    that are kept, not on the order in which they came: late labels do no harm. (The fit starts from the fit
    before it, which shows in the last digits only.) With ``kernel="rbf"`` the model has the columns themselves
    and random Fourier features of them, in one regression.

    Until an unwanted row is known, a sample of recent rows stands in for the unwanted ones, so that a few
    wanted rows are enough to begin with.
    """

    hears = True

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
        self.labels = LabelBuffer()
        self.log_decay = 0.0
        self.beta: Floats | None = None
        self.factor: Floats | None = None
        #: Version of the scales behind beta; None: labels have changed since.
        self.fitted_at: int | None = None
        #: Of the first labels; those of the others are made when they are needed.
        self._features: GrowingArray | None = None
        self._features_at = -1

    @property
    def ready(self) -> bool:
        """Whether a wanted row is known."""
        return bool(self.labels.wanted.any())

    def hear(self, rows: NDArray[np.int64], X: NDArray, wanted: NDArray[np.bool_], log_decay: float) -> None:
        """Keep labels; the oldest ones of the commoner kind make room when there are too many."""
        self.fitted_at = None
        at_end = self.labels.add(rows, X, wanted, float(np.exp(self.log_decay - log_decay)))
        if len(self.labels) > self.max_labels:
            self.labels.keep(self.labels.newest(self.max_labels))
            at_end = False
        if not at_end:
            self._features_at = -1

    def fade(self, factor: float) -> None:
        """Old labels count less, and those that count for nothing are forgotten."""
        if factor < 1.0:
            self.log_decay += float(np.log(factor))
            self.fitted_at = None
            forgotten = self.labels.fade(factor, _FORGOTTEN)
            if self._features is not None:
                self._features.drop_first(forgotten)

    def scores(self, X: NDArray, columns: StreamColumns) -> Floats:
        """Log-odds that a row is wanted, up to a constant."""
        if self.fitted_at != columns.version or self.labels.wanted.all():
            self._fit(columns)
        assert self.beta is not None
        weights, d = self.beta[:-1], columns.n_columns
        if self.kernel is None:
            return columns.linear_scores(X, weights)
        straight, curved = weights[:d] * (_LINEAR_SIZE / np.sqrt(d)), self._fourier(d)
        blocks = range(0, X.shape[0], _BLOCK)
        bent = [curved.sums(columns.transform(X[i : i + _BLOCK]), weights[d:]) for i in blocks]
        return columns.linear_scores(X, straight) + np.concatenate(bent)

    def state(self) -> dict[str, Any]:
        """What must be kept to go on later."""
        return {"labels": self.labels.state()} | {name: getattr(self, name) for name in _FIT}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state that was kept."""
        self.labels.restore(state["labels"])
        for name in _FIT:
            setattr(self, name, state[name])

    def _fit(self, columns: StreamColumns) -> None:
        features, start = self._label_features(columns), None
        wanted, weights = self.labels.wanted, self.labels.weights
        if wanted.all():
            stand_ins = columns.recent_rows
            of_stand_ins = np.empty((len(stand_ins), features.shape[1]), dtype=features.dtype)
            self._write_features(stand_ins, columns, of_stand_ins)
            features = np.concatenate([features, of_stand_ins])
            wanted = np.concatenate([wanted, np.zeros(len(stand_ins), dtype=bool)])
            weights = np.concatenate([weights, np.full(len(stand_ins), weights.sum() / len(stand_ins))])
        elif self.beta is not None and self.factor is not None:
            start = LogisticFit(self.beta, self.factor)
        fit = fit_logistic(features, wanted, balanced_weights(wanted, weights), self.C, start)
        self.beta, self.factor = fit
        self.fitted_at = columns.version

    def _label_features(self, columns: StreamColumns) -> NDArray:
        """The features of all labels; only those that are new since the last fit are made."""
        if self._features is None:
            curved = 0 if self.kernel is None else self.n_features
            kind = np.float32 if curved else np.float64
            self._features = GrowingArray(np.empty((0, columns.n_columns + curved), dtype=kind))
        if self._features_at != columns.version:
            self._features.clear()
        missing = len(self.labels) - len(self._features)
        if missing:
            self._write_features(self.labels.X[-missing:], columns, self._features.grow(missing))
        self._features_at = columns.version
        return self._features.values

    def _write_features(self, X: NDArray, columns: StreamColumns, out: NDArray) -> None:
        Z = columns.transform(X)
        if self.kernel is None:
            out[:] = Z
            return
        d = Z.shape[1]
        out[:, :d] = Z * (_LINEAR_SIZE / np.sqrt(d))
        self._fourier(d).write(Z, out, d)

    def _fourier(self, n_columns: int) -> FourierFeatures:
        return fourier_features(n_columns, self.n_features, _GAMMA / n_columns, self.seed)
