"""Random Fourier features of rows: columns whose products approximate an RBF kernel."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import RBFSampler

from shortlist.kernels.stream.fourier_sums import fourier_columns, fourier_sums

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

#: The kernels take columns by fours.
_COLUMNS_AT_ONCE = 4


class FourierFeatures:
    """φ(z) = √(2/F)·cos(Wz + b), so that φ(z)·φ(z') ≈ exp(−γ‖z − z'‖²); the same for the same seed.

    W and b are drawn by scikit-learn's ``RBFSampler``; cosines are in single precision.

    >>> features = FourierFeatures(n_columns=2, n_features=2_000, gamma=0.5, seed=0)
    >>> phi = features.columns(np.array([[0.0, 0.0], [1.0, 1.0]]))
    >>> round(float(phi[0] @ phi[1]), 1)  # exp(−0.5·2)
    0.4
    """

    def __init__(self, n_columns: int, n_features: int, gamma: float, seed: int) -> None:
        sampler = RBFSampler(gamma=gamma, n_components=n_features, random_state=seed)
        sampler.fit(np.zeros((1, n_columns)))
        whole_turn = 2.0 * np.pi
        self.padded = -(-n_columns // _COLUMNS_AT_ONCE) * _COLUMNS_AT_ONCE
        self.W = np.zeros((self.padded, n_features), dtype=np.float32)
        self.W[:n_columns] = sampler.random_weights_ / whole_turn
        self.offset = (sampler.random_offset_ / whole_turn).astype(np.float32)
        self.size = np.float32(np.sqrt(2.0 / n_features))

    def columns(self, Z: NDArray) -> Singles:
        """φ of each row."""
        out = np.empty((Z.shape[0], self.offset.size), dtype=np.float32)
        self.write(Z, out, 0)
        return out

    def write(self, Z: NDArray, out: Singles, start: int) -> None:
        """Write φ of each row to the columns of ``out`` from ``start`` on."""
        fourier_columns(self._singles(Z), self.W, self.offset, self.size, out, start)

    def sums(self, Z: NDArray, weights: NDArray) -> Floats:
        """``columns(Z) @ weights``, without keeping the columns."""
        return fourier_sums(self._singles(Z), self.W, self.offset, (weights * self.size).astype(np.float32))

    def _singles(self, Z: NDArray) -> Singles:
        if Z.dtype == np.float32 and Z.shape[1] == self.padded:
            return Z
        singles = np.zeros((Z.shape[0], self.padded), dtype=np.float32)
        singles[:, : Z.shape[1]] = Z
        return singles


@lru_cache(maxsize=32)
def fourier_features(n_columns: int, n_features: int, gamma: float, seed: int) -> FourierFeatures:
    """The features of these settings; drawn once, for they are needed in every window."""
    return FourierFeatures(n_columns, n_features, gamma, seed)
