"""Losses that APBoost can follow: each is a callable from margins to (gradient, hessian).

P is the number (or weight) of wanted rows, y their label, p = 1 / (1 + e^-f) the chance that a margin stands for.

* :class:`Logistic`: g = p - y, h = p(1 - p).
* :class:`SigmoidAP`: s, the gradient of 1 - AP_sig scaled so that the wanted rows' parts add up to P; h = abs(s).
* :class:`Mix`: logistic plus c times s, the default.
* :class:`Exponential`: J = LSE_unwanted(f) - LSE_wanted(τf) / τ. Of 1 - AP_exp, as of its logarithm, it is a
  monotone function for τ = 1 (the paper's SGBAP); τ = -1 is RankBoost's loss.

With several lists, the AP part is that of each list and lists count alike, as in ``AveragePrecision``. Row weights
act like copies of a row. Gradients are float32 and their buffers are reused, so a round costs little beside its tree.

Where the rows of a table lie on several machines, its lists know how to add up over them (``Lists.sums``): there is one
implementation of each loss, and its sums are the same however rows are spread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.exceptions import InvalidInputError
from shortlist.kernels.ap_surrogates import (
    PullCurve,
    add_curve,
    add_logistic,
    binned_gradient,
    direct_gradient,
    pull_curve,
)
from shortlist.kernels.row_ranges import over_ranges
from shortlist.kernels.whole_sums import ROWS_AT_ONCE, STEPS, add_whole, spread, whole
from shortlist.lists import Lists
from shortlist.rankers.batch import Batch
from shortlist.rankers.boosting.ap_settings import LOSSES
from shortlist.rankers.boosting.trees.engine import Gradient

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
        self.sums = batch.lists.sums
        self.wanted = batch.y
        self.weight = row_weights(batch)
        self.positions = np.flatnonzero(batch.y)
        self.lists = batch.lists
        self.target, n_wanted, n_rows = self._masses()
        # One long list is taken as it stands: no row is moved and no position stored.
        self.whole = self.lists.is_one and n_wanted * n_rows > FEW_PAIRS
        # A short list that lies on several machines is followed whole by each: sharing the work would cost more.
        self.together = self.lists.is_one and not self.whole
        seen = everyone(batch) if self.together else batch
        self.seen_wanted, self.seen_weight = seen.y, row_weights(seen)
        long_lists, short_lists = ([], []) if self.whole else _by_length(seen)
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
            binned_gradient(margin, self.positions, self.weight, alpha, self.pull, self.threads, self.sums)
        else:
            self._follow_lists(margin, alpha)
        return self._scale(self.pull[self.positions])

    def curve(self, margin: NDArray[np.float32]) -> tuple[PullCurve, float]:
        """Of one long list: the raw gradient as a curve, and its scale."""
        alpha = self.steepness(margin)
        pull = pull_curve(margin, self.positions, self.weight, alpha, self.threads, self.sums)
        return pull, self._scale(pull.of_wanted)

    def _masses(self) -> tuple[float, float, float]:
        """The weight of the wanted rows, their number, and that of all rows."""
        n_wanted = self.positions.size
        mass = n_wanted if self.weight.size == 0 else whole(self.weight[self.positions], STEPS).sum()
        target, wanted, rows = self.sums.sum(np.array([mass, n_wanted, self.wanted.size], dtype=np.float64))
        return float(target), float(wanted), float(rows)

    def _scale(self, of_wanted: NDArray[np.float32]) -> float:
        size = float(self.sums.sum(whole(np.abs(of_wanted)).sum(keepdims=True))[0])
        return self.target / size if size > 0 else 0.0

    def steepness(self, margin: NDArray[np.float32]) -> float:
        """Alpha in units of the margins: the scale of boosted margins grows from round to round."""
        if not self.lists.is_one:
            number = self.lists.of_row
            margin = margin - (np.bincount(number, margin) / self.lists.sizes)[number].astype(np.float32)
        return float(np.clip(self.alpha / max(spread(margin, self.threads, self.sums), 1e-9), 0.5, 50.0))

    def _follow_lists(self, margin: NDArray[np.float32], alpha: float) -> None:
        self._follow_short(margin, alpha)
        for rows in self.long_lists:
            part = np.zeros(rows.size, dtype=np.float32)
            weight = self.weight[rows] if self.weight.size else self.weight
            binned_gradient(margin[rows], np.flatnonzero(self.wanted[rows]), weight, alpha, part)
            self.pull[rows] = part

    def _follow_short(self, margin: NDArray[np.float32], alpha: float) -> None:
        margin = self.lists.of_all_rows(margin) if self.together else margin
        pull = np.zeros(margin.size, dtype=np.float32)
        short = self.seen_wanted, self.seen_weight, self.short_rows, self.short_starts
        direct_gradient(margin, *short, alpha, pull)
        self.pull[:] = self.lists.own_rows(pull) if self.together else pull


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
        of_all = batch.lists.of_all
        self.share = both * (of_all(self.wanted.mass).sum() / max(of_all(both).sum(), 1))
        self.grad = np.empty(batch.y.size, dtype=np.float32)
        self.hess = np.empty_like(self.grad)

    def __call__(self, margin: NDArray[np.float32]) -> GradHess:
        """Gradient and hessian at these margins."""
        # In this order: with most rows unwanted, their softmax writes to all rows.
        self.unwanted.divide(margin, self.share, out=self.grad)
        self.wanted.divide(margin, -self.share, self.tau, out=self.grad)
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
    few = batch.lists.is_one and 2 * wanted.size < batch.y.size
    unwanted = MostRows(wanted, batch, threads) if few else Softmax(np.flatnonzero(~batch.y), batch)
    return unwanted, Softmax(wanted, batch)


class Softmax:
    """e^f as a share of its sum over some rows, list by list, with the maximum taken out of each sum.

    One maximum per class and list, not one for all rows: wanted rows that lie 200 below the others must not vanish.
    """

    def __init__(self, rows: Any, batch: Batch) -> None:
        self.single = batch.lists.is_one
        self.sums = batch.lists.sums
        self.rows = rows if self.single else batch.lists.order[np.isin(batch.lists.order, rows)]
        self.weight = None if batch.sample_weight is None else batch.sample_weight[self.rows]
        # Of one list, all rows have the number 0: one entry stands for them.
        self.number = np.zeros(1, dtype=np.int64) if self.single else batch.lists.of_row[self.rows]
        self.present, self.starts = np.unique(self.number, return_index=True)
        self.mass = self._masses(len(batch.lists))
        # The finest grid on which the sum is exact even if all rows share the top.
        self.steps = 2.0 ** (52 - np.ceil(np.log2(max(self.mass.sum(), 1.0))))

    def _masses(self, n_lists: int) -> NDArray:
        """The weight of the rows in each list."""
        if self.single:
            mass = np.size(self.rows) if self.weight is None else whole(self.weight, STEPS).sum()
            return self.sums.sum(np.array([mass], dtype=np.float64))
        return np.bincount(self.number, self.weight, minlength=n_lists)

    def divide(self, margin: NDArray, share: NDArray, tau: float = 1.0, *, out: NDArray) -> None:
        """``share`` of each list, divided among its rows in proportion to w·e^(τf), into their places in ``out``."""
        power, _, total = self._powers(margin, tau)
        scale = np.divide(share, total, out=np.zeros(share.size), where=total > 0).astype(power.dtype)
        self._write(power, scale, out)

    def _write(self, power: NDArray, scale: NDArray, out: NDArray) -> None:
        power *= scale[0] if self.single else scale[self.number]
        out[self.rows] = power

    def log_sum(self, margin: NDArray, tau: float = 1.0) -> NDArray:
        """Logarithm of Σ w·e^(τf), list by list; -inf where it has no such row."""
        _, top, total = self._powers(margin, tau)
        return np.log(total, out=np.full(total.size, -np.inf), where=total > 0) + top

    def _powers(self, margin: NDArray, tau: float) -> tuple[NDArray, NDArray, NDArray]:
        power = margin[self.rows]
        if tau != 1:
            power *= tau
        top = np.zeros(self.mass.size, dtype=power.dtype)
        top[self.present] = self._largest(power) if self.single else np.maximum.reduceat(power, self.starts)
        power -= top[0] if self.single else top[self.number]
        np.exp(power, out=power)
        if self.weight is not None:
            power *= self.weight
        total = np.zeros(self.mass.size)
        total[self.present] = self._total(power) if self.single else np.add.reduceat(power, self.starts)
        return power, top, total

    def _largest(self, power: NDArray) -> float:
        return float(self.sums.max(np.array([power.max(initial=-np.inf)], dtype=np.float64))[0])

    def _total(self, power: NDArray) -> float:
        return float(self.sums.sum(np.array([add_whole(power, self.steps)]))[0]) / self.steps


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
        mass = self.n_most if weight is None else whole(np.delete(weight, self.few), STEPS).sum()
        return self.sums.sum(np.array([mass], dtype=np.float64))

    def _powers(self, margin: NDArray, tau: float) -> tuple[NDArray, NDArray, NDArray]:
        if self.power.size != margin.size or self.power.dtype != margin.dtype:
            self.power = np.empty_like(margin)
        power = self.power

        def largest_of_part(first: int, last: int) -> float:
            part = np.multiply(margin[first:last], margin.dtype.type(tau), out=power[first:last])
            begin, end = np.searchsorted(self.few, [first, last])
            part[self.few[begin:end] - first] = -np.inf
            return float(part.max())

        top = margin.dtype.type(self._largest(np.array(self._over(largest_of_part))))

        def raise_part(first: int, last: int) -> float:
            part = power[first:last]
            part -= top
            np.exp(part, out=part)
            if self.weight is not None:
                part *= self.weight[first:last]
            return float(add_whole(part, self.steps))

        total = self.sums.sum(np.array([sum(self._over(raise_part))])) / self.steps
        return power, np.array([top]), total

    def _write(self, power: NDArray, scale: NDArray, out: NDArray) -> None:
        self._over(lambda first, last: np.multiply(power[first:last], scale[0], out=out[first:last]))

    def _over(self, work: Callable[[int, int], Any]) -> list[Any]:
        return over_ranges(work, 0, self.power.size, size=ROWS_AT_ONCE, threads=self.threads)


EXPONENTS = {"ap_exp": 1.0, "ap_exp_faithful": 1.0, "rankboost": -1.0}


def row_weights(batch: Batch) -> NDArray[np.float32]:
    """Weights as the kernels want them: empty where all rows count alike."""
    weight = batch.sample_weight
    return np.empty(0, np.float32) if weight is None else weight.astype(np.float32, copy=False)


def everyone(batch: Batch) -> Batch:
    """The outcomes and weights of all rows of one list, wherever they lie."""
    lists = batch.lists
    y = lists.of_all_rows(batch.y)
    weight = None if batch.sample_weight is None else lists.of_all_rows(batch.sample_weight)
    return Batch(np.empty((y.size, 0)), y, Lists.single(y.size), weight, np.empty(0, dtype=bool))


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
