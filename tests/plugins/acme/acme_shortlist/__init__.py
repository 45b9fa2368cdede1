"""A ranker of another package: a class, and a function that gives its entry of the catalogue."""

from dataclasses import dataclass

import numpy as np

from shortlist.rankers import Ranker
from shortlist.rankers.catalogue import Model


@dataclass
class Weights:
    """A part of a trained ranker that is a class of its own."""

    values: np.ndarray


class Sum(Ranker):
    """Each column, standardised and weighed by how it goes with y."""

    _takes_missing = True

    def __init__(self, *, power=1.0):
        self.power = power

    def _fit(self, batch):
        self.mean_, self.spread_ = np.nanmean(batch.X, axis=0), np.nanstd(batch.X, axis=0) + 1e-9
        self.weights_ = Weights(self._columns(batch.X)[batch.y].mean(axis=0) ** self.power)

    def _score(self, X):
        return self._columns(X) @ self.weights_.values

    def contributions(self, X):
        """What each column adds."""
        return self._columns(self._check_features(X, reset=False)) * self.weights_.values

    def _columns(self, X):
        return np.nan_to_num((X - self.mean_) / self.spread_)


def acme_sum():
    """The entry point."""
    return Model(lambda options: Sum(), "label", "a weighed sum, by Acme")
