"""Losses that APBoost can follow: each is a callable from margins to (gradient, hessian).

P is the number (or weight) of wanted rows, y their label, p = 1 / (1 + e^-f) the chance that a margin stands for.

* :class:`Logistic`: g = p - y, h = p(1 - p).
* :class:`SigmoidAP`: s, the gradient of 1 - AP_sig scaled so that the wanted rows' parts add up to P; h = abs(s).
* :class:`Mix`: logistic plus c times s, the default.
* :class:`Exponential`: J = LSE_unwanted(f) - LSE_wanted(τf) / τ. Of 1 - AP_exp, as of its logarithm, it is a
  monotone function for τ = 1 (the paper's SGBAP); τ = -1 is RankBoost's loss.

With several lists, the AP part is that of each list and lists count alike, as in ``AveragePrecision``. Row weights
act like copies of a row. Gradients are float32 and their buffers are reused, so a round costs little beside its tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.ap_surrogates import (
    ROWS_AT_ONCE,
    PullCurve,
    add_curve,
    add_logistic,
    binned_gradient,
    direct_gradient,
    pull_curve,
    spread,
)
from shortlist.kernels.row_ranges import over_ranges
from shortlist.rankers.base import Batch
from shortlist.rankers.boosting.engine import Gradient

#: Lists with fewer (wanted row, row) pairs than this take the direct sum.
FEW_PAIRS = 1 << 14
#: Keeps leaves finite where no row pulls.
HESSIAN_FLOOR = np.float32(1e-12)

GradHess = tuple[NDArray[np.float32], NDArray[np.float32]]


def make_loss(name: str, batch: Batch, *, alpha: float, mix: float, threads: int = 1) -> Gradient:
    """The loss of that name on these rows; its values do not depend on the number of threads."""
    if name == "mix":
        return Mix(batch, alpha=alpha, mix=mix, threads=threads)
    if name == "ap_sigmoid":
        return SigmoidAP(batch, alpha=alpha, threads=threads)
    if name == "logistic":
        return Logistic(batch, threads=threads)
    if name in EXPONENTS:
        return Exponential(batch, tau=EXPONENTS[name], threads=threads)
    raise InvalidInputError(f"loss must be one of {', '.join(map(repr, LOSSES))}; got {name!r}.")


class Logistic:
    """The logistic loss from margin 0."""

    def __init__(self, batch: Batch, *, threads: int = 1) -> None:
        self.wanted = batch.y
        self.weight = row_weights(batch)
        self.grad = np.empty(batch.y.size, dtype=np.float32)
        self.hess = np.empty_like(self.grad)
        self.pull = np.broadcast_to(np.float32(0), self.grad.shape)
        self.threads = threads

    def __call__(self, margin: NDArray[np.float32]) -> GradHess:
        """Gradient and hessian at these margins."""
        return self.drawn_by(self.pull, 0.0, margin)

    def drawn_by(self, pull: NDArray[np.float32], scale: float, margin: NDArray[np.float32]) -> GradHess:
        """The same, plus ``scale`` times another pull on each row."""

        def add(first: int, last: int) -> None:
            rows = slice(first, last)
            here = margin[rows], self.wanted[rows], self.weight[rows], pull[rows]
            add_logistic(*here, scale, self.grad[rows], self.hess[rows])

        over_ranges(add, 0, margin.size, size=ROWS_AT_ONCE, threads=self.threads)
        return self.grad, self.hess

    def drawn_along(
        self, pull: PullCurve, scale: float, positions: NDArray[np.int64], margin: NDArray[np.float32]
    ) -> GradHess:
        """The same, with the pull as a curve, and as it is at the positions of wanted rows."""

        def add(first: int, last: int) -> None:
            rows = slice(first, last)
            here = margin[rows], self.wanted[rows], self.weight[rows]
            add_curve(*here, pull.low, pull.per_unit, pull.curve, scale, self.grad[rows], self.hess[rows])

        over_ranges(add, 0, margin.size, size=ROWS_AT_ONCE, threads=self.threads)
        grad, hess = np.empty((2, positions.size), dtype=np.float32)
        weight = self.weight[positions] if self.weight.size else self.weight
        add_logistic(margin[positions], self.wanted[positions], weight, pull.of_wanted, scale, grad, hess)
        self.grad[positions], self.hess[positions] = grad, hess
        return self.grad, self.hess


class SigmoidAP:
    """The gradient of 1 - AP_sig, with a sigmoid as steep as alpha / std(margins within lists)."""

    def __init__(self, batch: Batch, *, alpha: float = 5.0, threads: int = 1) -> None:
        self.alpha = alpha
        self.threads = threads
        self.wanted = batch.y
        self.weight = row_weights(batch)
        self.positions = np.flatnonzero(batch.y)
        self.lists = batch.lists
        # One long list is taken as it stands: no row is moved and no position stored.
        self.whole = len(batch.lists) == 1 and self.positions.size * batch.y.size > FEW_PAIRS
        long_lists, short_lists = ([], []) if self.whole else _by_length(batch)
        self.long_lists = long_lists
        self.short_rows = np.concatenate([*short_lists, np.empty(0, np.int64)])
        self.short_starts = np.cumsum([0, *(rows.size for rows in short_lists)])
        self.pull = np.zeros(batch.y.size, dtype=np.float32)
        self.hess = np.empty_like(self.pull)

    def __call__(self, margin: NDArray[np.float32]) -> GradHess:
        """Gradient and hessian at these margins, in the scale of the logistic loss."""
        self.pull *= np.float32(self.follow(margin))
        np.abs(self.pull, out=self.hess)
        self.hess += HESSIAN_FLOOR
        return self.pull, self.hess

    def follow(self, margin: NDArray[np.float32]) -> float:
        """Put the raw gradient into ``pull``; its scale to P over the wanted rows is returned."""
        alpha = self.steepness(margin)
        if self.whole:
            binned_gradient(margin, self.positions, self.weight, alpha, self.pull, self.threads)
        else:
            self._follow_lists(margin, alpha)
        return self._scale(self.pull[self.positions])

    def curve(self, margin: NDArray[np.float32]) -> tuple[PullCurve, float]:
        """Of one long list: the raw gradient as a curve, and its scale."""
        pull = pull_curve(margin, self.positions, self.weight, self.steepness(margin), self.threads)
        return pull, self._scale(pull.of_wanted)

    def _scale(self, of_wanted: NDArray[np.float32]) -> float:
        size = float(np.abs(of_wanted).sum(dtype=np.float64))
        target = self.positions.size if self.weight.size == 0 else float(self.weight[self.positions].sum())
        return target / size if size > 0 else 0.0

    def steepness(self, margin: NDArray[np.float32]) -> float:
        """Alpha in units of the margins: the scale of boosted margins grows from round to round."""
        if len(self.lists) > 1:
            number = self.lists.of_row
            margin = margin - (np.bincount(number, margin) / self.lists.sizes)[number].astype(np.float32)
        return float(np.clip(self.alpha / max(spread(margin, self.threads), 1e-9), 0.5, 50.0))

    def _follow_lists(self, margin: NDArray[np.float32], alpha: float) -> None:
        self.pull[:] = 0
        direct_gradient(
            margin, self.wanted, self.weight, self.short_rows, self.short_starts, alpha, self.pull
        )
        for rows in self.long_lists:
            part = np.zeros(rows.size, dtype=np.float32)
            weight = self.weight[rows] if self.weight.size else self.weight
            binned_gradient(margin[rows], np.flatnonzero(self.wanted[rows]), weight, alpha, part)
            self.pull[rows] = part


class Mix:
    """g = (p - y) + c·s and h = p(1 - p) + c·abs(s): the logistic loss, drawn towards average precision."""

    def __init__(self, batch: Batch, *, alpha: float = 5.0, mix: float = 1.0, threads: int = 1) -> None:
        self.logistic = Logistic(batch, threads=threads)
        self.ap = SigmoidAP(batch, alpha=alpha, threads=threads)
        self.mix = mix

    def __call__(self, margin: NDArray[np.float32]) -> GradHess:
        """Gradient and hessian at these margins."""
        if self.ap.whole:
            curve, scale = self.ap.curve(margin)
            return self.logistic.drawn_along(curve, self.mix * scale, self.ap.positions, margin)
        scale = self.mix * self.ap.follow(margin)
        return self.logistic.drawn_by(self.ap.pull, scale, margin)


class Exponential:
    """J = LSE_unwanted(f) - LSE_wanted(τf) / τ of each list, normalised to P; h = abs(g) bounds each leaf."""

    def __init__(self, batch: Batch, *, tau: float = 1.0, threads: int = 1) -> None:
        self.tau = tau
        self.threads = threads
        self.unwanted, self.wanted = class_softmaxes(batch, threads)
        both = (self.unwanted.mass > 0) & (self.wanted.mass > 0)
        self.share = both * (self.wanted.mass.sum() / max(both.sum(), 1))
        self.grad = np.empty(batch.y.size, dtype=np.float32)
        self.hess = np.empty_like(self.grad)

    def __call__(self, margin: NDArray[np.float32]) -> GradHess:
        """Gradient and hessian at these margins."""
        # In this order: with most rows unwanted, their softmax writes to all rows.
        self.grad[self.unwanted.rows] = self.unwanted(margin, self.share)
        self.grad[self.wanted.rows] = self.wanted(margin, -self.share, self.tau)
        over_ranges(self._curve, 0, margin.size, size=ROWS_AT_ONCE, threads=self.threads)
        return self.grad, self.hess

    def _curve(self, first: int, last: int) -> None:
        np.abs(self.grad[first:last], out=self.hess[first:last])
        self.hess[first:last] += HESSIAN_FLOOR

    def value(self, margin: NDArray[np.float32]) -> float:
        """The mean of J over the lists; 1 - AP_exp of a list is 1 / (1 + e^-J)."""
        per_list = self.unwanted.log_sum(margin) - self.wanted.log_sum(margin, self.tau) / self.tau
        return float(np.mean(per_list[self.share > 0])) if self.share.any() else 0.0


def class_softmaxes(batch: Batch, threads: int = 1) -> tuple[Softmax, Softmax]:
    """Those of the unwanted and of the wanted rows."""
    wanted = np.flatnonzero(batch.y)
    few = len(batch.lists) == 1 and 2 * wanted.size < batch.y.size
    unwanted = MostRows(wanted, batch, threads) if few else Softmax(np.flatnonzero(~batch.y), batch)
    return unwanted, Softmax(wanted, batch)


class Softmax:
    """e^f as a share of its sum over some rows, list by list, with the maximum taken out of each sum.

    One maximum per class and list, not one for all rows: wanted rows that lie 200 below the others must not vanish.
    """

    def __init__(self, rows: Any, batch: Batch) -> None:
        self.single = len(batch.lists) == 1
        self.rows = rows if self.single else batch.lists.order[np.isin(batch.lists.order, rows)]
        self.weight = None if batch.sample_weight is None else batch.sample_weight[self.rows]
        # Of one list, all rows have the number 0: one entry stands for them.
        self.number = np.zeros(1, dtype=np.int64) if self.single else batch.lists.of_row[self.rows]
        self.present, self.starts = np.unique(self.number, return_index=True)
        self.mass = self._masses(len(batch.lists))

    def _masses(self, n_lists: int) -> NDArray:
        """The weight of the rows in each list."""
        if self.single:
            mass = np.size(self.rows) if self.weight is None else self.weight.sum()
            return np.array([mass], dtype=np.float64)
        return np.bincount(self.number, self.weight, minlength=n_lists)

    def __call__(self, margin: NDArray, share: NDArray, tau: float = 1.0) -> NDArray:
        """``share`` of each list, divided among its rows in proportion to w·e^(τf)."""
        power, _, total = self._powers(margin, tau)
        scale = np.divide(share, total, out=np.zeros(share.size), where=total > 0).astype(power.dtype)
        power *= scale[0] if self.single else scale[self.number]
        return power

    def log_sum(self, margin: NDArray, tau: float = 1.0) -> NDArray:
        """Logarithm of Σ w·e^(τf), list by list; -inf where it has no such row."""
        _, top, total = self._powers(margin, tau)
        return np.log(total, out=np.full(total.size, -np.inf), where=total > 0) + top

    def _powers(self, margin: NDArray, tau: float) -> tuple[NDArray, NDArray, NDArray]:
        power = margin[self.rows]
        if tau != 1:
            power *= tau
        top = np.zeros(self.mass.size, dtype=power.dtype)
        top[self.present] = power.max() if self.single else np.maximum.reduceat(power, self.starts)
        power -= top[0] if self.single else top[self.number]
        np.exp(power, out=power)
        if self.weight is not None:
            power *= self.weight
        total = np.zeros(self.mass.size)
        total[self.present] = power.sum() if self.single else np.add.reduceat(power, self.starts)
        return power, top, total


class MostRows(Softmax):
    """The softmax of all rows of one list but a few, taken as they lie: rows are neither gathered nor scattered.

    The few get no share.
    """

    def __init__(self, few: NDArray[np.int64], batch: Batch, threads: int) -> None:
        self.few = few
        self.n_most = batch.y.size - few.size
        self.threads = threads
        self.power = np.empty(0)
        super().__init__(slice(None), batch)

    def _masses(self, n_lists: int) -> NDArray:
        weight = self.weight
        mass = self.n_most if weight is None else weight.sum() - weight[self.few].sum()
        return np.array([mass], dtype=np.float64)

    def _powers(self, margin: NDArray, tau: float) -> tuple[NDArray, NDArray, NDArray]:
        if self.power.size != margin.size or self.power.dtype != margin.dtype:
            self.power = np.empty_like(margin)
        power = self.power
        np.multiply(margin, margin.dtype.type(tau), out=power)
        power[self.few] = -np.inf
        top = max(self._over(lambda first, last: power[first:last].max()))

        def raise_part(first: int, last: int) -> float:
            part = power[first:last]
            part -= top
            np.exp(part, out=part)
            if self.weight is not None:
                part *= self.weight[first:last]
            return float(part.sum())

        return power, np.array([top]), np.array([sum(self._over(raise_part))])

    def _over(self, work: Callable[[int, int], Any]) -> list[Any]:
        return over_ranges(work, 0, self.power.size, size=ROWS_AT_ONCE, threads=self.threads)


EXPONENTS = {"ap_exp": 1.0, "ap_exp_faithful": 1.0, "rankboost": -1.0}
LOSSES = ("mix", "logistic", "ap_sigmoid", *EXPONENTS)


def row_weights(batch: Batch) -> NDArray[np.float32]:
    """Weights as the kernels want them: empty where all rows count alike."""
    return np.empty(0, np.float32) if batch.sample_weight is None else batch.sample_weight.astype(np.float32)


def _by_length(batch: Batch) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Rows of the long and of the short lists, of those that have a wanted and an unwanted row."""
    long_lists: list[NDArray[np.int64]] = []
    short_lists: list[NDArray[np.int64]] = []
    for rows in batch.lists:
        counted = rows if batch.sample_weight is None else rows[batch.sample_weight[rows] > 0]
        n_wanted = int(np.count_nonzero(batch.y[counted]))
        if 0 < n_wanted < counted.size:
            (long_lists if n_wanted * rows.size > FEW_PAIRS else short_lists).append(rows)
    return long_lists, short_lists
