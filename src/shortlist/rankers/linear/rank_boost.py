"""RankBoost: weak rankers on single columns, combined so that few pairs stand in the wrong order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from shortlist.kernels.stumps import best_stump
from shortlist.rankers.base import Ranker
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_losses import class_softmaxes
from shortlist.rankers.folds import take
from shortlist.rankers.limits import COUNT, Limit

Floats = NDArray[np.float64]
#: What columns add to the scores of so many values is held at a time.
VALUES_AT_ONCE = 1 << 24


class RankBoost(Ranker):
    """Minimises Σ e^(f(x0) - f(x1)) over all pairs of an unwanted row x0 and a wanted row x1 of its list.

    Each round adds α h with h(x) = 1 where one column lies above a threshold (or is one category), chosen for the
    largest ``|r|``, r = Σ_pairs D (h(x1) - h(x0)), and α = ½ ln((1 + r) / (1 - r)). With two classes D = v(x0) v(x1)
    factorises, so a round is linear in rows. Scores are sums of one step function per column, which
    :meth:`contributions` shows. α is smoothed by 1 / rows, so that a perfect column does not end the search; a
    zero that a sparse matrix leaves out counts as 0.

    Parameters
    ----------
    n_estimators : rounds
    max_bin : thresholds tried per column, at most 254

    Reference: Freund, Iyer, Schapire and Singer, An efficient boosting algorithm for combining preferences,
    JMLR 4, 2003, section 3.2 (RankBoost.B).

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    >>> ranker = RankBoost(n_estimators=5).fit(X, [0, 0, 1, 1])
    >>> ranker.decision_function(X).argsort()[::-1][:2].tolist()
    [3, 2]
    """

    _takes_missing = True
    _takes_sparse = True

    _limits: ClassVar = {"n_estimators": COUNT, "max_bin": Limit(2, 254, whole=True)}

    def __init__(self, *, n_estimators: int = 200, max_bin: int = 254) -> None:
        self.n_estimators = n_estimators
        self.max_bin = max_bin

    def _fit(self, batch: Batch) -> None:
        if batch.sample_weight is not None:
            batch = take(batch, batch.sample_weight > 0)
        X = batch.X.tocsc() if issparse(batch.X) else batch.X  # read column by column
        numbers = range(X.shape[1])
        self.edges_ = [_edges(_column(X, c), bool(batch.categorical[c]), self.max_bin) for c in numbers]
        bins = (_bins(_column(X, c), edges) for c, edges in enumerate(self.edges_))
        self.steps_ = self._boost(batch, _Columns(bins, few=issparse(batch.X)))

    def _boost(self, batch: Batch, columns: _Columns) -> list[Floats]:
        """The value of each bin of each column (bin 0: missing)."""
        n_bins = np.array([edges.size + 1 for edges in self.edges_])
        steps = [np.zeros(n + 1) for n in n_bins]
        pairs = _Pairs(batch)
        margin = np.zeros(batch.y.size)
        smooth = 1 / (batch.y.size if batch.sample_weight is None else batch.sample_weight.sum())
        for _ in range(self.n_estimators):
            column, cut, missing, r = columns.best_stump(pairs.pull(margin), n_bins, batch.categorical)
            if abs(r) < 1e-9:
                break
            says = np.zeros(steps[column].size)
            says[cut : cut + 1 if batch.categorical[column] else None] = 1
            says[0] = missing
            says *= 0.5 * np.log((1 + r + smooth) / (1 - r + smooth))
            steps[column] += says
            columns.add(column, says, margin)
        return steps

    def _score(self, X: Any) -> NDArray:
        step = max(1, VALUES_AT_ONCE // X.shape[1])
        parts = (self._contributions(X[start : start + step]) for start in range(0, X.shape[0], step))
        return np.concatenate([part.sum(axis=1) for part in parts])

    def contributions(self, X: Any) -> Floats:
        """How much each column adds to each row's score; rows sum to ``decision_function(X)``."""
        check_is_fitted(self)
        return self._contributions(self._check_features(X, reset=False))

    def _contributions(self, X: Any) -> Floats:
        X = X.toarray() if issparse(X) else X
        parts = [
            steps[_bins(_column(X, c), edges)]
            for c, (edges, steps) in enumerate(zip(self.edges_, self.steps_, strict=True))
        ]
        return np.stack(parts, axis=1)


class _Columns:
    """The bin of every row, column after column; with ``few``, of those rows only that are not in the usual bin.

    A sparse matrix has few of them, and a round then takes as long as it has entries.
    """

    def __init__(self, bins: Iterable[NDArray[np.uint8]], *, few: bool) -> None:
        kept, rows, usual = [], [], []
        for column in bins:
            usual.append(np.bincount(column).argmax())
            unusual = np.flatnonzero(column != usual[-1]).astype(np.int32) if few else np.empty(0, np.int32)
            rows.append(unusual)
            kept.append(column[unusual] if few else column)
        self.bins, self.rows, self.usual = np.concatenate(kept), np.concatenate(rows), np.array(usual)
        self.starts = np.cumsum([0, *(part.size for part in kept)])
        self.few = few

    def best_stump(
        self, pull: Floats, n_bins: NDArray[np.int64], categorical: NDArray[np.bool_]
    ) -> tuple[int, int, int, float]:
        """Column, first bin, what missing values get, and the pull of the best weak ranker."""
        return best_stump(self.bins, self.rows, self.starts, self.usual, pull, n_bins, categorical)

    def add(self, column: int, says: Floats, margin: Floats) -> None:
        """Add to each row's margin what is said of its bin."""
        part = slice(self.starts[column], self.starts[column + 1])
        if self.few:
            margin += says[self.usual[column]]
            margin[self.rows[part]] += says[self.bins[part]] - says[self.usual[column]]
        else:
            margin += says[self.bins[part]]


class _Pairs:
    """The weights D of all pairs, as one number per row: what each pulls on a weak ranker."""

    def __init__(self, batch: Batch) -> None:
        self.unwanted, self.wanted = class_softmaxes(batch)

    def pull(self, margin: Floats) -> Floats:
        """Σ over pairs of D, positive for wanted rows and negative for the others; each side adds up to 1."""
        log_pairs = self.unwanted.log_sum(margin) + self.wanted.log_sum(margin, -1.0)
        share = np.exp(log_pairs - log_pairs.max())
        share /= share.sum()
        pull = np.zeros(margin.size)
        self.unwanted.divide(margin, -share, out=pull)
        self.wanted.divide(margin, share, -1.0, out=pull)
        return pull


def _column(X: Any, c: int) -> NDArray:
    return X[:, [c]].toarray().ravel() if issparse(X) else X[:, c]


def _edges(x: NDArray, categorical: bool, max_bin: int) -> Floats:
    """Thresholds between bins: between all values where they are few, else at quantiles."""
    values: Floats = np.unique(x[~np.isnan(x)]).astype(np.float64)
    if categorical:
        return np.arange(min(int(values[-1]) if values.size else 0, max_bin - 1), dtype=np.float64) + 0.5
    if values.size > max_bin:
        values = np.unique(np.nanquantile(x, np.linspace(0, 1, max_bin), method="lower")).astype(np.float64)
    return (values[:-1] + np.diff(values) / 2).astype(np.float64)


def _bins(x: NDArray, edges: Floats) -> NDArray[np.uint8]:
    """1 + the number of edges below each value; 0 where it is missing."""
    return np.where(np.isnan(x), 0, 1 + np.searchsorted(edges, x)).astype(np.uint8)
